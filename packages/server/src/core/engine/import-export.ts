/** Imports sessions from JSON lines. Validates every line and folds the state from the events. */
import {
  type AgentRef,
  type DurableEvent,
  type DurableEventBody,
  eventVersion,
  Fault,
  isObject,
  jsonNestsDeeper,
  parseDurableEvent,
  parseHeader,
  SESSION_FORMAT,
  SESSION_FORMAT_VERSION,
  type SessionHeader,
  type TurnId,
  upcast,
} from '@parlance/protocol';
import { z } from 'zod';
import { type EventStore, type SessionRecord, type SessionRef, sessionKey } from '../ports/event-store.ts';
import { checkpointOf, recordOf } from '../session/checkpoint.ts';
import { evolve } from '../session/evolve.ts';
import { initialState, isIdle, mustInform, type SessionState } from '../session/session-state.ts';
import { interruption } from '../session/turn-events.ts';
import { storedEvents } from './event-pages.ts';

export type ReadSession = {
  readonly ref: SessionRef;
  readonly events: readonly DurableEvent[];
  /** number of its events in the file; the others close it */
  readonly inFile: number;
  readonly record: SessionRecord;
  /** line number of its header */
  readonly line: number;
};

/** Deeper than any stored value. Much deeper values could be written but not read back. */
const MAX_DEPTH = 1_000;
/** The largest value of a `Date`. */
const LAST_MOMENT = 8.64e15;
/** The author of events that close an imported session. */
const IMPORT = 'import';
/** Placeholder until `session.created` names one. */
const NO_AGENT: AgentRef = { id: '', name: '' };

/**
 * Yields each session after its last line. `renamed` maps its name to the name to import it as. A file may come from
 * anyone, so a session does nothing by itself after the import, and nothing in it was allowed here: see `closing`.
 * `resume` keeps all of that, for files of one's own. Throws `invalid` with the line number.
 */
export async function* readSessions(
  lines: AsyncIterable<string>,
  renamed: (ref: SessionRef) => SessionRef,
  { resume }: { readonly resume: boolean } = { resume: false },
): AsyncGenerator<ReadSession, void> {
  let number = 0;
  let header: SessionHeader | null = null;
  let begun = 0;
  let durableEvents: DurableEvent[] = [];
  const missing = ({ session, events }: SessionHeader) =>
    `session ${session.id} has ${durableEvents.length} events, but its header states ${events}`;

  for await (const text of lines) {
    number++;
    const value = parsed(text, number);
    if (isObject(value) && 'format' in value) {
      if (header) throw wrong(number, missing(header));
      header = headerOf(value, number);
      begun = number;
      continue;
    }
    if (!header) throw wrong(number, 'expected a session header');
    durableEvents.push(eventOf(value, header, { seq: durableEvents.length + 1, line: number }));
    if (durableEvents.length < header.events) continue;
    const ref = renamed(header.session);
    yield { ref, line: begun, ...folded(ref, durableEvents, resume) };
    header = null;
    durableEvents = [];
  }
  if (header) throw wrong(number, missing(header));
}

const wrong = (line: number, reason: string, cause?: unknown): Fault =>
  new Fault('invalid', `line ${line}: ${reason}`, { cause });

function parsed(text: string, line: number): unknown {
  // Checked before parsing, since parsers and schemas are recursive.
  if (jsonNestsDeeper(text, MAX_DEPTH)) throw wrong(line, `the line is nested deeper than ${MAX_DEPTH}`);
  try {
    return JSON.parse(text);
  } catch (error) {
    throw wrong(line, 'invalid JSON', error);
  }
}

function headerOf(value: Readonly<Record<string, unknown>>, line: number): SessionHeader {
  try {
    return parseHeader(value);
  } catch (error) {
    throw wrong(line, `invalid header: ${issueOf(error)}`, error);
  }
}

function eventOf(
  value: unknown,
  header: SessionHeader,
  { seq, line }: { readonly seq: number; readonly line: number },
): DurableEvent {
  const { session, eventVersion } = header;
  let event: DurableEvent;
  try {
    event = parseDurableEvent(upcast(value, eventVersion));
  } catch (error) {
    throw wrong(line, `invalid event: ${issueOf(error)}`, error);
  }
  if (event.seq !== seq) throw wrong(line, `expected event ${seq}, got event ${event.seq}`);
  if (event.session !== session.id)
    throw wrong(line, `the event belongs to session ${event.session}, but the header states ${session.id}`);
  if (seq === 1 && event.type !== 'session.created')
    throw wrong(line, `the first event must be session.created, not ${event.type}`);
  if (!Number.isInteger(event.at) || Math.abs(event.at) > LAST_MOMENT)
    throw wrong(line, 'invalid event: at: not a valid time');
  return event;
}

function issueOf(error: unknown): string {
  if (!(error instanceof z.ZodError)) return error instanceof Error ? error.message : String(error);
  const issue = error.issues[0];
  return `${issue?.path.join('.') || 'it'}: ${issue?.message}`;
}

function folded(
  ref: SessionRef,
  read: readonly DurableEvent[],
  resume: boolean,
): Pick<ReadSession, 'events' | 'inFile' | 'record'> {
  const events: DurableEvent[] = [];
  let state = initialState(NO_AGENT);
  let idleState: SessionState | null = null;
  const add = (event: DurableEvent) => {
    events.push(event);
    state = evolve(state, event);
    if (isIdle(state)) idleState = state;
  };
  for (const event of read)
    add({ ...event, session: ref.id, ...(!resume && isContent(event) && { untrusted: true }) });
  const { id = '', at = 0 } = events.at(-1) ?? {};
  // The same ids and times each time, so that importing the file again finds the same session.
  // Parsed: compared with what is stored.
  const close = (body: DurableEventBody): void => {
    const number = events.length - read.length + 1;
    add(
      parseDurableEvent({
        ...body,
        session: ref.id,
        seq: read.length + number,
        id: `${id}-import-${number}`,
        at,
      }),
    );
  };
  if (!resume) {
    closing(state).forEach(close);
    separating(state).forEach(close);
  }
  return { events, inFile: read.length, record: recordOf(ref, state, idleState && checkpointOf(idleState)) };
}

/** What others may have written, and the model reads. */
const isContent = ({ type }: DurableEvent): boolean =>
  type === 'input.accepted' || type === 'history.imported' || type === 'tool.ended';

/** Ends what would continue by itself, and what runs without approval later: the open turn, queued inputs, grants, the mode. */
const closing = ({ turn, queue, grants, approvalMode, rewinding }: SessionState): DurableEventBody[] => [
  ...queue.map(
    ({ input, turn = input as string as TurnId }) =>
      ({ type: 'input.cancelled', input, turn, by: IMPORT }) as const,
  ),
  ...(turn ? interruption(turn, 'cancelled', null) : []),
  // A rewind that was interrupted must not restore files here.
  ...(rewinding
    ? [
        {
          type: 'files.rewound' as const,
          rewind: rewinding.rewind,
          undoes: rewinding.undoes,
          by: IMPORT,
          restored: [],
          kept: [],
          failed: 'The session was imported.',
        },
      ]
    : []),
  ...grants.map((grant) => ({ type: 'grant.revoked', grant, by: IMPORT }) as const),
  // `suggest` may be stricter than the server's default.
  ...(approvalMode === null || approvalMode === 'suggest'
    ? []
    : [{ type: 'session.configured', approval: null, by: IMPORT } as const]),
];

/** What a file calls sub-agents or the parent may be other sessions of the same owner, which must not be stopped or told anything. */
const separating = (state: SessionState): DurableEventBody[] => [
  ...(state.children ?? [])
    .filter((child) => child.state === 'working' || child.state === 'stopping')
    .map((child) => ({ type: 'child.stopped', child: child.session }) as const),
  ...(mustInform(state)
    ? [
        {
          type: 'parent.informed' as const,
          turns: (state.outcomes ?? []).map(({ turn }) => turn),
          waits: null,
        },
      ]
    : []),
];

/** Whether the session has been imported before. Throws `invalid` if a different session has that name. */
export async function alreadyImported(
  store: EventStore,
  { ref, events, inFile, line }: ReadSession,
): Promise<boolean> {
  const record = await store.load(ref);
  if (!record) return false;
  const other = wrong(line, `${ref.owner} already has a different session ${ref.id}`);
  if (record.head !== events.length && record.head !== inFile) throw other;
  let index = 0;
  for await (const event of storedEvents(store, ref, 0)) {
    if (comparable(event) !== comparable(events[index++])) throw other;
  }
  return true;
}

/** Without the mark of untrusted content, which earlier versions did not add. */
const comparable = (event: DurableEvent | undefined): string =>
  JSON.stringify(event && { ...event, untrusted: undefined });

/**
 * Reads everything and writes nothing, so that errors are found before anything changes. Throws `invalid`
 * with the line number.
 */
export async function checkSessions(
  store: EventStore,
  sessions: AsyncIterable<ReadSession>,
): Promise<number> {
  const seen = new Set<string>();
  for await (const session of sessions) {
    const key = sessionKey(session.ref);
    if (seen.has(key))
      throw wrong(session.line, `session ${session.ref.id} of ${session.ref.owner} occurs twice`);
    seen.add(key);
    await alreadyImported(store, session);
  }
  return seen.size;
}

/** Atomic. False if the same session already exists. */
export async function writeSession(store: EventStore, session: ReadSession): Promise<boolean> {
  if (await alreadyImported(store, session)) return false;
  await store.append(0, session.events, session.record);
  return true;
}

// Exports a session as JSON lines, page by page. Leaves out events appended during the export.

const PAGE = 200;

const line = (value: SessionHeader | DurableEvent): string => `${JSON.stringify(value)}\n`;

/**
 * Throws if the session has fewer events than its record states, so that a partial export is not mistaken for
 * a complete one.
 */
export async function* exportedLines(
  { ref, head }: Pick<SessionRecord, 'ref' | 'head'>,
  read: (after: number, limit: number) => Promise<readonly DurableEvent[]>,
): AsyncGenerator<string, void> {
  let before = line({
    format: SESSION_FORMAT,
    version: SESSION_FORMAT_VERSION,
    session: ref,
    eventVersion: eventVersion(),
    events: head,
  });
  for (let after = 0; after < head; ) {
    const page = await read(after, Math.min(PAGE, head - after));
    const last = page.at(-1);
    if (!last) throw new Fault('not_found', 'The session was deleted during the export.');
    yield before + page.map(line).join('');
    before = '';
    after = last.seq;
  }
}
