/** Definitions of MCP tools that change while the server is stopped: grants end, and interrupted calls are not repeated. */
import { expect, test } from 'bun:test';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DurableEvent } from '../packages/protocol/src/index.ts';
import { startTestServer, type TestServer } from '../packages/server/src/testing/server.ts';
import { until } from '../packages/server/src/testing/until.ts';
import { scriptedModel } from './scripted-model.ts';
import { followed, getJson, postJson, startProcess, submit } from './server-process.ts';

type Approvals = { approvals: { id: string; ask: { description: string } }[] };

const PROGRAM = join(import.meta.dir, '../packages/server/src/testing/tools/mcp-changing-server.ts');

test('a changed definition asks again after a restart; an unchanged one keeps its grant', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'parlance-changed-'));
  const define = (description: string) =>
    Bun.write(
      join(folder, 'definition.json'),
      JSON.stringify({ name: 'act', description, inputSchema: { type: 'object' } }),
    );
  const model = scriptedModel(({ messages }) =>
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

const IDEMPOTENT = { idempotentHint: true };
const ACTS = { description: 'Acts.', annotations: IDEMPOTENT };

test.each([
  { now: 'the same definition', before: IDEMPOTENT, after: ACTS, outcome: 'ok', calls: 'xx' },
  { now: 'one that is idempotent only now', before: {}, after: ACTS, outcome: 'unknown', calls: 'x' },
  {
    now: 'another one',
    before: IDEMPOTENT,
    after: { ...ACTS, description: 'Sends.' },
    outcome: 'unknown',
    calls: 'x',
  },
])('a call that a crash interrupted, and then $now', async ({ before, after, outcome, calls }) => {
  const folder = mkdtempSync(join(tmpdir(), 'parlance-interrupted-'));
  const define = (definition: object) =>
    Bun.write(
      join(folder, 'definition.json'),
      JSON.stringify({ name: 'act', inputSchema: { type: 'object' }, ...definition }),
    );
  const model = scriptedModel(({ messages }) =>
    messages.at(-1)?.role === 'tool' ? { say: 'Done.' } : { call: 'mcp_changing_act', input: {} },
  );
  const changing = { command: process.execPath, args: [PROGRAM], cwd: folder };
  await Bun.write(join(folder, 'parlance.json'), JSON.stringify({ mcpServers: { changing } }));
  const settings = {
    ...{ OPENAI_BASE_URL: model.url, OPENAI_API_KEY: 'key', MODEL: 'fake' },
    PARLANCE_CONFIG: join(folder, 'parlance.json'),
  };
  try {
    await define({ ...ACTS, annotations: before });
    await Bun.write(join(folder, 'hang'), '');
    const first = await startProcess(folder, settings);
    await submit(first, 'one', 'Act.');
    const waiting = async () => (await getJson<Approvals>(`${first.http}/v1/approvals`)).approvals[0];
    const { id } = await until(waiting);
    await postJson(`${first.http}/v1/approvals/${id}`, { answer: 'once' });
    await until(() => existsSync(join(folder, 'calls')));
    await first.kill();

    rmSync(join(folder, 'hang'));
    await define(after);
    await using second = await startProcess(folder, settings);
    const events = await followed(second, 'one', (seen) => seen.some(({ type }) => type === 'turn.ended'));
    const outcomes = events.flatMap((event) => (event.type === 'tool.ended' ? [event.outcome] : []));
    expect([outcomes, readFileSync(join(folder, 'calls'), 'utf8')]).toEqual([[outcome], calls]);
  } finally {
    model.stop();
    rmSync(folder, { recursive: true, force: true });
  }
});
