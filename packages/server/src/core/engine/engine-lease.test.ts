import { expect, test } from 'bun:test';
import { LeaseTable, openMemoryLeases } from '../../stores/sqlite/leases.ts';
import { CALLER, createHarness, SESSION, say } from '../../testing/harness.ts';
import { calls, says } from '../../testing/scripted-provider.ts';
import { openMemoryStore } from '../../testing/stores/memory/store.ts';

test('only the node that holds the lease drives a session', async () => {
  const [store, table] = [openMemoryStore(), new LeaseTable()];
  const here = await createHarness([calls('endless', {})], { store, leases: openMemoryLeases(table, store) });
  const started = here.nextEvent('tool.started');
  await say(here.engine, 'Go');
  await started;
  const there = await createHarness([says('Mine.')], { store, leases: openMemoryLeases(table, store) });
  expect(await there.engine.recover()).toBe(0);
  await there.engine.snapshot(SESSION);
  expect(there.provider.prompts).toHaveLength(0);

  const cancelled = here.nextEvent('turn.cancelled');
  await here.engine.send(SESSION, { type: 'turn.cancel' }, CALLER);
  await cancelled;
});

test('the lease is released when the session is idle, and another node can continue', async () => {
  const [store, table] = [openMemoryStore(), new LeaseTable()];
  const here = await createHarness([says('One.')], { store, leases: openMemoryLeases(table, store) });
  await say(here.engine, 'first');
  await here.engine.whenIdle(SESSION);
  await here.engine.drain(1_000);
  expect(table.held.size).toBe(0);
  const there = await createHarness([says('Two.')], { store, leases: openMemoryLeases(table, store) });
  await say(there.engine, 'second');
  await there.engine.whenIdle(SESSION);
  expect(there.provider.prompts).toHaveLength(1);
});

test('a driver that lost its lease starts no tool and calls no model', async () => {
  const store = openMemoryStore();
  const leases = openMemoryLeases(new LeaseTable(), store);
  let good = true;
  const harness = await createHarness([calls('lookup', { word: 'a' }), says('Never.')], {
    store,
    leases: { ...leases, good: (lease) => good && leases.good(lease) },
  });
  await harness.engine.watch(SESSION, (event) => {
    if (event.type === 'tool.started') good = false;
  });
  const started = harness.nextEvent('tool.started');
  await say(harness.engine, 'Go');
  await started;
  await harness.engine.drain(1_000);
  expect(harness.events.at(-1)?.type).toBe('tool.started');
  expect(harness.provider.prompts).toHaveLength(1);
});
