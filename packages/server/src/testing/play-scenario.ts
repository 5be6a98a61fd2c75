/** Plays one scenario on the real engine with a scripted model, and returns its events. */
import type { Json, SessionEvent } from '@parlance/protocol';
import { calls, type Line, USAGE } from './scripted-provider.ts';
import { CALLER, countingIds, SESSION, type Stage, say, setStage } from './stage.ts';

export type Scenario = () => Promise<readonly SessionEvent[]>;

type End = { readonly last?: SessionEvent['type']; readonly turns?: number };

/** Runs `act` on a stage with these answers until the last of `turns` turns has ended. */
export const played =
  (
    answers: Line[][],
    act: (stage: Stage) => Promise<unknown>,
    { last = 'turn.ended', turns = 1 }: End = {},
  ): Scenario =>
  async () => {
    const stage = await setStage(answers);
    const ended = (async () => {
      for (let turn = 0; turn < turns; turn++) await stage.happens(last);
    })();
    await act(stage);
    await ended;
    return stage.events;
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

export async function answered(stage: Stage, command: object): Promise<void> {
  const asked = stage.happens('approval.requested');
  await say(stage.engine, 'run the tests');
  await asked;
  await stage.engine.send(SESSION, { type: 'approval.answer', ...command } as never, CALLER);
}

/** Answers before and after the kill. */
type Lives = { readonly answers: Line[][]; readonly after: Line[][] };

/** The first process dies at `at`; a second one continues from the same store. */
export const killed =
  (text: string, at: (stage: Stage) => Promise<unknown>, { answers, after }: Lives): Scenario =>
  async () => {
    const ids = countingIds();
    const first = await setStage(answers, { ids });
    const dead = at(first);
    await say(first.engine, text);
    await dead;
    const before = [...first.events];
    const second = await setStage(after, { ids, store: first.store });
    const ended = second.happens('turn.ended');
    await second.engine.recover();
    await ended;
    return [...before, ...second.events];
  };
