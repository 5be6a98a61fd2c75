/** Finds events of a session, reading backwards: a page usually asks about recent ones. */
import type { DurableEvent, InputId, Json, JsonObject, Principal, TurnId } from '@parlance/protocol';
import { type Engine, type SessionRef, type SessionSnapshot, sessionKey } from '../../core/index.ts';

const PAGE = 200;

/** A session up to event number `head`. */
export type LogEnd = { readonly ref: SessionRef; readonly head: number };

async function lastEvent<Wanted extends DurableEvent>(
  engine: Pick<Engine, 'eventsBackwards'>,
  { ref, head }: LogEnd,
  isWanted: (event: DurableEvent) => event is Wanted,
): Promise<Wanted | null> {
  for await (const events of engine.eventsBackwards(ref, head, PAGE)) {
    const found = events.findLast(isWanted);
    if (found) return found;
  }
  return null;
}

/** The latest input of this message: an edited or regenerated message has several. */
export const inputOf = (engine: Engine, log: LogEnd, id: string): Promise<StoredInput | null> =>
  lastEvent(
    engine,
    log,
    (event): event is StoredInput =>
      (event.type === 'input.accepted' || event.type === 'history.imported') && messageId(event) === id,
  );

export type AcceptedInput = DurableEvent<'input.accepted'>;

const accepted = (engine: Engine, log: LogEnd, input: InputId): Promise<AcceptedInput | null> =>
  lastEvent(
    engine,
    log,
    (event): event is AcceptedInput => event.type === 'input.accepted' && event.input === input,
  );

/** The last accepted input; null if there is none. */
export const latestInput = (engine: Engine, log: LogEnd): Promise<AcceptedInput | null> =>
  lastEvent(engine, log, (event): event is AcceptedInput => event.type === 'input.accepted');

/** The input of the running turn; null if there is none. */
export async function runningInput(
  engine: Engine,
  { ref, began }: Pick<SessionSnapshot, 'ref' | 'began'>,
): Promise<AcceptedInput | null> {
  if (began === null) return null;
  const [started] = await engine.events(ref, began - 1, 1);
  return started?.type === 'turn.started' ? accepted(engine, { ref, head: began }, started.input) : null;
}

/** The input of a running or ended turn. Null if the session has no such turn. */
export async function turnInput(
  engine: Engine,
  log: LogEnd,
  { turn, principal }: { readonly turn: TurnId; readonly principal: Principal },
): Promise<AcceptedInput | null> {
  const holder = await engine.lookup(principal, { kind: 'turn', id: turn });
  if (!holder || sessionKey(holder) !== sessionKey(log.ref)) return null;
  const started = await lastEvent(
    engine,
    log,
    (event): event is DurableEvent<'turn.started'> => event.type === 'turn.started' && event.turn === turn,
  );
  return started && accepted(engine, { ref: log.ref, head: started.seq }, started.input);
}

// Messages of the user have the ids of their page. Those from other dialects have the id of their input.

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
