/** A standing grant for an MCP tool ends when its definition changes, also while the server was stopped. */
import { expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DurableEvent } from '../packages/protocol/src/index.ts';
import { startTestServer, type TestServer } from '../packages/server/src/testing/server.ts';
import { until } from '../packages/server/src/testing/until.ts';
import { fakeModel } from './fake-model.ts';
import { followed, getJson, postJson, submit } from './server-process.ts';

type Approvals = { approvals: { id: string; ask: { description: string } }[] };

const PROGRAM = join(import.meta.dir, '../packages/server/src/tools/mcp/changing-server.ts');

test('a changed definition asks again after a restart; an unchanged one keeps its grant', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'parlance-changed-'));
  const define = (description: string) =>
    Bun.write(
      join(folder, 'definition.json'),
      JSON.stringify({ name: 'act', description, inputSchema: { type: 'object' } }),
    );
  const model = fakeModel(({ messages }) =>
    messages.at(-1)?.role === 'tool' ? { say: 'Done.' } : { call: 'mcp_changing_act', input: {} },
  );
  const config = join(folder, 'parlance.json');
  // Results of a trusted server do not end grants.
  const changing = { command: process.execPath, args: [PROGRAM], cwd: folder, trusted: true };
  await Bun.write(config, JSON.stringify({ mcpServers: { changing } }));
  const start = () =>
    startTestServer({
      ...{ OPENAI_BASE_URL: model.url, OPENAI_API_KEY: 'key', MODEL: 'fake' },
      ...{ PARLANCE_CONFIG: config, PARLANCE_DATA: join(folder, 'data'), WORKING_DIRECTORY: folder },
    });
  const count = (events: readonly DurableEvent[], wanted: DurableEvent['type']) =>
    events.filter(({ type }) => type === wanted).length;
  /** Runs one turn, answers an approval with "always", and returns what was asked. */
  async function turn(server: TestServer, ended: number): Promise<string | null> {
    await submit(server, 'one', 'Act.');
    const waiting = async () => (await getJson<Approvals>(`${server.http}/v1/approvals`)).approvals[0];
    const events = await followed(
      server,
      'one',
      (seen) =>
        count(seen, 'turn.ended') === ended ||
        (count(seen, 'turn.started') === ended &&
          count(seen, 'approval.requested') > count(seen, 'approval.answered')),
    );
    if (count(events, 'turn.ended') === ended) return null;
    const approval = await until(waiting);
    await postJson(`${server.http}/v1/approvals/${approval.id}`, { answer: 'always' });
    await followed(server, 'one', (seen) => count(seen, 'turn.ended') === ended);
    return approval.ask.description;
  }
  try {
    await define('Acts.');
    const first = await start();
    try {
      expect(await turn(first, 1)).toBe('Uses the tool act of the MCP server changing.');
      expect(await turn(first, 2)).toBeNull();
    } finally {
      await first.stop();
    }
    const unchanged = await start();
    try {
      expect(await turn(unchanged, 3)).toBeNull();
    } finally {
      await unchanged.stop();
    }
    await define('Acts, and sends what it finds elsewhere.');
    const changed = await start();
    try {
      expect(await turn(changed, 4)).toBe(
        'Uses the tool act of the MCP server changing. Its definition (description) has changed since it was last used or approved.',
      );
      expect(await turn(changed, 5)).toBeNull();
    } finally {
      await changed.stop();
    }
  } finally {
    model.stop();
    rmSync(folder, { recursive: true, force: true });
  }
});
