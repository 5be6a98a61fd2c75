import { expect, test } from 'bun:test';
import { LeaseTable, openMemoryLeases } from '../../stores/memory/leases.ts';
import { openMemoryStore } from '../../stores/memory/store.ts';
import { calls, says } from '../../testing/scripted-provider.ts';
import { CALLER, SESSION, say, setStage } from '../../testing/stage.ts';

test('only the node that holds the lease drives a session', async () => {
  const [store, table] = [openMemoryStore(), new LeaseTable()];
  const here = await setStage([calls('endless', {})], {
    store,
    parts: { leases: openMemoryLeases(table) },
  });
  const started = here.happens('tool.started');
  await say(here.engine, 'Go');
  await started;
  const there = await setStage([says('Mine.')], { store, parts: { leases: openMemoryLeases(table) } });
  expect(await there.engine.recover()).toBe(1);
  await there.engine.snapshot(SESSION);
  expect(there.provider.prompts).toHaveLength(0);

  const cancelled = here.happens('turn.cancelled');
  await here.engine.send(SESSION, { type: 'turn.cancel' }, CALLER);
  await cancelled;
});

test('the lease is released when the session is idle, and another node can continue', async () => {
  const [store, table] = [openMemoryStore(), new LeaseTable()];
  const here = await setStage([says('One.')], { store, parts: { leases: openMemoryLeases(table) } });
  await say(here.engine, 'first');
  await here.engine.rested(SESSION);
  await here.engine.drain(1_000);
  expect(table.held.size).toBe(0);
  const there = await setStage([says('Two.')], { store, parts: { leases: openMemoryLeases(table) } });
  await say(there.engine, 'second');
  await there.engine.rested(SESSION);
  expect(there.provider.prompts).toHaveLength(1);
});

test('a driver that lost its lease starts no tool and calls no model', async () => {
  const leases = openMemoryLeases();
  let good = true;
  const stage = await setStage([calls('lookup', { word: 'a' }), says('Never.')], {
    parts: { leases: { ...leases, good: (lease) => good && leases.good(lease) } },
  });
  await stage.engine.watch(SESSION, (event) => {
    if (event.type === 'tool.started') good = false;
  });
  const started = stage.happens('tool.started');
  await say(stage.engine, 'Go');
  await started;
  await stage.engine.drain(1_000);
  expect(stage.events.at(-1)?.type).toBe('tool.started');
  expect(stage.provider.prompts).toHaveLength(1);
});
