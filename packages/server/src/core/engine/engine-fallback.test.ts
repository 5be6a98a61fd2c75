import { describe, expect, test } from 'bun:test';
import { type DurableEvent, isDurable, type SessionId, textPart } from '@parlance/protocol';
import {
  CALLER,
  countingIds,
  createHarness,
  type Harness,
  type HarnessOptions,
  SESSION,
  say,
} from '../../testing/harness.ts';
import {
  calls,
  fails,
  type Line,
  says,
  scriptedChain,
  scriptedProvider,
} from '../../testing/scripted-provider.ts';
import { openMemoryStore } from '../../testing/stores/memory/store.ts';
import type { SessionRef } from '../index.ts';
import type { SessionStore } from '../ports/event-store.ts';
import type { Provider } from '../ports/provider.ts';

const ignore = () => undefined;
const log = { debug: ignore, info: ignore, warn: ignore, error: ignore };
const OUT: Line[] = fails('provider_unavailable');
const retrying = (
  delayMs: number,
  code: 'provider_limited' | 'provider_unavailable' = 'provider_unavailable',
): Line => ({
  type: 'retrying',
  attempt: 2,
  delayMs,
  fault: { code, message: 'The model is overloaded.', retryAfterMs: delayMs },
});

/** An engine whose clock stands until the test moves it. */
async function engineOf(provider: Provider, { parts, ...options }: HarnessOptions = {}) {
  const time = { now: Date.UTC(2026, 0, 1) };
  const harness = await createHarness([], {
    ...options,
    parts: { provider, log, now: () => time.now, ...parts },
  });
  return { ...harness, time };
}

async function turn(harness: Harness, text = 'Hi', last: 'turn.ended' | 'turn.failed' = 'turn.ended') {
  const ended = harness.nextEvent(last);
  await say(harness.engine, text);
  return ended;
}

const restarts = ({ events }: Pick<Harness, 'events'>) =>
  events.filter((event): event is DurableEvent<'step.restarted'> => event.type === 'step.restarted');
const answeredBy = ({ events }: Pick<Harness, 'events'>) =>
  events.flatMap((event) => (event.type === 'step.ended' ? [event.model] : []));
const texts = ({ events }: Pick<Harness, 'events'>) =>
  events.flatMap((event) => (event.type === 'text.ended' ? [event.text] : []));
const read = ({ prompts }: { prompts: readonly { items: readonly object[] }[] }) => prompts.length;

describe('a model that fails', () => {
  for (const code of ['provider_unavailable', 'provider_limited'] as const)
    test(`is followed by the next one: ${code}`, async () => {
      const { provider } = scriptedChain({ a: [fails(code)], b: [says('Hello.')] });
      const harness = await engineOf(provider);
      await turn(harness);
      expect(restarts(harness)).toMatchObject([
        {
          fault: { code, message: 'The model is overloaded.' },
          fallback: {
            provider: 'scripted',
            model: 'b',
            passed: [{ model: 'a', reason: 'failed', until: harness.time.now + 30_000 }],
          },
        },
      ]);
      expect(answeredBy(harness)).toEqual(['b']);
      expect(texts(harness)).toEqual(['Hello.']);
    });

  test('and has shown something: readers discard it', async () => {
    const { provider } = scriptedChain({
      a: [fails('provider_unavailable', {}, { type: 'text', text: 'Half an ans' })],
      b: [says('Hello.')],
    });
    const harness = await engineOf(provider);
    await turn(harness);
    expect(restarts(harness)[0]).toMatchObject({ shown: true, fallback: { model: 'b' } });
    expect(texts(harness)).toEqual(['Hello.']);
  });

  test('after a call: the results are read by the next one', async () => {
    const { provider, b } = scriptedChain({
      a: [calls('lookup', { word: 'a' }), OUT],
      b: [says('A word.')],
    });
    const harness = await engineOf(provider);
    await turn(harness);
    expect(b.prompts[0]?.items.map(({ kind }) => kind)).toEqual(['user', 'call', 'result']);
    expect(answeredBy(harness)).toEqual(['a', 'b']);
  });

  test('is followed by each of the others once, and the turn fails with what the last one says', async () => {
    const chain = scriptedChain({
      a: [OUT],
      b: [fails('provider_limited')],
      c: [fails('provider_unavailable', { message: 'The last.' })],
    });
    const harness = await engineOf(chain.provider);
    expect(await turn(harness, 'Hi', 'turn.failed')).toMatchObject({ fault: { message: 'The last.' } });
    expect([chain.a, chain.b, chain.c].map(read)).toEqual([1, 1, 1]);
    expect(restarts(harness).map(({ fallback }) => fallback?.model)).toEqual(['b', 'c']);
  });

  for (const code of ['provider_rejected', 'answer_too_long', 'internal'] as const)
    test(`is not followed by another one if it refuses: ${code}`, async () => {
      const { provider, b } = scriptedChain({ a: [fails(code)], b: [says('Hello.')] });
      const harness = await engineOf(provider);
      expect(await turn(harness, 'Hi', 'turn.failed')).toMatchObject({ fault: { code } });
      expect(read(b)).toBe(0);
      expect(restarts(harness)).toEqual([]);
    });

  test('is not followed by another one if it refuses in its answer', async () => {
    const refusal: Line[] = [
      { type: 'text', text: 'I will not.' },
      { type: 'ended', usage: { inputTokens: 1, outputTokens: 1 }, stop: 'refused' },
    ];
    const { provider, b } = scriptedChain({ a: [refusal], b: [says('Sure.')] });
    const harness = await engineOf(provider);
    await turn(harness);
    expect([texts(harness), read(b)]).toEqual([['I will not.'], 0]);
  });

  test('is retried while it asks for little patience, and left if it wants much', async () => {
    const first = scriptedChain({ a: [[retrying(500), ...says('Late.')]], b: [says('Hello.')] });
    const patient = await engineOf(first.provider);
    await turn(patient);
    expect([texts(patient), read(first.b)]).toEqual([['Late.'], 0]);
    const second = scriptedChain({
      a: [[retrying(40_000, 'provider_limited'), ...says('Late.')]],
      b: [says('Hello.')],
    });
    const harness = await engineOf(second.provider);
    await turn(harness);
    expect(texts(harness)).toEqual(['Hello.']);
    expect(restarts(harness)[0]?.fallback?.passed[0]?.until).toBe(harness.time.now + 40_000);
  });

  test('is waited for if nobody else is ready', async () => {
    const provider = scriptedProvider([[retrying(40_000), ...says('Late.')]]);
    const harness = await engineOf(provider);
    await turn(harness);
    expect(texts(harness)).toEqual(['Late.']);
    expect(answeredBy(harness)).toEqual([undefined]);
  });
});

describe('a cool-down', () => {
  const other: SessionRef = { ...SESSION, id: 'session-2' as SessionId };
  const ask = async ({ engine }: Harness, ref: SessionRef) => {
    await engine.send(ref, { type: 'input.submit', parts: [textPart('Hi')], mode: 'queue' }, CALLER);
    await engine.whenIdle(ref);
  };

  test('keeps the turns of all sessions on the next model, which their readers are told', async () => {
    const secret = 'quota of org-12345';
    const chain = scriptedChain({
      a: [fails('provider_limited', { message: secret }), says('I am back.')],
      b: [says('One.'), says('Two.')],
    });
    const harness = await engineOf(chain.provider);
    await turn(harness);
    const seen: DurableEvent[] = [];
    await harness.engine.watch(other, (event) => void (isDurable(event) && seen.push(event)));
    await ask(harness, other);
    expect([read(chain.a), read(chain.b)]).toEqual([1, 2]);
    expect(restarts({ events: seen })).toMatchObject([
      {
        fault: { code: 'provider_limited', message: 'a failed recently.' },
        fallback: { model: 'b', passed: [{ model: 'a', reason: 'cooling' }] },
      },
    ]);
    expect(JSON.stringify(seen)).not.toContain(secret);
  });

  test('is told once in a turn', async () => {
    const { provider } = scriptedChain({
      a: [OUT],
      b: [calls('lookup', { word: 'a' }), calls('lookup', { word: 'b' }), says('Done.')],
    });
    const harness = await engineOf(provider);
    await turn(harness);
    expect(restarts(harness)).toHaveLength(1);
    expect(answeredBy(harness)).toEqual(['b', 'b', 'b']);
  });

  test('ends with a probe, without retries; meanwhile others stay where they are', async () => {
    const chain = scriptedChain({
      a: [OUT, [{ type: 'hang' }], says('I am back.')],
      b: [says('One.'), says('Two.'), says('Three.')],
    });
    const harness = await engineOf(chain.provider);
    await turn(harness);
    harness.time.now += 30_001;
    await say(harness.engine, 'Still there?');
    await chain.a.hanging;
    await ask(harness, other);
    expect([read(chain.a), read(chain.b)]).toEqual([2, 2]);
    await harness.engine.send(SESSION, { type: 'turn.cancel' }, CALLER);
    await turn(harness, 'And now?');
    expect(texts(harness).at(-1)).toBe('I am back.');
    expect(answeredBy(harness).at(-1)).toBe('a');
  });

  test('is longer after a probe that failed, which is not retried', async () => {
    const chain = scriptedChain({
      a: [OUT, [retrying(500), ...says('Late.')], says('I am back.')],
      b: [says('One.'), says('Two.'), says('Three.')],
    });
    const harness = await engineOf(chain.provider);
    await turn(harness);
    harness.time.now += 30_001;
    await turn(harness);
    expect(texts(harness)).toEqual(['One.', 'Two.']);
    harness.time.now += 30_001;
    await turn(harness);
    expect(texts(harness).at(-1)).toBe('Three.');
    harness.time.now += 30_000;
    await turn(harness);
    expect(texts(harness).at(-1)).toBe('I am back.');
    expect(answeredBy(harness)).toEqual(['b', 'b', 'b', 'a']);
  });

  for (const [retryAfterMs, wait] of [
    [90_000, 90_000],
    [1, 30_000],
    [1e15, 3_600_000],
  ] as const)
    test(`honours a wish of ${retryAfterMs} ms`, async () => {
      const chain = scriptedChain({
        a: [fails('provider_limited', { retryAfterMs }), says('Back.')],
        b: [says('One.'), says('Two.')],
      });
      const harness = await engineOf(chain.provider);
      await turn(harness);
      harness.time.now += wait - 1;
      await turn(harness);
      harness.time.now += 1;
      await turn(harness);
      expect(texts(harness)).toEqual(['One.', 'Two.', 'Back.']);
    });

  test('of all models: they are asked nevertheless', async () => {
    const chain = scriptedChain({ a: [OUT, says('Hello.')], b: [OUT] });
    const harness = await engineOf(chain.provider);
    await turn(harness, 'Hi', 'turn.failed');
    await turn(harness);
    expect(texts(harness)).toEqual(['Hello.']);
  });
});

describe('a model that a caller has named', () => {
  const named = { model: 'x', fallback: 'b' };
  async function configured(fallbackFromNamed: boolean) {
    const chain = scriptedChain({ a: [says('From a.')], b: [says('From b.')] });
    const x = { ...scriptedProvider([OUT]), model: 'x' };
    const harness = await engineOf(chain.provider, { parts: { fallbackFromNamed, providerFor: () => x } });
    await harness.engine.send(SESSION, { type: 'session.create' }, CALLER);
    await harness.engine.send(SESSION, { type: 'session.configure', model: named.model }, CALLER);
    return harness;
  }

  test('answers alone', async () => {
    const harness = await configured(false);
    await turn(harness, 'Hi', 'turn.failed');
    expect(restarts(harness)).toEqual([]);
    await expect(
      harness.engine.send(SESSION, { type: 'session.configure', model: 'x,b' }, CALLER),
    ).rejects.toThrow('name one model');
  });

  test('is followed by the chain if the operator allows it', async () => {
    const harness = await configured(true);
    await turn(harness);
    expect(texts(harness)).toEqual(['From a.']);
    await harness.engine.send(SESSION, { type: 'session.configure', model: 'x,b' }, CALLER);
  });

  test('in its request answers alone', async () => {
    const { provider, b } = scriptedChain({ a: [OUT], b: [says('From b.')] });
    const harness = await engineOf(provider);
    const failed = harness.nextEvent('turn.failed');
    await harness.engine.send(
      SESSION,
      { type: 'input.submit', parts: [textPart('Hi')], mode: 'queue', namesModel: true },
      CALLER,
    );
    await failed;
    expect(read(b)).toBe(0);
  });
});

describe('a fallback with a smaller context', () => {
  const long = says('A long story. '.repeat(40));

  test('compacts the conversation', async () => {
    const chain = scriptedChain({ a: [long, OUT], b: [says('They asked.'), says('Hello.')] }, { b: 600 });
    const harness = await engineOf(chain.provider);
    await turn(harness);
    await turn(harness);
    const types = harness.events.map(({ type }) => type);
    expect(types.indexOf('context.compacted')).toBeGreaterThan(types.indexOf('step.restarted'));
    expect(answeredBy(harness)).toEqual(['a', 'b']);
    expect(chain.b.prompts.map(({ task }) => task)).toEqual(['compaction', 'chat']);
  });

  test('is passed over if another one is large enough', async () => {
    const chain = scriptedChain({ a: [long, OUT], b: [says('No.')], c: [says('Hello.')] }, { b: 600 });
    const harness = await engineOf(chain.provider);
    await turn(harness);
    await turn(harness);
    expect(restarts(harness)[0]?.fallback).toMatchObject({
      model: 'c',
      passed: [
        { model: 'a', reason: 'failed' },
        { model: 'b', reason: 'too_small' },
      ],
    });
    expect(read(chain.b)).toBe(0);
  });

  test('that cannot be compacted for it: the turn says so', async () => {
    const chain = scriptedChain({ a: [OUT], b: [] }, { b: 20 });
    const harness = await engineOf(chain.provider);
    expect(await turn(harness, 'A long question. '.repeat(40), 'turn.failed')).toMatchObject({
      fault: {
        code: 'provider_unavailable',
        message: 'a does not answer, and the conversation is too long for b.',
      },
    });
  });

  test('is told by the use of the context while the first one cools down', async () => {
    const chain = scriptedChain({ a: [OUT], b: [says('Hello.')] }, { b: 900 });
    const harness = await engineOf(chain.provider);
    expect((await harness.engine.contextUse(SESSION)).limit).toBe(1_000);
    expect((await turn(harness)).context?.limit).toBe(900);
    harness.time.now += 30_001;
    expect((await harness.engine.contextUse(SESSION)).limit).toBe(1_000);
  });
});

describe('a call outside of the steps', () => {
  test('for a title is answered by the next model, and the first one cools down for the next turn', async () => {
    const { a, b, provider } = scriptedChain({
      a: [says('Hello.'), OUT],
      b: [says('A title'), says('Again.')],
    });
    const harness = await engineOf(provider, { parts: { titles: 'native' } });
    const titled = harness.nextEvent('session.renamed');
    await turn(harness);
    expect((await titled).title).toBe('A title');
    expect([read(a), read(b)]).toEqual([2, 1]);
    await turn(harness, 'More');
    expect(answeredBy(harness)).toEqual(['a', 'b']);
  });

  test('for a compaction or an explanation is answered by the next model', async () => {
    const { a, b, provider } = scriptedChain({
      a: [says('Hello. '.repeat(60)), OUT, calls('shell', { command: ['ls'] }), OUT],
      b: [says('Short.'), says('It lists files.')],
    });
    const harness = await engineOf(provider);
    await turn(harness, 'Hi '.repeat(60));
    const compacted = harness.nextEvent('context.compacted');
    await harness.engine.send(SESSION, { type: 'context.compact' }, CALLER);
    expect((await compacted).summary).toBe('Short.');
    harness.time.now += 60_000;
    const asked = harness.nextEvent('approval.requested');
    await say(harness.engine, 'list');
    await asked;
    const explained = harness.nextEvent('approval.explained');
    await harness.engine.send(SESSION, { type: 'approval.explain' }, CALLER);
    expect((await explained).text).toBe('It lists files.');
    expect([read(a), read(b)]).toEqual([4, 2]);
  });

  test('fails with what the last model said, and is not repeated after a refusal', async () => {
    const { b, provider } = scriptedChain({
      a: [OUT, fails('provider_rejected')],
      b: [fails('provider_limited', { message: 'Slow down.' }), says('No.')],
    });
    const harness = await engineOf(provider);
    const summarise = () =>
      harness.engine
        .summarise(CALLER.principal, { title: 'T', content: 'x' }, new AbortController().signal)
        .catch(({ code, message }) => `${code}: ${message}`);
    expect(await summarise()).toBe('provider_limited: Slow down.');
    harness.time.now += 3_600_000;
    expect(await summarise()).toStartWith('provider_rejected');
    expect(read(b)).toBe(1);
  });
});

describe('after the process was killed', () => {
  /** A process whose writes stop at the event of that type and later: before it is stored, or right after. */
  function mortal(
    store: SessionStore,
    at: (events: readonly { type: string }[]) => 'before' | 'after' | null,
  ) {
    const died = Promise.withResolvers<void>();
    let dead = false;
    const append: SessionStore['append'] = async (...given) => {
      const when = dead ? 'before' : at(given[1] as never);
      if (when === 'before') {
        dead = true;
        died.resolve();
        return new Promise(() => undefined);
      }
      const result = await store.append(...given);
      if (when === null) return result;
      dead = true;
      died.resolve();
      return new Promise(() => undefined);
    };
    return { store: { ...store, append }, died: died.promise };
  }

  async function killed(
    at: 'before' | 'after',
    type: string,
    {
      first,
      second,
      wait = 0,
      end = 'turn.ended',
    }: {
      first: Record<'a' | 'b', Line[][]>;
      second: Record<'a' | 'b', Line[][]>;
      wait?: number;
      end?: 'turn.ended' | 'turn.failed';
    },
  ) {
    const ids = countingIds();
    const disk = openMemoryStore();
    const { store, died } = mortal(disk, (events) =>
      JSON.stringify(events).includes(`"type":"${type}"`) ? at : null,
    );
    const before = await engineOf(scriptedChain(first).provider, { store, ids });
    await say(before.engine, 'Hi');
    await died;
    const chain = scriptedChain(second);
    const harness = await engineOf(chain.provider, { store: disk, ids });
    harness.time.now += wait;
    await harness.engine.recover();
    await harness.engine.whenIdle(SESSION);
    const events = await disk.read(SESSION, 0, 1_000);
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1));
    expect(events.at(-1)?.type).toBe(end);
    return { chain, events };
  }

  test('between the failure and its record, the first model is asked again', async () => {
    const { chain, events } = await killed('before', 'step.restarted', {
      first: { a: [OUT], b: [] },
      second: { a: [says('Hello.')], b: [] },
    });
    expect([read(chain.a), read(chain.b)]).toEqual([1, 0]);
    expect(answeredBy({ events })).toEqual(['a']);
  });

  test('between the record and the restart, the next model is asked, once', async () => {
    const { chain, events } = await killed('after', 'step.restarted', {
      first: { a: [OUT], b: [] },
      second: { a: [says('No.')], b: [says('Hello.')] },
    });
    expect([read(chain.a), read(chain.b)]).toEqual([0, 1]);
    expect(restarts({ events })).toHaveLength(1);
    expect(answeredBy({ events })).toEqual(['b']);
  });

  test('while the next model was answering, it is asked again', async () => {
    const { chain, events } = await killed('before', 'text.ended', {
      first: { a: [OUT], b: [says('Half')] },
      second: { a: [says('No.')], b: [says('Hello.')] },
    });
    expect([read(chain.a), read(chain.b)]).toEqual([0, 1]);
    expect(texts({ events })).toEqual(['Hello.']);
  });

  test('during the cool-down, the turn stays on the next model, and probes the first one when it is over', async () => {
    const first = { a: [OUT], b: [calls('lookup', { word: 'a' })] };
    const during = await killed('after', 'tool.ended', {
      first,
      second: { a: [says('No.')], b: [says('Hello.')] },
    });
    expect(answeredBy(during)).toEqual(['b', 'b']);
    const later = await killed('after', 'tool.ended', {
      first,
      second: { a: [says('Hello.')], b: [says('No.')] },
      wait: 30_001,
    });
    expect(answeredBy(later)).toEqual(['b', 'a']);
  });

  test('a model that failed in this step is not asked again in it, even if no other is left', async () => {
    const { chain, events } = await killed('after', 'step.restarted', {
      first: { a: [OUT], b: [] },
      second: { a: [says('No.')], b: [OUT] },
      end: 'turn.failed',
    });
    expect([read(chain.a), read(chain.b)]).toEqual([0, 1]);
    expect(restarts({ events })).toHaveLength(1);
  });
});
