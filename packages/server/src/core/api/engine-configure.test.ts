import { expect, test } from 'bun:test';
import { type InputId, textPart } from '@parlance/protocol';
import { calls, says } from '../../testing/scripted-provider.ts';
import { CALLER, SESSION, type Stage, say, setStage } from '../../testing/stage.ts';
import type { Provider } from '../ports/provider.ts';

async function turn(stage: Stage, text: string, replaces?: InputId): Promise<InputId> {
  const ended = stage.happens('turn.ended');
  const parts = [textPart(text)];
  const { events } = await stage.engine.send(SESSION, { type: 'input.submit', parts, replaces }, CALLER);
  await ended;
  const accepted = events.find((event) => event.type === 'input.accepted');
  if (!accepted) throw new Error('not accepted');
  return accepted.input;
}

const shown = (stage: Stage) =>
  stage.provider.prompts
    .at(-1)
    ?.items.flatMap((item) =>
      item.kind === 'user' || item.kind === 'text' ? [item.kind === 'text' ? item.text : item.parts[0]] : [],
    );

test('a replaced message and everything after it are no longer in the prompt', async () => {
  const stage = await setStage([says('A'), says('B'), says('C'), says('D')]);
  await turn(stage, 'one');
  const second = await turn(stage, 'two');
  await turn(stage, 'three');
  await turn(stage, 'two, but better', second);
  expect(shown(stage)).toEqual([textPart('one'), 'A', textPart('two, but better')]);
  const again = await setStage([says('E')], { store: stage.store });
  await turn(again, 'and now?');
  expect(shown(again)).toEqual([
    textPart('one'),
    'A',
    textPart('two, but better'),
    'D',
    textPart('and now?'),
  ]);
});

test('a missing or cleared message cannot be replaced, and nothing changes', async () => {
  const stage = await setStage([says('A'), says('B')]);
  const first = await turn(stage, 'one');
  const refused = (replaces: InputId) =>
    stage.engine.send(SESSION, { type: 'input.submit', parts: [textPart('x')], replaces }, CALLER);
  await expect(refused('nowhere' as InputId)).rejects.toMatchObject({ code: 'not_found' });
  await stage.engine.send(SESSION, { type: 'session.clear' }, CALLER);
  const before = stage.events.length;
  await expect(refused(first)).rejects.toMatchObject({ code: 'not_found' });
  expect(stage.events.length).toBe(before);
});

test('a replacement ends the running turn', async () => {
  const stage = await setStage([calls('shell', { command: ['npm', 'test'] }), says('Done.')]);
  const asked = stage.happens('approval.requested');
  await say(stage.engine, 'run the tests');
  await asked;
  const [input] = stage.events.flatMap((event) => (event.type === 'input.accepted' ? [event.input] : []));
  await turn(stage, 'say done', input);
  expect(shown(stage)).toEqual([textPart('say done')]);
  expect((await stage.engine.snapshot(SESSION)).approval).toBeNull();
});

test('a session can override the model and the approval mode, and reset both', async () => {
  const other = await setStage([says('from the other'), says('once more')]);
  const providerFor = (model: string): Provider => {
    if (model !== 'other') throw new Error('unknown');
    return other.provider;
  };
  const stage = await setStage([says('from the first')], { parts: { providerFor } });
  await stage.engine.send(SESSION, { type: 'session.create' }, CALLER);
  const configure = (more: object) =>
    stage.engine.send(SESSION, { type: 'session.configure', ...more } as never, CALLER);
  await configure({ model: 'other', approval: 'auto-edit' });
  expect(await stage.engine.snapshot(SESSION)).toMatchObject({ model: 'other', approvalMode: 'auto-edit' });
  await turn(stage, 'hi');
  expect([other.provider.prompts.length, stage.provider.prompts.length]).toEqual([1, 0]);
  await configure({ model: null });
  expect(await stage.engine.snapshot(SESSION)).toMatchObject({ model: null, approvalMode: 'auto-edit' });
  await turn(stage, 'hi again');
  expect([other.provider.prompts.length, stage.provider.prompts.length]).toEqual([1, 1]);
});

test('full-auto is refused without a sandbox, and for principals who may not approve', async () => {
  const stage = await setStage([]);
  await stage.engine.send(SESSION, { type: 'session.create' }, CALLER);
  const fullAuto = { type: 'session.configure', approval: 'full-auto' } as const;
  await expect(stage.engine.send(SESSION, fullAuto, CALLER)).rejects.toMatchObject({ code: 'invalid' });
  const sandboxed = await setStage([], { store: stage.store, parts: { allowsFullAuto: true } });
  const user = { ...CALLER.principal, role: 'user' as const, permissions: ['chat:send' as const] };
  await expect(
    sandboxed.engine.send(SESSION, fullAuto, { ...CALLER, principal: user }),
  ).rejects.toMatchObject({ code: 'forbidden' });
  await sandboxed.engine.send(SESSION, fullAuto, CALLER);
  expect((await sandboxed.engine.snapshot(SESSION)).approvalMode).toBe('full-auto');
});
