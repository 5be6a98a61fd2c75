/** Messages that join the running turn. */
import { describe, expect, test } from 'bun:test';
import {
  type CommandInput,
  type DurableEvent,
  isDurable,
  type SessionEvent,
  textOf,
  textPart,
} from '@parlance/protocol';
import { CALLER, createHarness, type Harness, SESSION, say } from '../../testing/harness.ts';
import { steered } from '../../testing/play-scenario.ts';
import { calls, says } from '../../testing/scripted-provider.ts';
import type { Prompt } from '../ports/provider.ts';
import { NO_LIMITS } from './engine-internals.ts';

const CLICK = calls('errand', { what: 'click' });

/** What the model read, one line per item. */
const read = (prompt: Prompt | undefined): string[] =>
  (prompt?.items ?? []).map((item) =>
    'parts' in item ? `${item.kind}: ${textOf(item.parts)}` : item.kind === 'text' ? item.text : item.kind,
  );

const orderOf = (events: readonly SessionEvent[]): string[] =>
  events.filter(isDurable).flatMap((event) => {
    if (event.type === 'input.joined' || event.type === 'turn.started')
      return [`${event.type} ${event.input}`];
    return event.type === 'turn.ended' ? [event.type] : [];
  });

const inputs = ({ events }: Harness): DurableEvent<'input.accepted'>[] =>
  events.filter((event) => event.type === 'input.accepted');

async function idle(harness: Harness): Promise<void> {
  await harness.engine.whenIdle(SESSION);
}

describe('a steering message', () => {
  test('is read with the next step, after the results of the calls', async () => {
    const harness = await createHarness([CLICK, says('Clicked.')]);
    await steered(harness, 'Keep it short');
    await idle(harness);
    expect(harness.provider.prompts).toHaveLength(2);
    expect(read(harness.provider.prompts[1])).toEqual([
      'user: Click it',
      'call',
      'result: clicked',
      'user: Keep it short',
    ]);
    const [first, second] = inputs(harness);
    expect(second?.joins).toBe(harness.events.find((event) => event.type === 'turn.started')?.turn);
    expect(orderOf(harness.events)).toEqual([
      `turn.started ${first?.input}`,
      `input.joined ${second?.input}`,
      'turn.ended',
    ]);
  });

  test('stays in the context of later turns, where it joined', async () => {
    const harness = await createHarness([CLICK, says('Clicked.'), says('Yes.')]);
    await steered(harness, 'Keep it short');
    await idle(harness);
    await say(harness.engine, 'Sure?');
    await idle(harness);
    expect(read(harness.provider.prompts[2]).slice(3)).toEqual([
      'user: Keep it short',
      'Clicked.',
      'user: Sure?',
    ]);
  });

  test('is the next input if the turn ends first, before queued messages', async () => {
    const harness = await createHarness([CLICK, says('One.'), says('Two.')], { parts: { maxSteps: 1 } });
    const { engine, nextEvent } = harness;
    const deferred = nextEvent('call.deferred');
    await say(engine, 'Click it');
    const { call } = await deferred;
    await say(engine, 'Queued');
    await say(engine, 'Steered', 'steer');
    await say(engine, 'Steered, too', 'steer');
    await engine.send(SESSION, { type: 'call.answer', call, parts: [textPart('clicked')] }, CALLER);
    await idle(harness);
    const [first, queued, steering, another] = inputs(harness).map(({ input }) => input);
    expect(orderOf(harness.events).filter((line) => line !== 'turn.ended')).toEqual([
      `turn.started ${first}`,
      `turn.started ${steering}`,
      `turn.started ${another}`,
      `turn.started ${queued}`,
    ]);
  });

  test('without a running turn starts one', async () => {
    const harness = await createHarness([says('Hello.')]);
    await say(harness.engine, 'Hi', 'steer');
    await idle(harness);
    expect(orderOf(harness.events)).toEqual([`turn.started ${inputs(harness)[0]?.input}`, 'turn.ended']);
    expect(inputs(harness)[0]?.joins).toBeUndefined();
  });

  test('does not overtake a pending approval, and voids none', async () => {
    const harness = await createHarness([calls('shell', { command: ['npm', 'test'] }), says('Green.')]);
    const { engine, nextEvent, provider } = harness;
    const asked = nextEvent('approval.requested');
    await say(engine, 'Test it');
    const { approval } = await asked;
    await say(engine, 'Be quick', 'steer');
    await idle(harness);
    expect(provider.prompts).toHaveLength(1);
    expect((await engine.snapshot(SESSION)).approvals.map((waiting) => waiting.approval)).toEqual([approval]);
    await engine.send(SESSION, { type: 'approval.answer', approval, answer: 'once' }, CALLER);
    await idle(harness);
    expect(read(provider.prompts[1]).slice(-2)).toEqual(['result: ran npm test', 'user: Be quick']);
  });

  test('can be withdrawn until it has joined', async () => {
    const harness = await createHarness([CLICK, says('Clicked.')]);
    const { engine, nextEvent, provider } = harness;
    const deferred = nextEvent('call.deferred');
    await say(engine, 'Click it');
    const { call } = await deferred;
    await say(engine, 'Never mind this', 'steer');
    const own = inputs(harness)[1]?.turn;
    await engine.send(SESSION, { type: 'turn.cancel', turn: own }, CALLER);
    await engine.send(SESSION, { type: 'call.answer', call, parts: [textPart('clicked')] }, CALLER);
    await idle(harness);
    expect(read(provider.prompts[1]).slice(-1)).toEqual(['result: clicked']);
    const tooLate = engine.send(SESSION, { type: 'turn.cancel', turn: own }, CALLER);
    expect(tooLate).rejects.toMatchObject({ code: 'no_turn' });
  });

  test('is sent twice with one key, and joins once', async () => {
    const harness = await createHarness([CLICK, says('Clicked.')]);
    const { engine, nextEvent, provider } = harness;
    const deferred = nextEvent('call.deferred');
    await say(engine, 'Click it');
    const { call } = await deferred;
    const steer: CommandInput = { type: 'input.submit', mode: 'steer', parts: [textPart('Once')] };
    for (let count = 0; count < 2; count++) await engine.send(SESSION, steer, { ...CALLER, key: 'k' });
    await engine.send(SESSION, { type: 'call.answer', call, parts: [textPart('clicked')] }, CALLER);
    await idle(harness);
    expect(read(provider.prompts[1]).filter((line) => line === 'user: Once')).toHaveLength(1);
  });

  test('counts as queued until it has joined, and is refused above that limit', async () => {
    const harness = await createHarness([CLICK], {
      parts: { limits: { ...NO_LIMITS, inputsQueued: 2 } },
    });
    const deferred = harness.nextEvent('call.deferred');
    await say(harness.engine, 'Click it');
    await deferred;
    await say(harness.engine, 'One', 'steer');
    await say(harness.engine, 'Two', 'steer');
    expect(say(harness.engine, 'Three', 'steer')).rejects.toMatchObject({ code: 'limited' });
  });

  test.each([
    ['call', { call: { tool: 'lookup', input: { word: 'a' } } }],
    ['replaces', { replaces: 'input-1' as never }],
    ['answeredBy', { answeredBy: 'tester' }],
    ['instructions', { instructions: 'Obey.' }],
    ['tools', { tools: [{ name: 'own' }] }],
    ['options', { options: { temperature: 1 } }],
  ])('cannot have %s, which concerns a whole turn', async (field, more) => {
    const { engine } = await createHarness([]);
    const sent = engine.send(
      SESSION,
      { type: 'input.submit', mode: 'steer', parts: [textPart('Hi')], ...more },
      CALLER,
    );
    expect(sent).rejects.toMatchObject({
      code: 'invalid',
      message: `A message with mode "steer" cannot have "${field}".`,
    });
  });

  test('that contains a page makes the context untrusted', async () => {
    const shell = (call: string) => calls('shell', { command: ['npm', 'test'] }, { call });
    const harness = await createHarness([CLICK, shell('call_2'), shell('call_3')]);
    const { engine, nextEvent } = harness;
    const deferred = nextEvent('call.deferred');
    const asked = nextEvent('approval.requested');
    await say(engine, 'Click it');
    const { call } = await deferred;
    const page = { type: 'page', title: 'A', url: 'https://example.com', text: 'Run npm test' } as const;
    await engine.send(
      SESSION,
      { type: 'input.submit', mode: 'steer', parts: [textPart('See this'), page] },
      CALLER,
    );
    await engine.send(SESSION, { type: 'call.answer', call, parts: [textPart('clicked')] }, CALLER);
    const { approval } = await asked;
    await engine.send(SESSION, { type: 'approval.answer', approval, answer: 'always' }, CALLER);
    await idle(harness);
    // The standing grant does not apply.
    expect((await engine.snapshot(SESSION)).approvals).toHaveLength(1);
  });
});
