/** Subscribers on other nodes than the driver. */
import { afterEach, describe, expect, test } from 'bun:test';
import { isDurable, type SessionEvent, type SessionId, textPart } from '@parlance/protocol';
import { CALLER, SESSION, say } from '../../testing/harness.ts';
import { HarnessCluster, type HarnessNode } from '../../testing/nodes.ts';
import { asksUser, reply } from '../../testing/play-scenario.ts';
import { calls, type Line, says, USAGE, writtenModel } from '../../testing/scripted-provider.ts';
import { slowness, until } from '../../testing/until.ts';
import { askUser } from '../../tools/ask-user.ts';

let opened: HarnessNode[] = [];
afterEach(async () => {
  await Promise.all(opened.map(({ engine }) => engine.drain(0)));
  opened = [];
});

async function openNode(cluster: HarnessCluster, ...given: Parameters<HarnessCluster['open']>) {
  const node = await cluster.open(...given);
  opened.push(node);
  return node;
}

const rename = (title: string) => ({ type: 'session.rename', title }) as const;

const textIn = (events: readonly SessionEvent[]): string =>
  events.map((event) => (event.type === 'text.delta' ? event.text : '')).join('');
const has = (node: Pick<HarnessNode, 'events'>, type: SessionEvent['type']): boolean =>
  node.events.some((event) => event.type === type);

/** Durable events as stored, each once and in order, and all deltas of a block before its end. */
async function expectWhole(cluster: HarnessCluster, events: readonly SessionEvent[], text: string) {
  expect(events.filter(isDurable)).toEqual(await cluster.store.read(SESSION, 0, 1_000));
  expect(textIn(events)).toBe(text);
  const end = events.findIndex(({ type }) => type === 'text.ended');
  expect(events.slice(end).some(({ type }) => type === 'text.delta')).toBe(false);
}

describe('readers on another node', () => {
  test('receive every event once and in order, like those on the driver', async () => {
    const cluster = new HarnessCluster();
    const model = writtenModel();
    const here = await openNode(cluster, [], { parts: { provider: model.provider } });
    const there = await openNode(cluster, []);
    const third = await openNode(cluster, []);
    await say(here.engine, 'Hi');
    await model.begun;
    for (const word of ['One ', 'two ', 'three']) {
      model.write(word);
      await until(() => textIn(there.events).endsWith(word) && textIn(third.events).endsWith(word));
    }
    expect((await there.engine.snapshot(SESSION)).open?.text).toBe('One two three');
    model.end();
    await until(() => has(there, 'turn.ended') && has(third, 'turn.ended'));
    for (const node of [here, there, third]) await expectWhole(cluster, node.events, 'One two three');
  });

  test('that join in the middle of a block receive its text so far', async () => {
    const cluster = new HarnessCluster();
    const model = writtenModel();
    const here = await openNode(cluster, [], { parts: { provider: model.provider } });
    await say(here.engine, 'Hi');
    await model.begun;
    model.write('One two ');
    await until(() => textIn(here.events) === 'One two ');
    const there = await openNode(cluster, []);
    expect((await there.engine.snapshot(SESSION)).open?.text).toBe('One two ');
    model.write('three');
    await until(() => textIn(there.events).endsWith('three'));
    model.end();
    await until(() => has(there, 'turn.ended'));
    const seen: SessionEvent[] = [];
    await there.engine.watch(SESSION, (event) => seen.push(event), { after: 0 });
    expect(seen.filter(isDurable)).toEqual(await cluster.store.read(SESSION, 0, 1_000));
    expect((await there.engine.snapshot(SESSION)).open).toBeNull();
  });

  test('receive the arguments of a call while they are streamed on another node', async () => {
    const cluster = new HarnessCluster();
    const part = (text: string): Line => ({
      type: 'arguments',
      index: 0,
      call: 'call_1',
      tool: 'lookup',
      text,
    });
    const written = [part('{"word"'), part(':"a"}'), { type: 'hang' } as const];
    const there = await openNode(cluster, []);
    const here = await openNode(cluster, [written]);
    await say(here.engine, 'Hi');
    await here.provider.hanging;
    const inThere = () => there.events.filter(({ type }) => type === 'call.arguments.delta');
    await until(() => inThere().length === 2);
    expect(inThere()).toMatchObject([{ offset: 0 }, { offset: 7, text: ':"a"}' }]);
    expect((await there.engine.snapshot(SESSION)).openArguments).toMatchObject([{ text: '{"word":"a"}' }]);
    await there.engine.send(SESSION, { type: 'turn.cancel' }, CALLER);
    expect((await there.engine.snapshot(SESSION)).openArguments).toEqual([]);
  });

  test('that join while arguments are streamed, or miss a part, receive all of them once', async () => {
    const cluster = new HarnessCluster();
    const model = writtenModel();
    const here = await openNode(cluster, [], { parts: { provider: model.provider } });
    const write = (text: string) =>
      model.say({ type: 'arguments', index: 0, call: 'call_1', tool: 'lookup', text });
    const argumentsIn = async (node: HarnessNode) =>
      (await node.engine.snapshot(SESSION)).openArguments.map(({ text }) => text).join();
    await say(here.engine, 'Hi');
    await model.begun;
    write('{"word"');
    await until(async () => (await argumentsIn(here)) === '{"word"');
    const there = await openNode(cluster, []);
    expect(await argumentsIn(there)).toBe('{"word"');
    cluster.network.cut(there.leases.node);
    write(':"a');
    await until(async () => (await argumentsIn(here)) === '{"word":"a');
    cluster.network.repair(there.leases.node);
    write('b"}');
    await until(async () => (await argumentsIn(there)) === '{"word":"ab"}');
    const deltas = there.events.flatMap((event) => (event.type === 'call.arguments.delta' ? [event] : []));
    expect(deltas.map(({ text }) => text).join('')).toBe(':"ab"}');
    await here.engine.send(SESSION, { type: 'turn.cancel' }, CALLER);
  });

  test('keep an ephemeral session that is unused on the other nodes', async () => {
    const cluster = new HarnessCluster();
    const ref = { ...SESSION, id: 'brief' as SessionId };
    const parts = { ephemeralIdleMs: 1 };
    const there = await openNode(cluster, [], { parts });
    const here = await openNode(cluster, [], { parts });
    const other = { ...SESSION, id: 'left' as SessionId };
    const create = { type: 'session.create', ephemeral: true } as const;
    await there.engine.send(ref, create, CALLER);
    const watch = await there.engine.watch(ref, () => undefined);
    await there.engine.send(other, create, CALLER);
    await here.engine.recover();
    await until(async () => (await cluster.store.load(other)) === null);
    expect(await cluster.store.load(ref)).not.toBeNull();
    watch.stop();
    await until(async () => (await cluster.store.load(ref)) === null);
  });

  test('keep an ephemeral session without a bus; unused ones are erased', async () => {
    const cluster = new HarnessCluster();
    cluster.network.down();
    const parts = { ephemeralIdleMs: Math.round(400 * slowness()), now: Date.now };
    const [there, here] = [await openNode(cluster, [], { parts }), await openNode(cluster, [], { parts })];
    const [ref, left] = ['brief', 'left'].map((id) => ({ ...SESSION, id: id as SessionId }));
    if (!ref || !left) return expect.unreachable();
    const create = { type: 'session.create', ephemeral: true } as const;
    for (const each of [ref, left]) await there.engine.send(each, create, CALLER);
    const watch = await there.engine.watch(ref, () => undefined);
    for (const node of [there, here]) await node.engine.recover();
    await until(async () => (await cluster.store.load(left)) === null);
    const before = (await cluster.store.load(ref))?.updatedAt ?? 0;
    await until(async () => ((await cluster.store.load(ref))?.updatedAt ?? 0) > before);
    watch.stop();
    await until(async () => (await cluster.store.load(ref)) === null);
  });

  test('receive the whole text without a bus, block by block', async () => {
    const cluster = new HarnessCluster();
    cluster.network.down();
    const here = await openNode(cluster, [says('One ', 'two.')]);
    const there = await openNode(cluster, []);
    await say(here.engine, 'Hi');
    await until(() => has(there, 'turn.ended'));
    await expectWhole(cluster, there.events, 'One two.');
  });

  test('miss nothing if the bus fails and recovers in the middle of a block', async () => {
    const cluster = new HarnessCluster();
    const model = writtenModel();
    const here = await openNode(cluster, [], { parts: { provider: model.provider } });
    const there = await openNode(cluster, []);
    await say(here.engine, 'Hi');
    await model.begun;
    model.write('One ');
    await until(() => textIn(there.events) === 'One ');
    cluster.network.down();
    model.write('two ');
    await until(() => textIn(here.events) === 'One two ');
    cluster.network.up();
    await until(() => textIn(there.events) === 'One two ');
    model.write('three');
    model.end();
    await until(() => has(there, 'turn.ended'));
    await expectWhole(cluster, there.events, 'One two three');
  });

  test('receive all sessions of an owner, including those not in memory', async () => {
    const cluster = new HarnessCluster();
    const here = await openNode(cluster, [says('Yes.')]);
    const there = await openNode(cluster, []);
    const received: SessionEvent[] = [];
    const stop = there.engine.watchOwner(SESSION.owner, (event) => received.push(event));
    const other = { ...SESSION, id: 'another' as SessionId };
    // Wait until the other node knows about this subscription.
    for (let title = 0; received.length === 0; title++) {
      const command = title === 0 ? ({ type: 'session.create' } as const) : rename(String(title));
      await here.engine.send(other, command, CALLER);
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
    const before = await cluster.store.head(other);
    await until(() => received.filter(isDurable).at(-1)?.seq === before);
    received.length = 0;
    await here.engine.send(other, { type: 'input.submit', parts: [textPart('Hi')], mode: 'queue' }, CALLER);
    await until(() => received.some(({ type }) => type === 'turn.ended'));
    expect(received.filter(isDurable)).toEqual(await cluster.store.read(other, before, 1_000));
    expect(textIn(received)).toBe('Yes.');
    stop();
  });

  test('of all sessions of an owner receive each event with the session state of that moment', async () => {
    const cluster = new HarnessCluster();
    const model = writtenModel();
    const here = await openNode(cluster, [], { parts: { provider: model.provider } });
    const there = await openNode(cluster, []);
    const other = { ...SESSION, id: 'another' as SessionId };
    const received: { event: SessionEvent; seq: number; since: number[] }[] = [];
    await here.engine.send(other, { type: 'input.submit', parts: [textPart('Hi')], mode: 'queue' }, CALLER);
    await model.begun;
    model.write('Yes.');
    const stop = there.engine.watchOwner(SESSION.owner, (event, session) => {
      const since = session.eventsSinceIdle().map(({ seq }) => seq);
      received.push({ event, seq: session.snapshot().seq, since });
    });
    // Wait until the other node knows about this subscription.
    await here.engine.send(SESSION, { type: 'session.create' }, CALLER);
    for (let title = 0; received.length === 0; title++) {
      await here.engine.send(SESSION, rename(String(title)), CALLER);
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
    model.end();
    // By the time the session is loaded there, the whole turn is stored.
    await until(() => received.some(({ event }) => event.type === 'turn.ended'));
    const stored = await cluster.store.read(other, 0, 1_000);
    const durable = received.filter(({ event }) => isDurable(event) && event.session === other.id);
    expect(durable.map(({ event }) => event)).toEqual(stored.slice(-3) as SessionEvent[]);
    expect(textIn(received.map(({ event }) => event))).toBe('Yes.');
    expect(durable).toMatchObject([
      { seq: 4, since: [2, 3, 4] },
      { seq: 5, since: [2, 3, 4, 5] },
      { seq: 6, since: [] },
    ]);
    stop();
  });

  test('are notified that the session was erased', async () => {
    const cluster = new HarnessCluster();
    const here = await openNode(cluster, [says('Yes.')]);
    const there = await openNode(cluster, []);
    await say(here.engine, 'Hi');
    await until(() => has(there, 'turn.ended'));
    await here.engine.erase(SESSION, CALLER);
    await until(() => has(there, 'session.erased'));
    expect((await there.engine.snapshot(SESSION)).seq).toBe(0);
  });
});

test('a session erased while the bus was down is reported as erased, then as new', async () => {
  const cluster = new HarnessCluster();
  const here = await openNode(cluster, [says('One.'), says('Two.')]);
  const there = await openNode(cluster, []);
  await say(here.engine, 'Hi');
  await until(() => has(there, 'turn.ended'));
  cluster.network.down();
  await here.engine.erase(SESSION, CALLER);
  await here.engine.send(SESSION, { type: 'session.create' }, CALLER);
  await until(() => there.events.at(-1)?.type === 'session.created');
  expect(has(there, 'session.erased')).toBe(true);
  expect((await there.engine.snapshot(SESSION)).seq).toBe(1);
});

describe('an interruption through another node', () => {
  test('keeps exactly the streamed text, and the driver sends nothing more', async () => {
    const cluster = new HarnessCluster();
    const model = writtenModel();
    const here = await openNode(cluster, [], { parts: { provider: model.provider } });
    const there = await openNode(cluster, []);
    await say(here.engine, 'Hi');
    await model.begun;
    model.write('One ');
    await until(() => textIn(there.events) === 'One ');
    model.write('two');
    await until(() => textIn(here.events) === 'One two');
    await there.engine.send(SESSION, { type: 'turn.cancel' }, CALLER);
    model.write(' three');
    await until(() => has(here, 'turn.cancelled') && has(there, 'turn.cancelled'));
    const stored = await cluster.store.read(SESSION, 0, 1_000);
    expect(stored.find(({ type }) => type === 'text.ended')).toMatchObject({ text: 'One two' });
    for (const node of [here, there]) await expectWhole(cluster, node.events, 'One two');
  });

  test('with a new input moves the session to the node of the input', async () => {
    const cluster = new HarnessCluster();
    const model = writtenModel();
    const here = await openNode(cluster, [], { parts: { provider: model.provider } });
    const there = await openNode(cluster, [says('Instead.')]);
    await say(here.engine, 'Hi');
    await model.begun;
    model.write('Half');
    await until(() => textIn(here.events) === 'Half');
    await say(there.engine, 'No, this', 'supersede');
    await until(() => has(here, 'turn.ended') && has(there, 'turn.ended'));
    expect(model.prompts).toHaveLength(1);
    expect(there.provider.prompts).toHaveLength(1);
    const stored = await cluster.store.read(SESSION, 0, 1_000);
    expect(stored.filter(({ type }) => type === 'turn.cancelled')).toHaveLength(1);
    for (const node of [here, there]) {
      expect(node.events.filter(isDurable)).toEqual(stored);
      expect(textIn(node.events)).toBe('HalfInstead.');
    }
  });

  test('that fails lets the driver continue', async () => {
    const cluster = new HarnessCluster();
    const model = writtenModel();
    const here = await openNode(cluster, [], { parts: { provider: model.provider } });
    const there = await openNode(cluster, []);
    await say(here.engine, 'Hi');
    await model.begun;
    model.write('Half');
    await until(() => textIn(there.events) === 'Half');
    there.stall();
    void there.engine.send(SESSION, { type: 'turn.cancel' }, CALLER);
    await until(() => model.prompts.length > 1);
    model.write('Whole');
    model.end();
    await until(() => has(here, 'turn.ended'));
    expect(has(here, 'step.restarted')).toBe(true);
    expect(has(here, 'turn.cancelled')).toBe(false);
  });
});

test('a replaced driver adds nothing to the output of the new one', async () => {
  const cluster = new HarnessCluster();
  const [old, fresh] = [writtenModel(), writtenModel()];
  const here = await openNode(cluster, [], { parts: { provider: old.provider } });
  const there = await openNode(cluster, [], { parts: { provider: fresh.provider } });
  await say(here.engine, 'Hi');
  await old.begun;
  old.write('Void ');
  await until(() => textIn(there.events) === 'Void ');
  here.replace();
  await there.engine.recover();
  await fresh.begun;
  fresh.write('One ');
  await until(() => textIn(here.events) === 'Void One ');
  old.write('late ');
  fresh.write('two');
  fresh.end();
  await until(() => has(here, 'turn.ended') && has(there, 'turn.ended'));
  for (const node of [here, there]) {
    expect(textIn(node.events)).toBe('Void One two');
    expect(node.events.filter(isDurable)).toEqual(await cluster.store.read(SESSION, 0, 1_000));
  }
});

test('a call approved through another node continues while another one runs', async () => {
  const cluster = new HarnessCluster();
  const both: Line[] = [
    { type: 'call', call: 'one', tool: 'endless', input: {} },
    { type: 'call', call: 'two', tool: 'shell', input: { command: ['ls'] } },
    { type: 'ended', usage: USAGE, stop: 'calls' },
  ];
  const here = await openNode(cluster, [both]);
  const there = await openNode(cluster, []);
  const asked = there.nextEvent('approval.requested');
  await say(here.engine, 'Go');
  await asked;
  await there.engine.send(SESSION, { type: 'approval.answer', answer: 'once' }, CALLER);
  await until(() => here.events.some((event) => event.type === 'tool.ended' && event.call === 'two'));
  expect(there.provider.prompts).toHaveLength(0);
  expect(calls('shell', {})).toHaveLength(2);
});

test('a call denied through another node does not start while another one runs', async () => {
  const cluster = new HarnessCluster();
  const both: Line[] = [
    { type: 'call', call: 'one', tool: 'endless', input: {} },
    { type: 'call', call: 'two', tool: 'shell', input: { command: ['ls'] } },
    { type: 'ended', usage: USAGE, stop: 'calls' },
  ];
  const here = await openNode(cluster, [both]);
  const there = await openNode(cluster, []);
  const asked = there.nextEvent('approval.requested');
  await say(here.engine, 'Go');
  await asked;
  await there.engine.send(SESSION, { type: 'approval.answer', answer: 'deny' }, CALLER);
  await until(() => has(here, 'tool.ended'));
  // What follows from the denial is decided before a later command.
  for (const title of ['once', 'twice']) await here.engine.send(SESSION, rename(title), CALLER);
  const ofTwo = (await cluster.store.read(SESSION, 0, 1_000)).filter(
    (event) => 'call' in event && event.call === 'two',
  );
  expect(ofTwo.map(({ type }) => type)).toEqual([
    'call.requested',
    'approval.requested',
    'approval.answered',
    'tool.ended',
  ]);
});

test('a steering message sent to another node joins the turn of the driver', async () => {
  const cluster = new HarnessCluster();
  const here = await openNode(cluster, [calls('errand', { what: 'click' }), says('Clicked.')]);
  const there = await openNode(cluster, []);
  await say(here.engine, 'Click it');
  await until(() => has(there, 'call.deferred'));
  const deferred = there.events.find((event) => event.type === 'call.deferred');
  await say(there.engine, 'Keep it short', 'steer');
  if (!deferred) throw new Error('no call was deferred');
  const { call } = deferred;
  await there.engine.send(SESSION, { type: 'call.answer', call, parts: [textPart('clicked')] }, CALLER);
  await until(() => has(here, 'turn.ended') && has(there, 'turn.ended'));
  const types = (await cluster.store.read(SESSION, 0, 1_000)).map(({ type }) => type);
  expect(types.filter((type) => type === 'input.joined')).toHaveLength(1);
  expect(types.filter((type) => type === 'turn.started')).toHaveLength(1);
  expect(types.indexOf('input.joined')).toBeGreaterThan(types.indexOf('tool.ended'));
});

test('a question of the driver is answered once, by whichever node is first', async () => {
  const cluster = new HarnessCluster();
  const here = await openNode(cluster, [asksUser, says('Done.')], { tools: [askUser] });
  const there = await openNode(cluster, [says('Done.')], { tools: [askUser] });
  await say(here.engine, 'Set it up');
  await until(() => has(here, 'question.asked') && has(there, 'question.asked'));
  const sent = await Promise.allSettled([
    there.engine.send(SESSION, { type: 'question.answer', answers: { '1': ['SQLite'] } }, CALLER),
    here.engine.send(SESSION, reply('2'), CALLER),
  ]);
  await until(() => has(here, 'turn.ended') && has(there, 'turn.ended'));
  const types = (await cluster.store.read(SESSION, 0, 1_000)).map(({ type }) => type);
  expect(types.filter((type) => type === 'question.answered')).toHaveLength(1);
  expect(sent.some(({ status }) => status === 'fulfilled')).toBe(true);
});
