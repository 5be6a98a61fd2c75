import { Database } from 'bun:sqlite';
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { ApprovalId, PrincipalId, SessionId, TurnId } from '@parlance/protocol';
import type { SessionFilter, TurnQuery } from '../../core/ports/event-store.ts';

import { accountTables } from '../shared/accounts.ts';
import type { SharedDatabase } from '../shared/database.ts';
import { sessionQueries, turnQueries } from '../shared/sessions.ts';
import { migrate } from './migrations.ts';
import { sharedDatabase } from './open.ts';

const owner = PrincipalId.parse('ada');

/** The plans of the statements that `work` runs; they depend only on the schema. */
async function plansOf(
  database: Database,
  work: (recorded: SharedDatabase) => Promise<unknown>,
): Promise<string[]> {
  const statements = new Set<string>();
  const recorded = new Proxy(database, {
    get(target, name) {
      const value = Reflect.get(target, name, target);
      if (typeof value !== 'function') return value;
      return (...given: unknown[]) => {
        if (name === 'prepare' || name === 'query') statements.add(String(given[0]));
        return value.apply(target, given);
      };
    },
  });
  await work(sharedDatabase(recorded, () => undefined));
  return [...statements].flatMap((sql) => {
    using explained = database.prepare<{ detail: string }, []>(`EXPLAIN QUERY PLAN ${sql}`);
    return explained.all().map(({ detail }) => detail);
  });
}

describe('queries read only matching rows, regardless of the number of sessions', () => {
  let database: Database;
  beforeAll(() => {
    database = new Database(':memory:', { strict: true });
    migrate(database, ':memory:');
  });
  afterAll(() => database.close());

  const listPlan = (filter: SessionFilter, cursor?: string) =>
    plansOf(database, (recorded) => sessionQueries(recorded).list({ ...filter, limit: 50, cursor }));
  const cursor = Buffer.from('1:1').toString('base64url');

  const LISTS: Record<string, { filter: SessionFilter; index: string }> = {
    'approvals of an owner': {
      filter: { owner, awaitsUser: true, archived: 'included', ephemeral: 'included' },
      index: 'sessions_awaiting_approval_by_owner (owner=?',
    },
    'running and waiting sessions of an owner': {
      filter: { owner, status: ['running', 'waiting'], archived: 'included', ephemeral: 'included' },
      index: 'sessions_by_owner_and_status (owner=? AND status=?',
    },
    'pinned sessions of an owner': {
      filter: { owner, pinned: true },
      index: 'sessions_pinned_by_owner (owner=?',
    },
    'tagged sessions of an owner': {
      filter: { owner, tag: 'work' },
      index: 'sessions_tagged_by_owner (owner=?',
    },
    'running sessions of everyone': {
      filter: { status: ['running'], archived: 'included', ephemeral: 'included' },
      index: 'sessions_by_status (status=?',
    },
  };
  for (const [name, { filter, index }] of Object.entries(LISTS)) {
    test(`${name} use an index and its order`, async () => {
      for (const plan of [await listPlan(filter), await listPlan(filter, cursor)]) {
        const read = plan.filter((step) => step.includes('sessions'));
        expect(read.length).toBeGreaterThan(0);
        for (const step of read) expect(step).toStartWith(`SEARCH sessions USING INDEX ${index}`);
        expect(plan.join('\n')).not.toContain('TEMP B-TREE');
      }
    });
  }

  test('ephemeral sessions have their own index, read in order', async () => {
    const filter = { ephemeral: 'only', archived: 'included' } as const;
    for (const plan of [await listPlan(filter), await listPlan(filter, cursor)]) {
      expect(plan.find((step) => step.includes('sessions'))).toMatch(
        /^(SCAN|SEARCH) sessions USING INDEX sessions_ephemeral\b/,
      );
      expect(plan.join('\n')).not.toContain('TEMP B-TREE');
    }
  });

  test('approvals of all owners have their own index, read in order', async () => {
    const filter = { awaitsUser: true, archived: 'included', ephemeral: 'included' } as const;
    for (const plan of [await listPlan(filter), await listPlan(filter, cursor)]) {
      expect(plan.find((step) => step.includes('sessions'))).toMatch(
        /^(SCAN|SEARCH) sessions USING INDEX sessions_awaiting_approval\b/,
      );
      expect(plan.join('\n')).not.toContain('TEMP B-TREE');
    }
    const counted = await plansOf(database, (recorded) => sessionQueries(recorded).count(filter));
    expect(counted.join()).toMatch(/^SCAN sessions USING (COVERING )?INDEX sessions_awaiting_approval\w*$/);
  });

  const FILTERS: Record<string, { filter: SessionFilter; index: string }> = {
    'a part of a title': {
      filter: { owner, title: 'plan' },
      index: 'SCAN title_grams VIRTUAL TABLE INDEX 0:M',
    },
    'a character of a title': { filter: { title: 'ä' }, index: 'SCAN title_grams VIRTUAL TABLE INDEX 0:M' },
    'a label': {
      filter: { owner, label: { name: 'site', value: 'one.org' } },
      index: 'SEARCH session_labels USING COVERING INDEX session_labels_by_label (label=?)',
    },
    'a nearly unique label': {
      filter: { label: { name: '@key', value: 'one' } },
      index: 'SEARCH lookups USING PRIMARY KEY (kind=? AND id=?)',
    },
  };
  for (const [name, { filter, index }] of Object.entries(FILTERS)) {
    test(`${name} is found by an index, in lists and counts`, async () => {
      const counted = plansOf(database, (recorded) => sessionQueries(recorded).count(filter));
      for (const plan of [await listPlan(filter), await listPlan(filter, cursor), await counted]) {
        // once to count the candidates, once to read them
        expect(plan.filter((step) => step.startsWith(index))).toHaveLength(2);
        const read = plan.filter((step) => /^(SCAN|SEARCH) sessions/.test(step));
        expect(read).toEqual(['SEARCH sessions USING INTEGER PRIMARY KEY (rowid=?)']);
      }
    });
  }

  test('if very many titles have a part, the order of the list finds a page sooner', async () => {
    database.run(
      `WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 6000)
       INSERT INTO sessions (owner, id, dialect, domain, agent, title, renamed, first_input, status, archived, ephemeral,
         pinned, tags, labels, message_count, created_at, updated_at, head)
       SELECT 'ada', n, '', '', '', 'Plan ' || n, 0, '', 'idle', 0, 0, 0, '[]', '{"site":"one.org"}', 0, n, n, 1 FROM numbers`,
    );
    const { list, count } = sessionQueries(sharedDatabase(database, () => undefined));
    for (const filter of [{ title: 'plan' }, { label: { name: 'site', value: 'one.org' } }]) {
      const plan = await listPlan({ owner, ...filter });
      expect(plan.filter((step) => step.startsWith('SEARCH sessions'))).toEqual([
        'SEARCH sessions USING INDEX sessions_by_owner (owner=?)',
      ]);
      const { sessions } = await list({ owner, ...filter, limit: 2 });
      expect(sessions.map(({ title }) => title)).toEqual(['Plan 6000', 'Plan 5999']);
      expect(await count(filter)).toBe(6000);
    }
    expect(await count({ title: 'plan 600' })).toBe(2);
    expect(await count({ title: 'plan 600', label: { name: 'site', value: 'one.org' } })).toBe(2);
    database.run('DELETE FROM sessions');
  });

  test('turns are listed by an index, in its order', async () => {
    const planOf = async (query: Partial<TurnQuery>) =>
      (
        await plansOf(database, (recorded) => turnQueries(recorded).list({ owner, limit: 10, ...query }))
      ).join('\n');
    const after = Buffer.from('1:1:1').toString('base64url');
    for (const cursor of [undefined, after]) {
      expect(await planOf({ cursor })).toContain('turns USING INDEX turns_by_owner (owner=?');
      expect(await planOf({ cursor, since: 5 })).toContain('turns USING INDEX turns_by_owner (owner=?');
      expect(await planOf({ cursor, state: 'failed' })).toContain(
        'turns_by_owner_and_state (owner=? AND state=?',
      );
      const session = SessionId.parse('one');
      expect(await planOf({ cursor, session })).toContain('turns USING INDEX turns_by_session (session=?');
      for (const query of [{}, { state: 'failed' as const }, { session }])
        expect(await planOf({ cursor, ...query })).not.toContain('TEMP B-TREE');
    }
  });

  test('API keys are found by primary key, and those of an owner by index, in order', async () => {
    const plan = await plansOf(database, async (recorded) => {
      const { apiKeys } = accountTables(recorded);
      await apiKeys.find('one');
      await apiKeys.list();
      await apiKeys.list(owner);
      await apiKeys.remove('one', owner);
      await apiKeys.used(new Map([['one', 1]]));
    });
    const read = plan.filter((step) => /^(SCAN|SEARCH) api_keys/.test(step));
    expect(read).toContain('SEARCH api_keys USING PRIMARY KEY (id=?)');
    expect(read).toContain('SEARCH api_keys USING INDEX api_keys_by_owner (owner=?)');
    // Only the list of all keys reads all of them.
    expect(read.filter((step) => step.startsWith('SCAN')).length).toBe(1);
  });

  test('an approval and a turn are looked up by primary key', async () => {
    const plan = await plansOf(database, async (recorded) => {
      const { lookup } = sessionQueries(recorded);
      await lookup({ kind: 'approval', id: ApprovalId.parse('one') }, { owner });
      await lookup({ kind: 'turn', id: TurnId.parse('one') });
    });
    const read = plan.filter((step) => /^(SCAN|SEARCH)/.test(step));
    expect(read).toEqual([
      'SEARCH sessions USING INTEGER PRIMARY KEY (rowid=?)',
      'SEARCH lookups USING PRIMARY KEY (kind=? AND id=?)',
      'SEARCH checkpoints USING INTEGER PRIMARY KEY (rowid=?) LEFT-JOIN',
    ]);
  });
});
