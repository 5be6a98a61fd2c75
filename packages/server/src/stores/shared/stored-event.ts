/** The stored form of an event: JSON and the schema version it was written in. */
import { type DurableEvent, type EventUpcast, Fault, parseDurableEvent, upcast } from '@parlance/protocol';
import { type SessionRef, sessionKey } from '../../core/ports/event-store.ts';

export type StoredRow = { readonly seq: number; readonly version: number; readonly body: string };

export type EventOptions = {
  /** upcasters for older versions; they determine the current version */
  readonly upcasts?: readonly EventUpcast[];
};

/** Throws if a stored event is damaged or of a newer version: it must not be skipped. */
export function readStored(
  ref: SessionRef,
  { seq, version, body }: StoredRow,
  { upcasts }: EventOptions,
): DurableEvent {
  try {
    return parseDurableEvent(upcast(JSON.parse(body), version, upcasts));
  } catch (error) {
    if (error instanceof Fault) throw error;
    const cause = new Error(`event ${seq} of session ${sessionKey(ref)} is damaged`, { cause: error });
    throw new Fault('storage_unavailable', `Event ${seq} of the session is damaged.`, { cause });
  }
}
