import { Database } from 'bun:sqlite';
import { expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DATABASE_FILE } from '../packages/server/src/stores/sqlite/connection.ts';
import { openSqliteStore } from '../packages/server/src/stores/sqlite/open.ts';
import { createHarness, SESSION, say } from '../packages/server/src/testing/harness.ts';
import { calls } from '../packages/server/src/testing/scripted-provider.ts';
import { startTestServer } from '../packages/server/src/testing/server.ts';
import { followed } from './server-process.ts';

/** Leaves a session with a call that was recorded but not evaluated, as after a crash. */
async function leaveUnjudged(data: string): Promise<void> {
  const store = openSqliteStore(data);
  const recorded = Promise.withResolvers<void>();
  const broken: typeof store = {
    ...store,
    append: async (...given) => {
      if (JSON.stringify(given).includes('approval.requested')) {
        recorded.resolve();
        return new Promise<never>(() => undefined);
      }
      return store.append(...given);
    },
  };
  const command = ['bash', '-lc', 'touch made'];
  const { engine } = await createHarness([calls('shell', { command })], { store: broken });
  await say(engine, 'Make a file.');
  await recorded.promise;
  await store.close();
}

function recordedTypes(data: string): string[] {
  using database = new Database(join(data, DATABASE_FILE), { readonly: true });
  const rows = database
    .query<{ type: string }, []>(`SELECT body ->> 'type' AS type FROM events ORDER BY seq`)
    .all();
  return rows.map(({ type }) => type);
}

test('the call of an unfinished turn is evaluated after the server is ready, and the turn continues', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'parlance-resume-'));
  const data = join(folder, 'data');
  await leaveUnjudged(data);
  const before = recordedTypes(data);
  expect(before.at(-1)).toBe('step.ended');
  const server = await startTestServer({ PARLANCE_DATA: data });
  expect(recordedTypes(data)).toEqual(before);
  const events = await followed(server, SESSION.id, (so) => so.at(-1)?.type === 'approval.requested');
  expect(events.map(({ type }) => String(type))).toEqual([...before, 'turn.resumed', 'approval.requested']);
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
});
