/** Parameters and results of the append statement. */
import { type DurableEvent, writtenVersion } from '@parlance/protocol';
import {
  AppendConflict,
  type LookupKey,
  type SessionRecord,
  type SessionRef,
  sessionKey,
} from '../../core/ports/event-store.ts';
import { type AppendAs, Deposed, type Driver } from '../../core/ports/lease.ts';
import { lookupKeysOf } from '../shared/lookup-keys.ts';
import { checkNumbering } from '../shared/numbering.ts';
import type { EventOptions } from '../shared/stored-event.ts';
import { storable, storableLabels, storableRef } from '../shared/text.ts';
import { APPEND } from './append-statement.ts';
import { bucketOf } from './bucket.ts';
import type { Row, Statements } from './database.ts';

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
  readonly mayDepose: boolean;
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
  if (as.by === 'driver' && head === expected)
    return { written: false, reason: new Deposed(record.ref, as.epoch) };
  // another node has just created the session
  const actual = head === 0 && expected === 0 ? 1 : head;
  return { written: false, reason: new AppendConflict(record.ref, expected, actual) };
}

export const driverOf = ({ driver, epoch }: Row): Driver | null =>
  typeof driver === 'string' ? { node: driver, epoch: Number(epoch) } : null;

function valuesOf(
  appends: readonly Append[],
  { node, home, able, mayDepose, checkpoints }: Appender,
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
    mayDepose,
  ];
}

/** All nodes lock rows in this order. */
const sorted = <Write extends Pick<ReturnType<typeof writeOf>, 'owner' | 'id'>>(writes: Write[]): Write[] =>
  writes.sort((one, other) => compared(one.owner, other.owner) || compared(one.id, other.id));

const compared = (one: string, other: string): number => (one < other ? -1 : one > other ? 1 : 0);

/** Text of records is `storable`, so JSONB accepts it. */
function writeOf(append: Append, n: number, checkpoints: Appender['checkpoints']) {
  const { ref, key, expected, record, as } = append;
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
    dialect: storable(record.dialect),
    domain: storable(record.domain),
    agent: storable(record.agent),
    title: storable(record.title),
    renamed: record.renamed,
    first_input: storable(record.firstInput),
    status: record.status,
    approval: record.approval && storable(record.approval),
    archived: record.archived,
    ephemeral: record.ephemeral,
    pinned: record.pinned,
    tags: record.tags.map(storable),
    labels: storableLabels(record.labels),
    message_count: record.messageCount,
    created_at: record.createdAt,
    updated_at: record.updatedAt,
    head: record.head,
    checkpoint_action: isStored ? 'keep' : checkpoint ? 'put' : 'remove',
    checkpoint_version: checkpoint?.version,
    checkpoint_seq: checkpoint?.seq,
    checkpoint_state: checkpoint && !isStored ? storable(checkpoint.state) : null,
  };
}
