/** Several engines on one store: which node drives a session, and failover. */
import { afterEach, describe, expect, test } from 'bun:test';
import { type DurableEvent, isDurable, textPart } from '@parlance/protocol';
import { z } from 'zod';
import { CALLER, SESSION, say } from '../../testing/harness.ts';
import { HarnessCluster, type HarnessNode } from '../../testing/nodes.ts';
import { calls, type Line, says } from '../../testing/scripted-provider.ts';
import { quiet } from '../../testing/ticks.ts';
import { until } from '../../testing/until.ts';
import { defineTool } from '../ports/tool.ts';

const ignore = () => undefined;
const QUIET = { debug: ignore, info: ignore, warn: ignore, error: ignore };
const HANG: Line[] = [{ type: 'text', text: 'Half ' }, { type: 'hang' }];

let opened: HarnessNode[] = [];
afterEach(async () => {
  await Promise.all(opened.map(({ engine }) => engine.drain(0)));
  opened = [];
});

async function openNodes(cluster: HarnessCluster, ...answers: (readonly (readonly Line[])[])[]) {
  const nodes: HarnessNode[] = [];
  for (const each of answers) nodes.push(await cluster.open(each));
  opened.push(...nodes);
  return nodes as [HarnessNode, HarnessNode, HarnessNode];
}

const stored = (cluster: HarnessCluster): Promise<DurableEvent[]> => cluster.store.read(SESSION, 0, 1_000);
const typesOf = (events: readonly DurableEvent[]) => events.map(({ type }) => type);

describe('a session that a node drives', () => {
  test('is taken over when the node fails, and its streamed output is discarded', async () => {
    const cluster = new HarnessCluster();
    const [here, there] = await openNodes(cluster, [HANG], [says('Whole.')]);
    await here.engine.recover();
    await there.engine.recover();
    await say(here.engine, 'Hi');
    await here.provider.hanging;
    here.kill();
    await until(async () => typesOf(await stored(cluster)).includes('turn.ended'));
    expect(typesOf(await stored(cluster)).slice(3)).toEqual([
      'turn.resumed',
      'text.ended',
      'step.ended',
      'turn.ended',
    ]);
    expect(there.provider.prompts).toHaveLength(1);
  });

  test('is not resumed by another node that only reads it or queues an input', async () => {
    const cluster = new HarnessCluster();
    const [here, there] = await openNodes(cluster, [calls('endless', {}), says('Done.')], []);
    await there.engine.recover();
    const started = here.nextEvent('tool.started');
    await say(here.engine, 'Hi');
    await started;
    expect((await there.engine.snapshot(SESSION)).turn).not.toBeNull();
    await say(there.engine, 'And then?');
    await quiet();
    expect(there.provider.prompts).toHaveLength(0);
    await there.engine.send(SESSION, { type: 'session.rename', title: 'A title' }, CALLER);
    expect(typesOf(await stored(cluster))).not.toContain('turn.resumed');
    expect(await there.engine.unfinished()).toEqual([]);
    here.kill();
    expect(await there.engine.unfinished()).toHaveLength(1);
  });

  test('stops and records nothing more if another node cancels it', async () => {
    const cluster = new HarnessCluster();
    const [here, there] = await openNodes(cluster, [calls('endless', {})], [says('Next.')]);
    const started = here.nextEvent('tool.started');
    await say(here.engine, 'Hi');
    await started;
    const cancelled = here.nextEvent('turn.cancelled');
    await there.engine.send(SESSION, { type: 'turn.cancel' }, CALLER);
    await cancelled;
    await say(there.engine, 'Go on');
    await there.engine.whenIdle(SESSION);
    const events = await stored(cluster);
    expect(typesOf(events).filter((type) => type === 'turn.cancelled')).toHaveLength(1);
    expect(there.provider.prompts).toHaveLength(1);
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1));
  });

  test('is handed over by a drain', async () => {
    const cluster = new HarnessCluster();
    const [here, there] = await openNodes(cluster, [HANG], [says('Whole.')]);
    await there.engine.recover();
    await say(here.engine, 'Hi');
    await here.provider.hanging;
    expect(await here.engine.drain(0)).toBe(false);
    await until(async () => typesOf(await stored(cluster)).includes('turn.ended'));
    expect(there.provider.prompts).toHaveLength(1);
  });
});

describe('a node that loses its lease', () => {
  test('starts no tool and records nothing, even before it notices', async () => {
    const cluster = new HarnessCluster();
    let runs = 0;
    const effect = defineTool({
      name: 'effect',
      description: 'Has an effect.',
      input: z.object({}),
      approval: () => null,
      run: async () => {
        runs++;
        return { parts: [textPart('done')] };
      },
    });
    const taking = Promise.withResolvers<void>();
    const slow: Line[] = [{ type: 'text', text: 'Wait ' }, ...calls('effect', {})];
    const here = await cluster.open([slow], { tools: [effect] });
    const there = await cluster.open([says('Mine.')], { tools: [effect] });
    opened.push(here, there);
    // The lease is lost in the middle of the first step.
    await here.engine.watch(SESSION, (event) => {
      if (event.type !== 'text.delta') return;
      here.kill();
      taking.resolve();
    });
    await say(here.engine, 'Go');
    await taking.promise;
    await there.engine.recover();
    await there.engine.whenIdle(SESSION);
    expect(runs).toBe(0);
    expect(typesOf(await stored(cluster)).filter((type) => type === 'turn.ended')).toHaveLength(1);
  });
});

describe('a node without contact to the store', () => {
  test('stops the model, and resumes the turn with a restarted step', async () => {
    const cluster = new HarnessCluster();
    const [node] = await openNodes(cluster, [HANG, says('Whole.')]);
    await node.engine.recover();
    await say(node.engine, 'Hi');
    await node.provider.hanging;
    node.fence(false);
    await quiet();
    expect(node.provider.prompts).toHaveLength(1);
    node.fence(true);
    await node.engine.whenIdle(SESSION);
    expect(typesOf(await stored(cluster)).slice(3)).toEqual([
      'step.restarted',
      'text.ended',
      'step.ended',
      'turn.ended',
    ]);
    expect(node.events.find(({ type }) => type === 'step.restarted')).toMatchObject({
      fault: { code: 'storage_unavailable' },
      shown: true,
    });
  });
});

test('a turn continues after the store briefly refuses its events, and is not recorded as failed', async () => {
  const cluster = new HarnessCluster();
  const node = await cluster.open([says('Lost.'), says('Kept.')], {
    parts: { retryDelayMs: () => 1, log: QUIET },
  });
  opened.push(node);
  await node.engine.watch(SESSION, (event) => {
    if (event.type === 'text.delta' && event.text === 'Lost.') node.refuse(1);
  });
  await say(node.engine, 'Hi');
  await node.engine.whenIdle(SESSION);
  expect(typesOf(await stored(cluster)).slice(3)).toEqual([
    'step.restarted',
    'text.ended',
    'step.ended',
    'turn.ended',
  ]);
});

test('a turn continues after its context is briefly unreadable, and is not recorded as failed', async () => {
  const cluster = new HarnessCluster();
  const [before] = await openNodes(cluster, [says('One.')]);
  await say(before.engine, 'Hi');
  await before.engine.whenIdle(SESSION);
  const node = await cluster.open([says('Two.')], { parts: { retryDelayMs: () => 1, log: QUIET } });
  opened.push(node);
  await node.engine.watch(SESSION, (event) => {
    if (event.type === 'turn.started') node.refuseReads(1);
  });
  await say(node.engine, 'Go on');
  await node.engine.whenIdle(SESSION);
  const types = typesOf(await stored(cluster));
  expect(types).not.toContain('turn.failed');
  expect(types.slice(-4)).toEqual(['step.restarted', 'text.ended', 'step.ended', 'turn.ended']);
});

test('detects that a failover replaced the last events of a session', async () => {
  const cluster = new HarnessCluster();
  const [before] = await openNodes(cluster, [says('One.')]);
  await say(before.engine, 'Hi');
  await before.engine.whenIdle(SESSION);
  const lost = await stored(cluster);
  const record = await cluster.store.load(SESSION);
  if (!record) throw new Error('there is no session');
  // One node has followed the session, the other has loaded it from its checkpoint.
  const after = await cluster.open([]);
  opened.push(after);
  const others = lost.map((event) => ({ ...event, id: `other ${event.seq}` }));
  await cluster.store.erase(SESSION);
  await cluster.store.append(0, others, { ...record, checkpoint: null });
  cluster.failover();
  for (const { events } of [before, after]) {
    await until(() => events.filter(isDurable).at(-1)?.id === others.at(-1)?.id);
    const start = events.findIndex(({ type }) => type === 'session.erased');
    expect(events.slice(start + 1).filter(isDurable)).toEqual(others as DurableEvent[]);
  }
  cluster.failover();
  await quiet();
  expect(before.events.filter(({ type }) => type === 'session.erased')).toHaveLength(1);
});

test('detects that the event before those of another node was replaced', async () => {
  const cluster = new HarnessCluster();
  const [before] = await openNodes(cluster, [says('One.')]);
  await say(before.engine, 'Hi');
  await before.engine.whenIdle(SESSION);
  const lost = await stored(cluster);
  const record = await cluster.store.load(SESSION);
  if (!record) throw new Error('there is no session');
  // Nobody tells the first node.
  await cluster.store.erase(SESSION);
  const others = lost.map((event) => ({ ...event, id: `other ${event.seq}` }));
  await cluster.store.append(0, others, { ...record, checkpoint: null });
  const after = await cluster.open([says('Two.')]);
  opened.push(after);
  await say(after.engine, 'More');
  await after.engine.whenIdle(SESSION);
  const all = await stored(cluster);
  await until(() => before.events.filter(isDurable).at(-1)?.id === all.at(-1)?.id);
  const start = before.events.findLastIndex(({ type }) => type === 'session.erased');
  expect(before.events.slice(start + 1).filter(isDurable)).toEqual(all);
});

describe('a node that is behind', () => {
  test('decides and responds based on events acknowledged by other nodes', async () => {
    const cluster = new HarnessCluster();
    const [here, there] = await openNodes(
      cluster,
      [calls('shell', { command: ['ls'] }), says('Done.')],
      [says('Done.')],
    );
    await here.engine.snapshot(SESSION);
    expect((await there.engine.snapshot(SESSION)).seq).toBe(0);
    await say(here.engine, 'Run ls');
    await here.engine.whenIdle(SESSION);
    const { approval } = await there.engine.snapshot(SESSION);
    expect(approval).not.toBeNull();
    expect((await there.engine.approvals(CALLER.principal, { limit: 10 })).waiting).toHaveLength(1);
    // The node that receives the answer becomes the driver.
    await there.engine.send(SESSION, { type: 'approval.answer', answer: 'once' }, CALLER);
    await there.engine.whenIdle(SESSION);
    expect(there.provider.prompts).toHaveLength(1);
    expect(here.provider.prompts).toHaveLength(1);
    expect(typesOf(await stored(cluster))).not.toContain('turn.resumed');
    await expect(
      here.engine.send(SESSION, { type: 'approval.answer', answer: 'once' }, CALLER),
    ).rejects.toMatchObject({ code: 'no_approval' });
    expect((await here.engine.snapshot(SESSION)).seq).toBe((await stored(cluster)).length);
    expect(here.events.filter(isDurable)).toEqual(await stored(cluster));
  });

  test('sees them even if it drives the session and messages are lost', async () => {
    const cluster = new HarnessCluster();
    const [here, there] = await openNodes(cluster, [HANG], []);
    await say(here.engine, 'Hi');
    await here.provider.hanging;
    cluster.network.down();
    await there.engine.send(SESSION, { type: 'session.rename', title: 'Renamed' }, CALLER);
    expect((await here.engine.snapshot(SESSION)).title).toBe('Renamed');
    await say(there.engine, 'And then?');
    const waiting = (await stored(cluster)).at(-1);
    if (waiting?.type !== 'input.accepted' || !waiting.turn) return expect.unreachable();
    await here.engine.send(SESSION, { type: 'turn.cancel', turn: waiting.turn }, CALLER);
    expect((await stored(cluster)).at(-1)?.type).toBe('input.cancelled');
  });

  test('writes no event older than the previous one, even if its clock is behind', async () => {
    const cluster = new HarnessCluster();
    const ahead = await cluster.open([says('Yes.')], { parts: { now: () => 2_000_000_000_000 } });
    const behind = await cluster.open([says('Yes.')], { parts: { now: () => 1_000_000_000_000 } });
    opened.push(ahead, behind);
    for (const { engine } of [ahead, behind]) {
      await say(engine, 'Hi');
      await engine.whenIdle(SESSION);
    }
    expect(new Set((await stored(cluster)).map(({ at }) => at))).toEqual(new Set([2_000_000_000_000]));
  });

  test('accepts each input once if several nodes send concurrently', async () => {
    const cluster = new HarnessCluster();
    const answers = Array.from({ length: 30 }, () => says('Yes.'));
    const nodes = await openNodes(cluster, answers, answers, answers);
    for (const { engine } of nodes) await engine.recover();
    const texts = Array.from({ length: 30 }, (_, index) => `message ${index}`);
    await Promise.all(texts.map((text, index) => say(nodes[index % 3]?.engine ?? nodes[0].engine, text)));
    await until(async () => (await cluster.store.load(SESSION))?.status === 'idle');
    const events = await stored(cluster);
    const inputs = events.flatMap((event) => (event.type === 'input.accepted' ? event.parts : []));
    expect(inputs.map((part) => (part.type === 'text' ? part.text : '')).sort()).toEqual([...texts].sort());
    expect(typesOf(events).filter((type) => type === 'turn.ended')).toHaveLength(30);
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1));
  });
});
