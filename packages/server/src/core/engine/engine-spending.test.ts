import { describe, expect, test } from 'bun:test';
import { type Principal, PrincipalId, type SessionId, type SpendLimit, textPart } from '@parlance/protocol';
import { CALLER, createHarness, type HarnessOptions, SESSION, say } from '../../testing/harness.ts';
import { reply } from '../../testing/play-scenario.ts';
import {
  calls,
  conversationProvider,
  type Line,
  says,
  scriptedProvider,
} from '../../testing/scripted-provider.ts';
import { openMemoryStore } from '../../testing/stores/memory/store.ts';
import { agentTool } from '../../tools/agent.ts';
import { ROLES } from '../session/agent-catalog.ts';

/** 10 tokens in and 5 out cost 20 millionths of a dollar. */
const PRICE = { input: 1, output: 2 };
const STEP = { tokens: 15, cost: 20 };

const ADA: Principal = { ...CALLER.principal, id: PrincipalId.parse('ada') };

async function limited(
  answers: readonly (readonly Line[])[],
  limits: readonly SpendLimit[],
  options: HarnessOptions & { readonly store?: ReturnType<typeof openMemoryStore> } = {},
) {
  const store = options.store ?? openMemoryStore();
  const harness = await createHarness(answers, {
    ...options,
    store,
    parts: { usage: store.usage, spendLimits: () => limits, priceOf: () => PRICE, ...options.parts },
  });
  return { ...harness, usage: store.usage, store };
}

const until = async (harness: { engine: { whenIdle: (ref: typeof SESSION) => Promise<void> } }) =>
  harness.engine.whenIdle(SESSION);

describe('usage', () => {
  test('every step is counted with its price, the agent and the API key', async () => {
    const harness = await limited([calls('lookup', { word: 'a' }), says('Done.')], []);
    const caller = { ...CALLER, principal: { ...CALLER.principal, apiKey: 'key-1' } };
    await harness.engine.send(SESSION, { type: 'input.submit', parts: [textPart('go')] }, caller);
    await until(harness);
    expect(await harness.usage.report({}, ['owner', 'agent', 'apiKey', 'model', 'task', 'day'], 10)).toEqual([
      {
        owner: 'local',
        agent: 'coder',
        apiKey: 'key-1',
        model: 'offline',
        task: 'chat',
        day: '2026-01-01',
        calls: 2,
        inputTokens: 20,
        cachedTokens: 0,
        outputTokens: 10,
        reasoningTokens: 0,
        cost: 40,
        unpriced: 0,
        estimated: 0,
      },
    ]);
    expect(harness.events.filter(({ type }) => type === 'step.ended')).toMatchObject([
      { cost: 20 },
      { cost: 20 },
    ]);
  });

  test('counts that are no numbers, negative or enormous stay within what a sum can hold', async () => {
    const usage = { inputTokens: Number.NaN, outputTokens: -5, cachedTokens: 1e300 };
    const huge = { inputTokens: 1e300, outputTokens: 1.5, reasoningTokens: Number.POSITIVE_INFINITY };
    const harness = await limited(
      [
        [
          { type: 'text', text: 'a' },
          { type: 'ended', usage, stop: 'done' },
        ],
        [{ type: 'ended', usage: huge, stop: 'done' }],
      ],
      [],
    );
    await say(harness.engine, 'one');
    await until(harness);
    await say(harness.engine, 'two');
    await until(harness);
    const [, second] = harness.events.filter((event) => event.type === 'step.ended');
    expect(second).toMatchObject({ usage: { inputTokens: 1e9, outputTokens: 2 }, cost: 1e9 + 4 });
    expect(await harness.usage.spent({})).toEqual({ tokens: 1e9 + 2, cost: 1e9 + 4 });
  });

  test('a summary outside of any session is counted for its caller', async () => {
    const harness = await limited([says('Short.')], []);
    await harness.engine.summarise(ADA, { title: 'Title', content: 'Text' }, new AbortController().signal);
    expect(await harness.usage.report({}, ['owner', 'task'], 10)).toMatchObject([
      { owner: 'ada', task: 'summary', calls: 1, cost: STEP.cost },
    ]);
  });

  test('titles, explanations and compaction are counted for their session', async () => {
    const harness = await limited(
      [
        calls('shell', { command: ['ls'] }),
        says('It lists files.'),
        says('Done.'),
        says('A title'),
        says('A summary.'),
      ],
      [],
      { parts: { titles: 'native' } },
    );
    const asked = harness.nextEvent('approval.requested');
    await say(harness.engine, 'go '.repeat(50));
    await asked;
    await harness.engine.send(SESSION, { type: 'approval.explain' }, CALLER);
    const titled = harness.nextEvent('session.renamed');
    await harness.engine.send(SESSION, { type: 'approval.answer', answer: 'once' }, CALLER);
    await titled;
    await harness.engine.send(SESSION, { type: 'context.compact' }, CALLER);
    expect(await harness.usage.report({}, ['task'], 10)).toMatchObject([
      { task: 'chat', calls: 2 },
      { task: 'compaction', calls: 1 },
      { task: 'explanation', calls: 1 },
      { task: 'title', calls: 1 },
    ]);
    expect(await harness.usage.spent({})).toEqual({ tokens: 5 * STEP.tokens, cost: 5 * STEP.cost });
  });

  test('an import counts nothing again', async () => {
    const harness = await limited([says('Hi.')], []);
    await say(harness.engine, 'hello');
    await until(harness);
    const events = await Array.fromAsync(harness.engine.allEvents(SESSION));
    const record = await harness.engine.record(SESSION);
    const other = openMemoryStore();
    if (record) await other.append(0, events, record);
    expect(await other.usage.spent({})).toEqual({ tokens: 0, cost: 0 });
  });

  test('without limits, nothing is read: a step makes the same calls to the store as before', async () => {
    const store = openMemoryStore();
    const asked: string[] = [];
    const usage = new Proxy(store.usage, {
      get(target, name, receiver) {
        asked.push(String(name));
        return Reflect.get(target, name, receiver);
      },
    });
    const harness = await createHarness([calls('lookup', { word: 'a' }), says('Done.')], {
      store,
      parts: { usage, spendLimits: () => [] },
    });
    await say(harness.engine, 'go');
    await harness.engine.whenIdle(SESSION);
    expect(asked).toEqual([]);
    expect(await store.usage.spent({})).toEqual({ tokens: 30, cost: 0 });
  });
});

describe('an answer that is broken off', () => {
  const rows = (usage: ReturnType<typeof openMemoryStore>['usage']) => usage.report({}, [], 1);

  test('by a cancel counts what had arrived, as an estimate', async () => {
    const harness = await limited([[{ type: 'text', text: 'x'.repeat(400) }, { type: 'hang' }]], []);
    await say(harness.engine, 'go');
    await harness.provider.hanging;
    await harness.engine.send(SESSION, { type: 'turn.cancel' }, CALLER);
    await until(harness);
    const [event] = harness.events.filter((one) => one.type === 'usage.recorded');
    expect(event).toMatchObject({ task: 'chat', estimated: true, usage: { outputTokens: 100 } });
    const [row] = await rows(harness.usage);
    expect(row).toMatchObject({ calls: 1, estimated: 1, outputTokens: 100 });
    expect(row?.inputTokens).toBeGreaterThan(5);
    expect(row?.cost).toBe((row?.inputTokens ?? 0) + 200);
  });

  test('counts what the vendor had counted by then', async () => {
    const usage = { inputTokens: 1_234, outputTokens: 3, cachedTokens: 1_000 };
    const harness = await limited([[{ type: 'usage', usage }, { type: 'hang' }]], []);
    await say(harness.engine, 'go');
    await harness.provider.hanging;
    await harness.engine.send(SESSION, { type: 'turn.cancel' }, CALLER);
    await until(harness);
    expect(await rows(harness.usage)).toMatchObject([{ ...usage, calls: 1, estimated: 1 }]);
  });

  test('before anything of it arrived counts nothing', async () => {
    const harness = await limited([[{ type: 'hang' }]], []);
    await say(harness.engine, 'go');
    await harness.provider.hanging;
    await harness.engine.send(SESSION, { type: 'turn.cancel' }, CALLER);
    await until(harness);
    expect(await rows(harness.usage)).toMatchObject([{ calls: 0 }]);
  });

  const BROKEN = { type: 'text', text: 'Half of it' } as const;
  const fault = { code: 'provider_unavailable', message: 'The stream broke.' } as const;

  test('and is attempted again counts once for each attempt, for the turn', async () => {
    const harness = await limited(
      [[BROKEN, { type: 'retrying', attempt: 2, delayMs: 0, fault }, ...says('Whole.')]],
      [{ per: 'turn', tokens: 1_000 }],
    );
    await say(harness.engine, 'go');
    await until(harness);
    expect(await rows(harness.usage)).toMatchObject([{ calls: 2, estimated: 1 }]);
    const types = harness.events.map(({ type }) => type);
    expect(types.indexOf('usage.recorded')).toBe(types.indexOf('step.restarted') - 1);
  });

  test('and fails counts what had arrived; a failure without an answer counts nothing', async () => {
    const harness = await limited([[BROKEN, { type: 'failed', fault }], [{ type: 'failed', fault }]], []);
    await say(harness.engine, 'one');
    await until(harness);
    await say(harness.engine, 'two');
    await until(harness);
    expect(await rows(harness.usage)).toMatchObject([{ calls: 1, estimated: 1 }]);
  });
});

describe('sub-agents', () => {
  const spawn = (task: string) => calls('agent', { action: 'spawn', agent: 'worker', task });
  const work = (limits: readonly SpendLimit[]) =>
    limited([], limits, {
      tools: [agentTool(() => ROLES)],
      parts: {
        provider: conversationProvider({
          Go: [spawn('One'), says('Done.'), says('Again.')],
          One: [calls('lookup', { word: 'a' }), calls('lookup', { word: 'b' }), says('Found.')],
        }),
      },
    });
  const child = async ({ store }: { store: ReturnType<typeof openMemoryStore> }) =>
    (await store.list({ parent: SESSION.id, limit: 9 })).sessions[0]?.ref ?? SESSION;

  test('count for the limit per session of the one that they work for, each of their steps', async () => {
    const harness = await work([{ per: 'session', tokens: 30 }]);
    const failed = harness.nextEvent('turn.failed');
    await say(harness.engine, 'Go');
    // 15 of the parent and 15 of the child: no other step begins in either.
    expect((await failed).fault.code).toBe('budget_exhausted');
    const events = await harness.engine.events(await child(harness), 0, 100);
    expect(events.filter(({ type }) => type === 'step.ended')).toHaveLength(1);
    expect(events.at(-1)).toMatchObject({ type: 'parent.informed' });
    expect(await harness.usage.spent({})).toEqual({ tokens: 30, cost: 40 });
  });

  test("stop at the parent's own limit; the parent asks, counts them, and goes on with more", async () => {
    const harness = await work([]);
    await harness.engine.send(SESSION, { type: 'session.create' }, CALLER);
    await harness.engine.send(SESSION, { type: 'session.configure', limit: { tokens: 40 } }, CALLER);
    const asked = harness.nextEvent('question.asked');
    await say(harness.engine, 'Go');
    const { question, questions } = await asked;
    expect(questions[0]?.text).toBe(
      'The limit of 40 tokens of this session is used up (45 tokens). Continue?',
    );
    const result = harness.events.findLast((event) => event.type === 'tool.ended');
    expect(JSON.stringify(result)).toContain(
      'The limit of 40 tokens of the session that this one works for is used up.',
    );
    const ended = harness.nextEvent('turn.ended');
    const answers = { limit: ['Continue with +40 tokens'] };
    await harness.engine.send(SESSION, { type: 'question.answer', question, answers }, CALLER);
    await ended;
    expect(harness.events.findLast(({ type }) => type === 'session.configured')).toMatchObject({
      limit: { tokens: 85 },
    });
  });
});

describe('a limit of the operator', () => {
  const words = 'is used up';
  const steps = [calls('lookup', { word: 'a' }), calls('lookup', { word: 'b' }), says('Done.')];

  const CASES: readonly (readonly [string, SpendLimit, number])[] = [
    ['tokens of a turn', { per: 'turn', tokens: 30 }, 2],
    ['dollars of a turn', { per: 'turn', dollars: 0.00002 }, 1],
    ['tokens of a session', { per: 'session', tokens: 16 }, 2],
    ['tokens of a user per day', { per: 'user', in: 'day', tokens: 1 }, 1],
    ['dollars of a user per month', { per: 'user', in: 'month', dollars: 0.00003 }, 2],
    ['tokens of an agent', { per: 'agent', in: 'day', tokens: 15 }, 1],
    ['tokens of an API key', { per: 'key', in: 'day', tokens: 15 }, 1],
  ];
  for (const [name, limit, ran] of CASES)
    test(`${name}: the turn ends before the step that would begin above it`, async () => {
      const harness = await limited(steps, [limit]);
      const failed = harness.nextEvent('turn.failed');
      const caller = { ...CALLER, principal: { ...CALLER.principal, apiKey: 'key-1' } };
      await harness.engine.send(SESSION, { type: 'input.submit', parts: [textPart('go')] }, caller);
      expect((await failed).fault).toMatchObject({
        code: 'budget_exhausted',
        message: expect.stringContaining(words),
      });
      expect((await failed).fault.retryAfterMs).toBeUndefined();
      expect(harness.provider.prompts).toHaveLength(ran);
      const again = harness.engine.send(SESSION, { type: 'input.submit', parts: [textPart('more')] }, caller);
      if (limit.per === 'turn') expect((await again).events).not.toBeEmpty();
      else await expect(again).rejects.toMatchObject({ code: 'budget_exhausted' });
    });

  test('of zero allows nothing, and one that names somebody replaces the one for all', async () => {
    const harness = await limited(
      [says('Hi.')],
      [
        { per: 'user', in: 'day', tokens: 0 },
        { per: 'user', of: 'ada', in: 'day', tokens: 100 },
      ],
    );
    await expect(say(harness.engine, 'hello')).rejects.toMatchObject({ code: 'budget_exhausted' });
    expect(await harness.store.head(SESSION)).toBe(0);
    const ref = { owner: ADA.id, id: 'hers' as SessionId };
    await harness.engine.send(
      ref,
      { type: 'input.submit', parts: [textPart('hi')] },
      { ...CALLER, principal: ADA },
    );
    await harness.engine.whenIdle(ref);
    expect(harness.provider.prompts).toHaveLength(1);
  });

  test('is reset with the day or the month of the clock, in UTC', async () => {
    let now = Date.UTC(2026, 0, 31, 23, 59, 59, 0);
    const harness = await limited(
      [says('One.'), says('Two.'), says('Three.')],
      [{ per: 'user', in: 'day', tokens: 1 }],
      {
        parts: { now: () => now++ },
      },
    );
    await say(harness.engine, 'one');
    await until(harness);
    const refused = say(harness.engine, 'two').catch((thrown) => thrown.message);
    expect(await refused).toBe(
      'The limit of 1 tokens per day of the user local is used up. It is reset on 2026-02-01 (UTC).',
    );
    now += 2_000;
    await say(harness.engine, 'two');
    await until(harness);
    // Somebody sets the clock back: the day before is used up, and the day after is not counted twice.
    now -= 3_600_000;
    await expect(say(harness.engine, 'three')).rejects.toMatchObject({ code: 'budget_exhausted' });
    expect(await harness.usage.report({}, ['day'], 9)).toMatchObject([
      { day: '2026-01-31', calls: 1 },
      { day: '2026-02-01', calls: 1 },
    ]);
  });

  test('turns at the same time overshoot it by at most one step each, and those that begin later see what is reserved', async () => {
    const many = 5;
    const provider = scriptedProvider(Array.from({ length: 60 }, () => calls('lookup', { word: 'a' })));
    const harness = await limited([], [{ per: 'user', in: 'day', tokens: 100 }], {
      parts: { provider, maxSteps: 50 },
    });
    const refs = Array.from({ length: many }, (_, index) => ({ ...SESSION, id: `s${index}` as SessionId }));
    await Promise.all(
      refs.map((ref) => harness.engine.send(ref, { type: 'input.submit', parts: [textPart('go')] }, CALLER)),
    );
    await Promise.all(refs.map((ref) => harness.engine.whenIdle(ref)));
    const { tokens } = await harness.usage.spent({});
    expect(tokens).toBeGreaterThanOrEqual(90);
    expect(tokens).toBeLessThan(100 + many * STEP.tokens);
  });

  test('in dollars does not count a model without a price, and one in tokens does', async () => {
    const harness = await limited([says('a'), says('b')], [{ per: 'session', dollars: 0.000001 }], {
      parts: { priceOf: () => undefined },
    });
    await say(harness.engine, 'one');
    await until(harness);
    await say(harness.engine, 'two');
    await until(harness);
    expect(harness.provider.prompts).toHaveLength(2);
    expect(await harness.usage.report({}, [], 1)).toMatchObject([{ calls: 2, unpriced: 2, cost: 0 }]);
  });

  test('is announced once at 80 %, in the append that ends the step', async () => {
    const harness = await limited(
      [calls('lookup', { word: 'a' }), calls('lookup', { word: 'b' }), says('Done.'), says('Again.')],
      [{ per: 'user', in: 'day', tokens: 37 }],
    );
    await say(harness.engine, 'go');
    await until(harness);
    const durable = harness.events.map(({ type }) => type);
    expect(durable.filter((type) => type === 'limit.approached')).toHaveLength(1);
    expect(harness.events.find((event) => event.type === 'limit.approached')).toMatchObject({
      limit: { per: 'user', of: 'local', in: 'day', unit: 'tokens', max: 37, used: 30 },
    });
    const ref = { ...SESSION, id: 'other' as SessionId };
    const other = harness.engine.send(ref, { type: 'input.submit', parts: [textPart('go')] }, CALLER);
    await expect(other).rejects.toMatchObject({ code: 'budget_exhausted' });
  });

  test('a message that repeats an accepted one, steers or calls a tool needs no budget', async () => {
    const harness = await limited([says('Hi.')], [{ per: 'user', in: 'day', tokens: 1 }]);
    const once = { ...CALLER, key: 'once' };
    const send = () => harness.engine.send(SESSION, { type: 'input.submit', parts: [textPart('go')] }, once);
    await send();
    await until(harness);
    expect((await send()).events).toEqual([]);
    const call = { tool: 'lookup', input: { word: 'a' } };
    const direct = await harness.engine.send(SESSION, { type: 'input.submit', parts: [], call }, CALLER);
    expect(direct.events).not.toBeEmpty();
  });
});

describe('a limit of the owner', () => {
  const steps = [calls('lookup', { word: 'a' }), calls('lookup', { word: 'b' }), says('Done.')];

  async function paused(tokens = 20) {
    const harness = await limited(steps, []);
    await harness.engine.send(SESSION, { type: 'session.create' }, CALLER);
    await harness.engine.send(SESSION, { type: 'session.configure', limit: { tokens } }, CALLER);
    const asked = harness.nextEvent('question.asked');
    await say(harness.engine, 'go');
    return { ...harness, asked: await asked };
  }
  const answer = (harness: Awaited<ReturnType<typeof paused>>, label: string) =>
    harness.engine.send(
      SESSION,
      { type: 'question.answer', question: harness.asked.question, answers: { limit: [label] } },
      CALLER,
    );

  test('pauses the turn before the step that would begin above it, and continues with more', async () => {
    const harness = await paused();
    expect(harness.asked).toMatchObject({
      purpose: 'limit',
      questions: [
        {
          text: 'The limit of 20 tokens of this session is used up (30 tokens). Continue?',
          options: [
            { label: 'Continue with +20 tokens' },
            { label: 'Continue without a limit' },
            { label: 'Stop' },
          ],
        },
      ],
    });
    expect(harness.provider.prompts).toHaveLength(2);
    const ended = harness.nextEvent('turn.ended');
    const { events } = await answer(harness, 'Continue with +20 tokens');
    expect(events).toMatchObject([
      { type: 'question.answered', outcome: 'answered' },
      { type: 'session.configured', limit: { tokens: 50 } },
    ]);
    await ended;
    expect(harness.provider.prompts).toHaveLength(3);
  });

  test('continues without a limit', async () => {
    const harness = await paused();
    const ended = harness.nextEvent('turn.ended');
    await answer(harness, 'Continue without a limit');
    await ended;
    expect(harness.events.findLast(({ type }) => type === 'session.configured')).toMatchObject({
      limit: null,
    });
  });

  test('ends the turn if the user stops or declines, and asks the next turn again', async () => {
    const harness = await paused();
    const failed = harness.nextEvent('turn.failed');
    await answer(harness, 'Stop');
    expect((await failed).fault.code).toBe('budget_exhausted');
    const again = harness.nextEvent('question.asked');
    await say(harness.engine, 'more');
    const { question } = await again;
    const declined = harness.nextEvent('turn.failed');
    await harness.engine.send(SESSION, { type: 'question.answer', question, declined: true }, CALLER);
    expect((await declined).fault.code).toBe('budget_exhausted');
    expect(harness.provider.prompts).toHaveLength(2);
  });

  test('can be answered with a plain message, and raised while the turn waits', async () => {
    const harness = await paused();
    const again = harness.nextEvent('question.asked');
    await harness.engine.send(SESSION, { type: 'session.configure', limit: { tokens: 25 } }, CALLER);
    expect((await again).questions[0]?.text).toContain('25 tokens');
    const ended = harness.nextEvent('turn.ended');
    await harness.engine.send(SESSION, reply('1'), CALLER);
    await ended;
    expect(harness.events.findLast(({ type }) => type === 'session.configured')).toMatchObject({
      limit: { tokens: 55 },
    });
  });

  test('of zero asks before the first step', async () => {
    const harness = await paused(0);
    expect(harness.provider.prompts).toHaveLength(0);
    const ended = harness.nextEvent('turn.ended');
    await answer(harness, 'Continue with +100,000 tokens');
    await ended;
  });

  test('still waits after a restart, and is answered then', async () => {
    const harness = await paused();
    const second = await limited([says('Done.')], [], { store: harness.store });
    await second.engine.recover();
    const ended = second.nextEvent('turn.ended');
    await second.engine.send(
      SESSION,
      { type: 'question.answer', answers: { limit: ['Continue with +20 tokens'] } },
      CALLER,
    );
    await ended;
    expect(await second.usage.spent({})).toEqual({ tokens: 45, cost: 60 });
  });
});

describe('reports', () => {
  test('users see their own usage, admins that of everybody', async () => {
    const harness = await limited([says('a'), says('b')], [{ per: 'user', in: 'day', tokens: 60 }]);
    const hers = { owner: ADA.id, id: 'hers' as SessionId };
    await say(harness.engine, 'one');
    await harness.engine.send(
      hers,
      { type: 'input.submit', parts: [textPart('hi')] },
      { ...CALLER, principal: ADA },
    );
    await until(harness);
    await harness.engine.whenIdle(hers);
    const seen = async (principal: Principal, owner?: string) =>
      (await harness.engine.usage(principal, { filter: { owner }, by: ['owner'], limit: 10 })).rows.map(
        ({ owner }) => owner,
      );
    expect(await seen(ADA)).toEqual(['ada']);
    expect(await seen(ADA, 'local')).toEqual([]);
    expect(await seen({ ...ADA, role: 'admin' })).toEqual(['ada', 'local']);
    expect(await seen({ ...ADA, role: 'admin' }, 'local')).toEqual(['local']);
    expect(await harness.engine.limits(ADA)).toEqual([
      { per: 'user', of: 'ada', in: 'day', unit: 'tokens', max: 60, used: 15 },
    ]);
  });
});
