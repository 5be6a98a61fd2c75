/** Writes groups of appends: the statement, its parameters and results, and the case that its response is lost. */
import { type DurableEvent, writtenVersion } from '@parlance/protocol';
import {
  AppendConflict,
  type LookupKey,
  type SessionRecord,
  type SessionRef,
  sessionKey,
} from '../../core/ports/event-store.ts';
import { type AppendAs, type Driver, LeaseLost } from '../../core/ports/lease.ts';
import { RECORD_COLUMNS, recordValues } from '../shared/sessions.ts';
import { checkNumbering, type EventOptions, lookupKeysOf } from '../shared/stored-event.ts';
import { storable, storableRef } from '../shared/text.ts';
import { ADD_USAGE, MOST_USAGE, USAGE_COUNTS, USAGE_LABELS, usageRows } from '../shared/usage.ts';
import { type Database, inTime, type Row, type Statements } from './database.ts';
import { isRefusal, isTransient, isUnknown } from './errors.ts';
import { bucketOf } from './sessions.ts';

export const COMMAND: AppendAs = { by: 'command', take: 'never' };

/** A pending append, serialized when it was requested. */
export type Append = {
  readonly ref: SessionRef;
  /** identifies the session */
  readonly key: string;
  readonly expected: number;
  /** JSON of the events, in order */
  readonly bodies: readonly string[];
  /** schema version of each event */
  readonly versions: readonly number[];
  readonly lookups: readonly LookupKey[];
  /** id of the last event */
  readonly lastId: string | undefined;
  readonly record: SessionRecord;
  readonly as: AppendAs;
  readonly characters: number;
};

/** Throws if it can never be written. */
export function makeAppend(
  given: Pick<Append, 'expected' | 'record' | 'as'>,
  events: readonly DurableEvent[],
  { upcasts }: EventOptions,
): Append {
  const { expected, record } = given;
  checkNumbering(expected, events, record);
  const bodies = events.map((event) => JSON.stringify(event));
  const ref = storableRef(record.ref);
  return {
    ...given,
    ref,
    key: sessionKey(ref),
    bodies,
    versions: events.map((event) => writtenVersion(event, upcasts)),
    lookups: lookupKeysOf(events),
    lastId: events.at(-1)?.id,
    characters: bodies.reduce((sum, body) => sum + body.length, 0),
  };
}

/** The appending node. */
export type Appender = {
  readonly node: string;
  readonly home: string | null;
  /** whether it may currently drive sessions */
  readonly able: boolean;
  /** whether it may declare other nodes dead */
  readonly mayTakeOver: boolean;
  /** checkpoints that are already stored, with their session */
  readonly checkpoints: WeakMap<object, string>;
};

/** The result of one append. */
export type Appended =
  | { readonly written: true; readonly row: number; readonly driver: Driver | null }
  | { readonly written: false; readonly reason: Error };

/**
 * Runs one statement in one transaction, with at most one append per session. Returns results in the order of
 * `appends`.
 */
export async function appendAll(
  statements: Statements,
  appends: readonly Append[],
  appender: Appender,
): Promise<Appended[]> {
  const rows = await statements.query(APPEND, valuesOf(appends, appender));
  const byNumber = new Map(rows.map((row) => [Number(row.n), row]));
  return appends.map((append, index) => {
    const answer = appendedOf(append, byNumber.get(index) ?? {});
    const { checkpoint } = append.record;
    if (answer.written && checkpoint) appender.checkpoints.set(checkpoint, append.key);
    return answer;
  });
}

function appendedOf({ record, expected, as }: Append, row: Row): Appended {
  if (row.row !== null && row.row !== undefined)
    return { written: true, row: Number(row.row), driver: driverOf(row) };
  const head = Number(row.held_head ?? 0);
  if (as.by === 'driver' && head === expected && !row.is_other)
    return { written: false, reason: new LeaseLost(record.ref, as.epoch) };
  // another node has just created the session
  const actual = head === 0 && expected === 0 ? 1 : head;
  return { written: false, reason: new AppendConflict(record.ref, expected, actual) };
}

export const driverOf = ({ driver, epoch }: Row): Driver | null =>
  typeof driver === 'string' ? { node: driver, epoch: Number(epoch) } : null;

function valuesOf(
  appends: readonly Append[],
  { node, home, able, mayTakeOver, checkpoints }: Appender,
): unknown[] {
  const events = appends.flatMap(({ bodies, versions, expected }, n) =>
    bodies.map((body, index) => ({ n, seq: expected + 1 + index, version: versions[index] ?? 1, body })),
  );
  const lookups = appends.flatMap((append, n) => append.lookups.map(({ kind, id }) => ({ n, kind, id })));
  return [
    JSON.stringify(sorted(appends.map((append, n) => writeOf(append, n, checkpoints)))),
    events.map(({ n }) => n),
    events.map(({ seq }) => seq),
    events.map(({ version }) => version),
    events.map(({ body }) => body),
    lookups.map(({ n }) => n),
    lookups.map(({ kind }) => kind),
    lookups.map(({ id }) => id),
    node,
    home,
    able,
    mayTakeOver,
    JSON.stringify(
      appends.flatMap(({ record }, n) => usageRows(record.usage ?? []).map((row) => ({ n, ...row }))),
    ),
  ];
}

/** All nodes lock rows in this order. */
const sorted = <Write extends Pick<ReturnType<typeof writeOf>, 'owner' | 'id'>>(writes: Write[]): Write[] =>
  writes.sort((one, other) => compared(one.owner, other.owner) || compared(one.id, other.id));

const compared = (one: string, other: string): number => (one < other ? -1 : one > other ? 1 : 0);

/** Number and id of an event. Nodes of an earlier release do not write it, so it may be that of an earlier event. */
const lastEvent = (seq: number, id: string | undefined): string | null =>
  id === undefined ? null : `${seq}:${id}`;

function writeOf(append: Append, n: number, checkpoints: Appender['checkpoints']) {
  const { ref, key, expected, record, as, lastId } = append;
  const { checkpoint } = record;
  const isStored = checkpoint !== null && expected > 0 && checkpoints.get(checkpoint) === key;
  return {
    n,
    bucket: bucketOf(ref.owner),
    owner: ref.owner,
    id: ref.id,
    expected,
    epoch: as.by === 'driver' ? as.epoch : null,
    take: as.by === 'command' ? as.take : 'never',
    before: lastEvent(expected, as.last),
    last_event: lastEvent(record.head, lastId),
    ...recordValues(record),
    checkpoint_action: isStored ? 'keep' : checkpoint ? 'put' : 'remove',
    checkpoint_version: checkpoint?.version,
    checkpoint_seq: checkpoint?.seq,
    checkpoint_state: checkpoint && !isStored ? storable(checkpoint.state) : null,
  };
}

/**
 * The statement that writes a group of appends. It is one transaction, with one round trip and one flush for
 * all: expected number, fencing epoch, lease, events and record of each session. A refused append has no
 * `row` in the result and does not affect the others.
 *
 * Rows are locked in the order of the writes, which are sorted, and new sessions are inserted in order after
 * that, so that groups of several nodes cannot deadlock. LATERAL and ANY keep the planner, which does not
 * know how few writes there are, from reading all sessions.
 */

/**
 * Parameters: $1 writes as JSON, $2–$5 events, $6–$8 lookup keys, $9 node, $10 home, $11 able, $12 may take the lease,
 * $13 usage as JSON.
 */
export const APPEND = `
WITH write AS MATERIALIZED (
  SELECT * FROM jsonb_to_recordset($1::text::jsonb) AS write (
    n INT, bucket SMALLINT, owner TEXT, id TEXT, expected BIGINT, epoch BIGINT, take TEXT, before TEXT, last_event TEXT,
    dialect TEXT, domain TEXT, agent TEXT, title TEXT, renamed BOOLEAN, first_input TEXT, status TEXT, approval TEXT,
    archived BOOLEAN, ephemeral BOOLEAN, parent TEXT, pinned BOOLEAN, tags JSONB, labels JSONB, message_count BIGINT, last_model TEXT, created_at BIGINT, updated_at BIGINT, head BIGINT,
    checkpoint_action TEXT, checkpoint_version INT, checkpoint_seq BIGINT, checkpoint_state TEXT)
), held AS MATERIALIZED (
  SELECT write.n, session.row, session.head, session.epoch, session.driver, session.created_at,
    write.before <> session.last_event AND split_part(session.last_event, ':', 1) = session.head::text AS is_other,
    $11::boolean AND (session.home IS NULL OR session.home = $10::text) AS able,
    write.status = 'running' AND session.driver IS DISTINCT FROM $9::text AND (
      write.take = 'always' OR write.take = 'if-free' AND (
        session.driver IS NULL OR $12::boolean
          AND NOT EXISTS (SELECT 1 FROM nodes WHERE nodes.id = session.driver AND nodes.until > now())
      )
    ) AS takes
  FROM write CROSS JOIN LATERAL (
    SELECT row, head, epoch, driver, created_at, home, last_event FROM sessions
    WHERE sessions.bucket = write.bucket AND sessions.owner = write.owner AND sessions.id = write.id
    FOR UPDATE
  ) AS session
), updated AS (
  UPDATE sessions SET last_event = write.last_event,
    ${RECORD_COLUMNS.map((column) => `${column} = write.${column}`).join(', ')},
    epoch = CASE WHEN held.takes AND (held.able OR write.take = 'always') THEN nextval('epochs') ELSE sessions.epoch END,
    driver = CASE
      WHEN write.status <> 'running' THEN NULL
      WHEN held.takes AND held.able THEN $9
      WHEN held.takes AND write.take = 'always' THEN NULL
      ELSE sessions.driver
    END
  FROM write JOIN held ON held.n = write.n
  WHERE sessions.row = held.row AND held.head = write.expected AND held.created_at = write.created_at
    AND held.is_other IS NOT TRUE
    AND (write.epoch IS NULL OR held.epoch = write.epoch AND held.driver = $9)
  RETURNING write.n, write.bucket, sessions.row, sessions.epoch, sessions.driver
), inserted AS (
  INSERT INTO sessions (bucket, owner, id, home, last_event, epoch, driver, ${RECORD_COLUMNS.join(', ')})
  SELECT bucket, owner, id, $10, last_event,
    CASE WHEN $11 AND status = 'running' AND take <> 'never' THEN nextval('epochs') ELSE 0 END,
    CASE WHEN $11 AND status = 'running' AND take <> 'never' THEN $9 END,
    ${RECORD_COLUMNS.join(', ')}
  FROM write
  WHERE expected = 0 AND epoch IS NULL AND NOT EXISTS (SELECT 1 FROM held WHERE held.n = write.n)
  ORDER BY bucket, owner, id
  ON CONFLICT (bucket, owner, id) DO NOTHING
  RETURNING bucket, owner, id, row, epoch, driver
), written AS MATERIALIZED (
  SELECT n, bucket, row, epoch, driver FROM updated
  UNION ALL
  SELECT write.n, inserted.bucket, inserted.row, inserted.epoch, inserted.driver FROM inserted JOIN write
    ON write.bucket = inserted.bucket AND write.owner = inserted.owner AND write.id = inserted.id
), new_events AS (
  INSERT INTO events (bucket, session, seq, version, body)
  SELECT written.bucket, written.row, event.seq, event.version, event.body
  FROM unnest($2::int[], $3::bigint[], $4::int[], $5::text[]) AS event (n, seq, version, body)
    JOIN written ON written.n = event.n
), new_lookups AS (
  INSERT INTO lookups (kind, id, session)
  SELECT DISTINCT key.kind, key.id, written.row
  FROM unnest($6::int[], $7::text[], $8::text[]) AS key (n, kind, id) JOIN written ON written.n = key.n
  ON CONFLICT DO NOTHING
), new_checkpoints AS (
  INSERT INTO checkpoints (session, version, seq, state)
  SELECT written.row, write.checkpoint_version, write.checkpoint_seq, write.checkpoint_state
  FROM write JOIN written ON written.n = write.n WHERE write.checkpoint_action = 'put'
  ON CONFLICT (session) DO UPDATE SET version = excluded.version, seq = excluded.seq, state = excluded.state
), no_checkpoints AS (
  DELETE FROM checkpoints WHERE session = ANY (ARRAY(
    SELECT written.row FROM write JOIN written ON written.n = write.n WHERE write.checkpoint_action = 'remove'
  ))
), new_usage AS (
  INSERT INTO usage (${[...USAGE_LABELS, ...USAGE_COUNTS].join(', ')})
  SELECT ${[...USAGE_LABELS, ...USAGE_COUNTS.map((column) => `least(sum(${column}), ${MOST_USAGE})::bigint`)].join(', ')}
  FROM jsonb_to_recordset($13::text::jsonb) AS used (
    n INT, ${USAGE_LABELS.map((column) => `${column} TEXT COLLATE "C"`).join(', ')},
    ${USAGE_COUNTS.map((column) => `${column} BIGINT`).join(', ')}
  ) JOIN written ON written.n = used.n
  GROUP BY ${USAGE_LABELS.join(', ')} ORDER BY ${USAGE_LABELS.join(', ')}
  ${ADD_USAGE}
)
SELECT write.n, written.row, written.epoch, written.driver, held.head AS held_head, held.is_other
FROM write LEFT JOIN written ON written.n = write.n LEFT JOIN held ON held.n = write.n`;

// Resolves appends with a lost response: the connection was reset, or the server restarted or did not respond
// in time, so it is unknown whether they were written. Sends the same statement again: if the first one was
// or is still being executed, the second one conflicts with our own event, which its body reveals.

/** How long to retry beyond the deadline of the statement, since the server may be restarting. */
const RETRY_FOR_MS = 1_000;
const RETRY_DELAY_MS = 50;

/**
 * Writes the group, and determines its outcome if the response is lost. Throws if that is not possible in
 * time.
 */
export async function appendWithRetry(
  database: Database,
  group: readonly Append[],
  appender: Appender,
): Promise<Appended[]> {
  try {
    return await appendAll(database, group, appender);
  } catch (error) {
    if (isRefusal(error) && group.length > 1) return oneByOne(database, group, appender);
    if (!isUnknown(error) && !isTransient(error)) throw error;
    return retryAppend(database, group, { appender, error });
  }
}

/** If the server rejects the values of one append, writes the others. */
async function oneByOne(
  database: Database,
  group: readonly Append[],
  appender: Appender,
): Promise<Appended[]> {
  const answers: Appended[] = [];
  for (const append of group)
    answers.push(
      ...(await appendWithRetry(database, [append], appender).catch((reason): Appended[] => [
        { written: false, reason },
      ])),
    );
  return answers;
}

async function retryAppend(
  database: Database,
  group: readonly Append[],
  { appender, error }: { readonly appender: Appender; readonly error: unknown },
): Promise<Appended[]> {
  const giveUp = performance.now() + RETRY_FOR_MS;
  for (let reason = error; ; ) {
    await Bun.sleep(RETRY_DELAY_MS);
    const left = giveUp - performance.now();
    if (left <= 0) throw reason;
    try {
      const again = appendAll(database, group, appender).then((answers) => withOwn(database, group, answers));
      // A later result is a conflict with our own event, or a late write; the log shows which.
      return await inTime(again, left);
    } catch (failed) {
      if (!isUnknown(failed) && !isTransient(failed)) throw failed;
      reason = failed;
    }
  }
}

/** A conflict with our own event means that the first attempt was written. */
async function withOwn(
  database: Statements,
  group: readonly Append[],
  answers: readonly Appended[],
): Promise<Appended[]> {
  return Promise.all(
    group.map(async (append, index): Promise<Appended> => {
      const answer = answers[index];
      if (answer?.written) return answer;
      const own = await ownEvent(database, append);
      if (own) return { written: true, row: Number(own.row), driver: driverOf(own) };
      return answer ?? { written: false, reason: new Error('the database returned no result for an append') };
    }),
  );
}

/** The session, if its event after `expected` belongs to this append. */
export async function ownEvent(database: Statements, append: Append): Promise<Row | null> {
  const { ref, expected, bodies } = append;
  if (bodies.length === 0) return null;
  const [found] = await database.query(
    `SELECT sessions.row, sessions.epoch, sessions.driver, events.body FROM sessions JOIN events
       ON events.bucket = sessions.bucket AND events.session = sessions.row AND events.seq = $4
     WHERE sessions.bucket = $1 AND owner = $2 AND id = $3`,
    [bucketOf(ref.owner), ref.owner, ref.id, expected + 1],
  );
  return found && found.body === bodies[0] ? found : null;
}
