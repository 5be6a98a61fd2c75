/** Plays one scenario on the real engine with a scripted model, and returns its events. */
import { type Json, type SessionEvent, textPart } from '@parlance/protocol';
import { CALLER, countingIds, createHarness, type Harness, SESSION, say } from './harness.ts';
import { calls, type Line, USAGE } from './scripted-provider.ts';

export type Scenario = () => Promise<readonly SessionEvent[]>;

type End = { readonly last?: SessionEvent['type']; readonly turns?: number; readonly maxSteps?: number };

/** Runs `act` on a stage with these answers until the last of `turns` turns has ended. */
export const scenario =
  (
    answers: Line[][],
    act: (harness: Harness) => Promise<unknown>,
    { last = 'turn.ended', turns = 1, maxSteps = 10 }: End = {},
  ): Scenario =>
  async () => {
    const harness = await createHarness(answers, { parts: { maxSteps } });
    const ended = (async () => {
      for (let turn = 0; turn < turns; turn++) await harness.nextEvent(last);
    })();
    await act(harness);
    await ended;
    return harness.events;
  };

export const asks = calls(
  'shell',
  { command: ['npm', 'test'] },
  { before: [{ type: 'text', text: 'I will run the tests.' }] },
);

export const answerWith = (...wanted: (readonly [tool: string, input: Record<string, Json>])[]): Line[] => [
  ...wanted.map(([tool, input], at): Line => ({ type: 'call', call: `call_${at + 1}`, tool, input })),
  { type: 'ended', usage: USAGE, stop: 'calls' },
];

export async function answered(harness: Harness, command: object): Promise<void> {
  const asked = harness.nextEvent('approval.requested');
  await say(harness.engine, 'run the tests');
  await asked;
  await harness.engine.send(SESSION, { type: 'approval.answer', ...command } as never, CALLER);
}

/** Sends the text while a client executes the call of the turn, and then the result of that call. */
export async function steered({ engine, nextEvent }: Harness, text: string): Promise<void> {
  const deferred = nextEvent('call.deferred');
  await say(engine, 'Click it');
  const { call } = await deferred;
  await say(engine, text, 'steer');
  await engine.send(SESSION, { type: 'call.answer', call, parts: [textPart('clicked')] }, CALLER);
}

/** Answers before and after the kill. */
type KilledRun = { readonly answers: Line[][]; readonly after: Line[][] };

/** The first process dies at `at`; a second one continues from the same store. */
export const killed =
  (text: string, at: (harness: Harness) => Promise<unknown>, { answers, after }: KilledRun): Scenario =>
  async () => {
    const ids = countingIds();
    const first = await createHarness(answers, { ids });
    const dead = at(first);
    await say(first.engine, text);
    await dead;
    const before = [...first.events];
    const second = await createHarness(after, { ids, store: first.store });
    const ended = second.nextEvent('turn.ended');
    await second.engine.recover();
    await ended;
    return [...before, ...second.events];
  };
