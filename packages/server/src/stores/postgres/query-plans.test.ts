import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { ApprovalId, PrincipalId, TurnId } from '@parlance/protocol';
import type { SessionFilter } from '../../core/ports/event-store.ts';
import { refOf } from '../../testing/stores/contract/samples.ts';
import { noPostgres, testServer } from '../../testing/stores/postgres.ts';
import { sessionQueries, turnQueries } from '../shared/sessions.ts';
import { APPEND } from './append.ts';
import { type Database, openDatabase, PLANNER, type Statements } from './database.ts';
import { sharedDatabase } from './open.ts';
import { bucketOf, prepareRead } from './sessions.ts';

const owner = PrincipalId.parse('owner 1');
const ONE = refOf(owner, 'session 1');

/** A hundred sessions for each of fifty owners, with related rows. */
async function fill({ query }: Database): Promise<void> {
  const owners = Array.from({ length: 50 }, (_, index) => `owner ${index}`);
  await query(
    `INSERT INTO sessions (bucket, owner, id, dialect, domain, agent, title, renamed, first_input, status, approval,
       archived, ephemeral, pinned, tags, labels, message_count, created_at, updated_at, head)
     SELECT bucket, owner, 'session ' || n, '', '', '', CASE WHEN n = 77 THEN '会議 ' || owner ELSE 'Plan ' || n END, FALSE, '',
       (ARRAY['idle', 'running', 'waiting', 'failed'])[1 + n % 4], CASE WHEN n % 20 = 0 THEN 'asked' END,
       FALSE, n % 50 = 0, FALSE, '[]', jsonb_build_object('site', owner || n), 0, n, n, 1
     FROM unnest($1::int[], $2::text[]) AS owners (bucket, owner), generate_series(1, 100) AS n`,
    [owners.map(bucketOf), owners],
  );
  await query(
    `INSERT INTO events SELECT bucket, row, seq, 1, '' FROM sessions, generate_series(1, 5) AS seq`,
  );
  await query(`INSERT INTO checkpoints SELECT row, 1, 1, '' FROM sessions`);
  await query(
    `INSERT INTO lookups SELECT kind, kind || row, row FROM sessions, (VALUES ('approval'), ('turn')) AS kinds (kind)`,
  );
}

describe.skipIf(noPostgres)('queries read only matching rows, regardless of the number of sessions:', () => {
  const server = testServer();
  let database: Database;
  beforeAll(async () => {
    if (noPostgres) return;
    const url = await server().newDatabase();
    database = openDatabase(url, { max: 1, deadlineMs: 10_000, name: 'test', settings: PLANNER });
    await fill(database);
    await database.query('ANALYZE');
  });
  afterAll(() => database?.close());

  /** The generic plan of the statement that `work` runs. */
  async function planOf(work: (statements: Statements) => Promise<unknown>): Promise<string> {
    const plans: string[] = [];
    await work({
      async query(text, values) {
        const rows = await database.query(`EXPLAIN (COSTS OFF) ${text}`, values);
        plans.push(rows.map((row) => row['QUERY PLAN']).join('\n'));
        return text.includes('AS count') ? [{ count: 0 }] : [];
      },
    });
    return plans.join('\n');
  }

  const shared = ({ query }: Statements) => sharedDatabase({ ...database, query }, async () => undefined);
  const sessionsIn = (statements: Statements) => sessionQueries(shared(statements));

  const cursor = Buffer.from('90:4500').toString('base64url');
  const LISTS: Record<string, { filter: SessionFilter; index: string }> = {
    'sessions of everyone': { filter: {}, index: 'sessions_by_change' },
    'sessions of an owner': { filter: { owner }, index: 'sessions_by_owner' },
    'approvals of an owner': {
      filter: { owner, awaitsUser: true, archived: 'included', ephemeral: 'included' },
      index: 'sessions_awaiting_approval_by_owner',
    },
    'approvals of everyone': {
      filter: { awaitsUser: true, archived: 'included', ephemeral: 'included' },
      index: 'sessions_awaiting_approval',
    },
    'running and waiting sessions of an owner': {
      filter: { owner, status: ['running', 'waiting'], archived: 'included', ephemeral: 'included' },
      index: 'sessions_by_owner_and_status',
    },
    'ephemeral sessions': {
      filter: { ephemeral: 'only', archived: 'included' },
      index: 'sessions_ephemeral',
    },
    'running sessions of everyone': {
      filter: { status: ['running'], archived: 'included', ephemeral: 'included' },
      index: 'sessions_by_status',
    },
  };
  for (const [name, { filter, index }] of Object.entries(LISTS)) {
    test(`${name} are listed with an index, in its order`, async () => {
      for (const page of [undefined, cursor]) {
        const plan = await planOf((statements) =>
          sessionsIn(statements).list({ ...filter, limit: 50, cursor: page }),
        );
        expect(plan).toContain(`using ${index} `);
        expect(plan).not.toContain('Seq Scan');
        // Only the merge of two branches sorts.
        if ((filter.status?.length ?? 1) < 2) expect(plan).not.toMatch(/\bSort\b/);
      }
    });
  }

  test('appends find sessions by index, without scanning checkpoints', async () => {
    const lists = Array.from({ length: 7 }, () => []);
    const plan = await planOf(({ query }) => query(APPEND, ['[]', ...lists, 'node', null, true, true, '[]']));
    expect(plan.match(/Index Scan using sessions_bucket_owner_id_key on sessions/g)?.length).toBe(1);
    expect(plan).toMatch(/Index Scan using sessions_pkey on sessions[^\n]*\n *Index Cond: \("row" = held/);
    expect(plan).toMatch(
      /Index Scan using checkpoints_pkey on checkpoints[^\n]*\n *Index Cond: \(session = ANY/,
    );
    expect(plan).not.toContain('Seq Scan');
  });

  const READS: Record<string, { work: (statements: Statements) => Promise<unknown>; index: RegExp }> = {
    events: { work: (statements) => prepareRead(statements)(ONE, 0, 10), index: /events_\d+_pkey/ },
    'a record': {
      work: (statements) => sessionsIn(statements).load(ONE),
      index: /sessions_bucket_owner_id_key/,
    },
    'a head': {
      work: (statements) => sessionsIn(statements).head(ONE),
      index: /sessions_bucket_owner_id_key/,
    },
    'sessions with a part of a title': {
      work: (statements) => sessionsIn(statements).list({ title: '会議', limit: 50 }),
      index: /Function Scan on titled[\s\S]*Index Scan using sessions_pkey/,
    },
    'sessions with a label': {
      work: (statements) =>
        sessionsIn(statements).list({ owner, label: { name: 'site', value: 'owner 177' }, limit: 50 }),
      index: /using session_labels_by_label[\s\S]*Index Scan using sessions_pkey/,
    },
    'sessions of an id': {
      work: (statements) => sessionsIn(statements).findById(ONE.id),
      index: /sessions_by_id/,
    },
    'the number of approvals': {
      work: (statements) =>
        sessionsIn(statements).count({ awaitsUser: true, archived: 'included', ephemeral: 'included' }),
      index: /sessions_awaiting_approval/,
    },
    'the number of sessions of an owner': {
      work: (statements) => sessionsIn(statements).count({ owner }),
      index: /sessions_by_owner/,
    },
    'a turn': {
      work: (statements) => turnQueries(shared(statements)).find(ONE, TurnId.parse('t')),
      index: /turns_(pkey|by_session)/,
    },
    'the session of an approval': {
      work: (statements) => sessionsIn(statements).lookup({ kind: 'approval', id: ApprovalId.parse('a') }),
      index: /lookups_pkey/,
    },
    'the session of a turn': {
      work: (statements) => sessionsIn(statements).lookup({ kind: 'turn', id: TurnId.parse('t') }, ONE),
      index: /lookups_pkey/,
    },
  };
  for (const [name, { work, index }] of Object.entries(READS)) {
    test(`${name}`, async () => {
      const plan = await planOf(work);
      expect(plan).toMatch(index);
      expect(plan).not.toContain('Seq Scan');
    });
  }

  test('parts of titles are found with their index', async () => {
    const scans = async () => {
      await database.query('SELECT pg_stat_force_next_flush()');
      const [found] = await database.query(
        "SELECT idx_scan FROM pg_stat_user_indexes WHERE indexrelname = 'title_grams_by_gram'",
      );
      return Number(found?.idx_scan);
    };
    const before = await scans();
    expect(await sessionsIn(database).count({ title: '会議', ephemeral: 'included' })).toBe(50);
    expect(await scans()).toBe(before + 2);
  });
});
