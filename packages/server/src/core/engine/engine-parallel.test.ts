import { describe, expect, test } from 'bun:test';
import { type ApprovalId, type Ask, type DurableEvent, type Json, textPart } from '@parlance/protocol';
import { z } from 'zod';
import { CALLER, createHarness, type Harness, SESSION, say } from '../../testing/harness.ts';
import { type Line, says, USAGE } from '../../testing/scripted-provider.ts';
import type { Commit, RunStatus } from '../index.ts';
import { defineTool, type Tool } from '../ports/tool.ts';

/** One answer with several calls, numbered from 1. */
const answer = (...wanted: (readonly [tool: string, input: Record<string, Json>])[]): Line[] => [
  ...wanted.map(([tool, input], at): Line => ({ type: 'call', call: `call_${at + 1}`, tool, input })),
  { type: 'ended', usage: USAGE, stop: 'calls' },
];

/** A tool whose calls run until the test releases them, by the name in their input. */
function held(options: Partial<Tool> = {}) {
  const running: string[] = [];
  const ends = new Map<string, () => void>();
  const begun = new Map<string, PromiseWithResolvers<void>>();
  const slot = (name: string) => {
    const known = begun.get(name) ?? Promise.withResolvers<void>();
    begun.set(name, known);
    return known;
  };
  const tool = defineTool({
    name: 'held',
    description: 'Runs until it is released.',
    input: z.object({ name: z.string() }),
    approval: () => null,
    run: async ({ name }) => {
      running.push(name);
      const end = Promise.withResolvers<void>();
      ends.set(name, end.resolve);
      slot(name).resolve();
      await end.promise;
      running.splice(running.indexOf(name), 1);
      return { parts: [textPart(`${name} done`)] };
    },
    ...(options as object),
  });
  return {
    tool,
    running,
    begun: (name: string) => slot(name).promise,
    end: (name: string) => ends.get(name)?.(),
  };
}

const named = (name: string) => ['held', { name }] as const;
const durable = (harness: Harness) => harness.events.filter((event): event is DurableEvent => 'seq' in event);
const callEvents = (harness: Harness) =>
  durable(harness).flatMap((event) =>
    event.type === 'tool.started' || event.type === 'tool.ended' || event.type === 'approval.requested'
      ? [`${event.type} ${event.call}`]
      : [],
  );

describe('calls of one answer', () => {
  test('run in parallel, and the model receives their results in call order', async () => {
    const { tool, running, begun, end } = held();
    const harness = await createHarness([answer(named('a'), named('b')), says('Done.')], { tools: [tool] });
    await say(harness.engine, 'Go');
    await Promise.all([begun('a'), begun('b')]);
    expect(running).toEqual(['a', 'b']);
    const second = harness.nextEvent('tool.ended');
    end('b');
    expect((await second).call).toBe('call_2' as never);
    end('a');
    await harness.engine.whenIdle(SESSION);
    expect(callEvents(harness)).toEqual([
      'tool.started call_1',
      'tool.started call_2',
      'tool.ended call_2',
      'tool.ended call_1',
    ]);
    const results = harness.provider.prompts[1]?.items.flatMap((item) =>
      item.kind === 'result' ? [item.call] : [],
    );
    expect(results).toEqual(['call_1', 'call_2']);
  });

  test('are started by the append that ends their step', async () => {
    const harness = await createHarness([
      answer(['lookup', { word: 'a' }], ['lookup', { word: 'b' }]),
      says('Done.'),
    ]);
    const appends: string[][] = [];
    const append = harness.store.append.bind(harness.store);
    harness.store.append = (expected, events, record) => {
      appends.push(events.map(({ type }) => type));
      return append(expected, events, record);
    };
    await say(harness.engine, 'Go');
    await harness.engine.whenIdle(SESSION);
    expect(appends[1]).toEqual([
      'call.requested',
      'call.requested',
      'step.ended',
      'tool.started',
      'tool.started',
    ]);
  });

  test('run up to the server’s limit; the others start when one ends', async () => {
    const { tool, running, begun, end } = held();
    const harness = await createHarness([answer(named('a'), named('b'), named('c')), says('Done.')], {
      tools: [tool],
      parts: { parallelCalls: 2 },
    });
    await say(harness.engine, 'Go');
    await Promise.all([begun('a'), begun('b')]);
    expect(running).toEqual(['a', 'b']);
    end('a');
    await begun('c');
    expect(running).toEqual(['b', 'c']);
    for (const name of ['b', 'c']) end(name);
    await harness.engine.whenIdle(SESSION);
    expect(durable(harness).at(-1)?.type).toBe('turn.ended');
  });

  test('all stop on cancel', async () => {
    const harness = await createHarness([
      answer(['endless', {}], ['endless', {}], ['shell', { command: ['ls'] }]),
    ]);
    const asked = harness.nextEvent('approval.requested');
    await say(harness.engine, 'Go');
    await asked;
    await harness.engine.send(SESSION, { type: 'turn.cancel' }, CALLER);
    await harness.engine.whenIdle(SESSION);
    const ended = durable(harness).flatMap((event) => (event.type === 'tool.ended' ? [event.outcome] : []));
    expect(ended).toEqual(['unknown', 'unknown', 'aborted']);
    expect(durable(harness).at(-1)?.type).toBe('turn.cancelled');
  });
});

describe('a call that waits for an approval', () => {
  test('does not block the others, and runs in parallel once approved', async () => {
    const { tool, running, begun, end } = held();
    const asking = held({
      name: 'asking',
      approval: () => ({ kind: 'other', command: [], description: 'It asks.' }),
    });
    const harness = await createHarness([answer(['asking', { name: 'x' }], named('a')), says('Done.')], {
      tools: [tool, asking.tool],
    });
    const asked = harness.nextEvent('approval.requested');
    await say(harness.engine, 'Go');
    await Promise.all([asked, begun('a')]);
    expect((await harness.engine.record(SESSION))?.status).toBe('running');
    await harness.engine.send(SESSION, { type: 'approval.answer', answer: 'once' }, CALLER);
    await asking.begun('x');
    expect([...running, ...asking.running]).toEqual(['a', 'x']);
    end('a');
    asking.end('x');
    await harness.engine.whenIdle(SESSION);
    expect(durable(harness).at(-1)?.type).toBe('turn.ended');
  });

  test('blocks the turn only after the append that also starts another call', async () => {
    const { tool, begun, end } = held();
    const alone = held({ name: 'alone', exclusive: 'always' });
    const asking = held({
      name: 'asking',
      approval: () => ({ kind: 'other', command: [], description: 'It asks.' }),
    });
    const wanted = answer(['alone', { name: 'x' }], ['asking', { name: 'y' }], named('a'));
    const harness = await createHarness([wanted, says('Done.')], {
      tools: [tool, alone.tool, asking.tool],
    });
    const commits: Commit[] = [];
    const sizes: number[] = [];
    const watch = await harness.engine.watch(SESSION, () => sizes.push(commits.length), {
      committed: (commit) => commits.push(commit),
    });
    await say(harness.engine, 'Go');
    await alone.begun('x');
    alone.end('x');
    await begun('a');
    const { events = [], status } = commits.at(-1) ?? {};
    expect(events.map(({ type }) => type)).toEqual(['tool.ended', 'approval.requested', 'tool.started']);
    expect(status).toEqual({ kind: 'running' });
    expect(sizes.slice(-events.length)).toEqual(events.map(() => commits.length - 1));
    end('a');
    await harness.engine.whenIdle(SESSION);
    expect(commits.at(-1)?.status).toMatchObject({ kind: 'blocked', approvals: [{ call: 'call_2' }] });
    expect(watch.status()).toBe(commits.at(-1)?.status as RunStatus);
    await harness.engine.send(SESSION, { type: 'approval.answer', answer: 'deny' }, CALLER);
    await harness.engine.whenIdle(SESSION);
    expect(commits.at(-1)?.status).toEqual({ kind: 'idle' });
    expect(commits.filter(({ status: { kind } }) => kind === 'blocked')).toHaveLength(1);
  });

  test('keeps the session waiting after the others have ended', async () => {
    const harness = await createHarness([
      answer(['shell', { command: ['ls'] }], ['lookup', { word: 'a' }]),
      says('Done.'),
    ]);
    await say(harness.engine, 'Go');
    await harness.engine.whenIdle(SESSION);
    expect((await harness.engine.record(SESSION))?.status).toBe('waiting');
    expect(harness.provider.prompts).toHaveLength(1);
    await harness.engine.send(SESSION, { type: 'approval.answer', answer: 'once' }, CALLER);
    await harness.engine.whenIdle(SESSION);
    expect(
      harness.provider.prompts[1]?.items.map((item) => ('call' in item ? item.call : item.kind)),
    ).toEqual(['user', 'call_1', 'call_2', 'call_1', 'call_2']);
  });

  test('can be one of several, answered in any order', async () => {
    const harness = await createHarness([
      answer(['shell', { command: ['one'] }], ['shell', { command: ['two'] }]),
      says('Done.'),
    ]);
    await say(harness.engine, 'Go');
    await harness.engine.whenIdle(SESSION);
    const { approval, approvals } = await harness.engine.snapshot(SESSION);
    expect(approvals.map(({ call }) => String(call))).toEqual(['call_1', 'call_2']);
    expect(approval).toEqual(approvals[0] ?? null);
    expect((await harness.engine.approvals(CALLER.principal, { limit: 10 })).waiting).toHaveLength(1);
    const second = approvals[1]?.approval as ApprovalId;
    await harness.engine.answer(second, { answer: 'deny' }, CALLER);
    expect((await harness.engine.snapshot(SESSION)).approvals.map(({ call }) => String(call))).toEqual([
      'call_1',
    ]);
    await expect(harness.engine.answer(second, { answer: 'once' }, CALLER)).rejects.toMatchObject({
      code: 'no_approval',
    });
    await harness.engine.send(SESSION, { type: 'approval.answer', answer: 'once' }, CALLER);
    await harness.engine.whenIdle(SESSION);
    const outcomes = durable(harness).flatMap((event) =>
      event.type === 'tool.ended' ? [[String(event.call), event.outcome]] : [],
    );
    expect(outcomes).toEqual([
      ['call_2', 'denied'],
      ['call_1', 'ok'],
    ]);
  });
});

describe('an exclusive call', () => {
  test('runs alone, in order', async () => {
    const { tool, running, begun, end } = held();
    const alone = held({ name: 'alone', exclusive: 'always' });
    const harness = await createHarness(
      [answer(named('a'), ['alone', { name: 'x' }], ['alone', { name: 'y' }], named('b')), says('Done.')],
      { tools: [tool, alone.tool] },
    );
    await say(harness.engine, 'Go');
    await begun('a');
    end('a');
    await alone.begun('x');
    expect([running, alone.running]).toEqual([[], ['x']]);
    alone.end('x');
    await alone.begun('y');
    expect([running, alone.running]).toEqual([[], ['y']]);
    alone.end('y');
    await begun('b');
    end('b');
    await harness.engine.whenIdle(SESSION);
    expect(callEvents(harness)).toEqual(
      [1, 2, 3, 4].flatMap((n) => [`tool.started call_${n}`, `tool.ended call_${n}`]),
    );
  });

  test('requests its approval when the calls before it have ended', async () => {
    const ask: Ask = { kind: 'edit', command: [], description: 'It edits.' };
    const edit = held({ name: 'edit', exclusive: 'always', approval: () => ask });
    const harness = await createHarness(
      [answer(['edit', { name: 'x' }], ['edit', { name: 'y' }], ['lookup', { word: 'a' }]), says('Done.')],
      { tools: [edit.tool] },
    );
    await say(harness.engine, 'Go');
    await harness.engine.whenIdle(SESSION);
    expect(callEvents(harness)).toEqual([
      'tool.started call_3',
      'approval.requested call_1',
      'tool.ended call_3',
    ]);
    await harness.engine.send(SESSION, { type: 'approval.answer', answer: 'deny' }, CALLER);
    await harness.engine.whenIdle(SESSION);
    expect(callEvents(harness).slice(3)).toEqual(['tool.ended call_1', 'approval.requested call_2']);
  });

  test('runs in parallel if it is exclusive only when asked, and needs no approval', async () => {
    const maybe = held({ name: 'maybe', exclusive: 'if-asked' });
    const harness = await createHarness(
      [answer(['maybe', { name: 'x' }], ['maybe', { name: 'y' }]), says('Done.')],
      {
        tools: [maybe.tool],
      },
    );
    await say(harness.engine, 'Go');
    await Promise.all([maybe.begun('x'), maybe.begun('y')]);
    expect(maybe.running).toEqual(['x', 'y']);
    for (const name of ['x', 'y']) maybe.end(name);
    await harness.engine.whenIdle(SESSION);
  });
});
