/** Tools that run on a client connected to another node than the driver. */
import { afterEach, expect, test } from 'bun:test';
import type { ConnectionId, DurableEvent } from '@parlance/protocol';
import { textPart } from '@parlance/protocol';
import { z } from 'zod';
import { CALLER, SESSION, say } from '../../testing/harness.ts';
import { HarnessCluster, type HarnessNode } from '../../testing/nodes.ts';
import { calls, says } from '../../testing/scripted-provider.ts';
import { defineTool } from '../ports/tool.ts';

const BROWSER = 'browser' as ConnectionId;

const openUrl = defineTool({
  name: 'open_url',
  description: 'Opens an address.',
  input: z.object({}),
  approval: () => null,
  run: async (_input, { atClient }) => {
    const asked = { tool: 'open_url', parameters: {}, schema: {}, permissions: [], timeoutMs: 60_000 };
    return { parts: [textPart(String(await atClient({ ...asked, unavailable: 'no browser' })))] };
  },
});

let opened: HarnessNode[] = [];
afterEach(async () => {
  await Promise.all(opened.map(({ engine }) => engine.drain(0)));
  opened = [];
});

/** A driving node, and another one with a browser. `asked` resolves with the execution id. */
async function twoNodes() {
  const cluster = new HarnessCluster();
  const driver = await cluster.open([calls('open_url', {}), says('Done.')], { tools: [openUrl] });
  const other = await cluster.open([]);
  opened = [driver, other];
  const asked = Promise.withResolvers<string>();
  other.engine.clients.register({
    connection: BROWSER,
    owner: CALLER.principal.id,
    offer: { tools: ['open_url'], fallback: false },
    executionId: ({ id }) => `exec_${id}`,
    request: (execution) => asked.resolve(execution),
  });
  return { cluster, driver, other, asked: asked.promise };
}

async function endOf(cluster: HarnessCluster): Promise<DurableEvent<'tool.ended'> | undefined> {
  const events = await cluster.store.read(SESSION, 0, 100);
  return events.find((event) => event.type === 'tool.ended');
}

test('a tool runs on a client connected to another node', async () => {
  const { cluster, driver, other, asked } = await twoNodes();
  await say(driver.engine, 'Open it');
  const execution = await asked;
  expect(other.engine.clients.answer(BROWSER, execution, { ok: true, result: 'opened' })).toBe(true);
  await driver.engine.whenIdle(SESSION);
  expect(await endOf(cluster)).toMatchObject({ outcome: 'ok', parts: [textPart('opened')] });
  const progress = driver.events.filter(({ type }) => type === 'call.progress');
  expect(progress).not.toEqual([]);
});

test('a tool has an unknown outcome if the node of its client fails', async () => {
  const { cluster, driver, other, asked } = await twoNodes();
  await say(driver.engine, 'Open it');
  await asked;
  other.kill();
  await driver.engine.whenIdle(SESSION);
  expect(await endOf(cluster)).toMatchObject({ outcome: 'unknown' });
});

test('a tool running on a client has an unknown outcome if its turn is superseded', async () => {
  const { cluster, driver, asked } = await twoNodes();
  await say(driver.engine, 'Open it');
  await asked;
  await say(driver.engine, 'Never mind', 'supersede');
  await driver.engine.whenIdle(SESSION);
  expect(await endOf(cluster)).toMatchObject({ outcome: 'unknown', interrupted: true });
});
