/** Messages of the user have the ids of their page. Those from other dialects have the id of their input. */
import type { DurableEvent, Json, JsonObject } from '@parlance/protocol';

export type StoredInput = DurableEvent<'input.accepted' | 'history.imported'>;

/** The data stored with an input: edited and regenerated messages keep their id. */
export const inputData = (id: string, metadata: Json | undefined): JsonObject =>
  metadata === undefined ? { id } : { id, metadata };

/** Null if the event has no message of the user. */
export function messageId(event: StoredInput): string | null {
  if (event.type === 'history.imported') return event.input ? (importedKey(event) ?? event.input) : null;
  const { dialect, data, input } = event;
  return dialect === 'aisdk' && typeof data?.id === 'string' ? data.id : input;
}

function importedKey({ dialect, items: [first] }: DurableEvent<'history.imported'>): string | undefined {
  return dialect === 'aisdk' && first?.type === 'user' ? first.key : undefined;
}

export const metadataOf = ({ dialect, data }: DurableEvent<'input.accepted'>): Json | undefined =>
  dialect === 'aisdk' ? data?.metadata : undefined;
