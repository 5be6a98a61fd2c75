import { expect, test } from 'bun:test';
import { type InputId, textPart } from '@parlance/protocol';
import { CALLER, createHarness, type Harness, SESSION, say } from '../../testing/harness.ts';
import { calls, says } from '../../testing/scripted-provider.ts';
import type { Provider } from '../ports/provider.ts';

async function turn(harness: Harness, text: string, replaces?: InputId): Promise<InputId> {
  const ended = harness.nextEvent('turn.ended');
  const parts = [textPart(text)];
  const { events } = await harness.engine.send(SESSION, { type: 'input.submit', parts, replaces }, CALLER);
  await ended;
  const accepted = events.find((event) => event.type === 'input.accepted');
  if (!accepted) throw new Error('not accepted');
  return accepted.input;
}

const shown = (harness: Harness) =>
  harness.provider.prompts
    .at(-1)
    ?.items.flatMap((item) =>
      item.kind === 'user' || item.kind === 'text' ? [item.kind === 'text' ? item.text : item.parts[0]] : [],
    );

test('a replaced message and everything after it are no longer in the prompt', async () => {
  const harness = await createHarness([says('A'), says('B'), says('C'), says('D')]);
  await turn(harness, 'one');
  const second = await turn(harness, 'two');
  await turn(harness, 'three');
  await turn(harness, 'two, but better', second);
  expect(shown(harness)).toEqual([textPart('one'), 'A', textPart('two, but better')]);
  const again = await createHarness([says('E')], { store: harness.store });
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
  const harness = await createHarness([says('A'), says('B')]);
  const first = await turn(harness, 'one');
  const refused = (replaces: InputId) =>
    harness.engine.send(SESSION, { type: 'input.submit', parts: [textPart('x')], replaces }, CALLER);
  await expect(refused('nowhere' as InputId)).rejects.toMatchObject({ code: 'not_found' });
  await harness.engine.send(SESSION, { type: 'session.clear' }, CALLER);
  const before = harness.events.length;
  await expect(refused(first)).rejects.toMatchObject({ code: 'not_found' });
  expect(harness.events.length).toBe(before);
});

test('a replacement ends the running turn', async () => {
  const harness = await createHarness([calls('shell', { command: ['npm', 'test'] }), says('Done.')]);
  const asked = harness.nextEvent('approval.requested');
  await say(harness.engine, 'run the tests');
  await asked;
  const [input] = harness.events.flatMap((event) => (event.type === 'input.accepted' ? [event.input] : []));
  await turn(harness, 'say done', input);
  expect(shown(harness)).toEqual([textPart('say done')]);
  expect((await harness.engine.snapshot(SESSION)).approval).toBeNull();
});

test('a session can override the model and the approval mode, and reset both', async () => {
  const other = await createHarness([says('from the other'), says('once more')]);
  const providerFor = (model: string): Provider => {
    if (model !== 'other') throw new Error('unknown');
    return other.provider;
  };
  const harness = await createHarness([says('from the first')], { parts: { providerFor } });
  await harness.engine.send(SESSION, { type: 'session.create' }, CALLER);
  const configure = (more: object) =>
    harness.engine.send(SESSION, { type: 'session.configure', ...more } as never, CALLER);
  await configure({ model: 'other', approval: 'auto-edit' });
  expect(await harness.engine.snapshot(SESSION)).toMatchObject({ model: 'other', approvalMode: 'auto-edit' });
  await turn(harness, 'hi');
  expect([other.provider.prompts.length, harness.provider.prompts.length]).toEqual([1, 0]);
  await configure({ model: null });
  expect(await harness.engine.snapshot(SESSION)).toMatchObject({ model: null, approvalMode: 'auto-edit' });
  await turn(harness, 'hi again');
  expect([other.provider.prompts.length, harness.provider.prompts.length]).toEqual([1, 1]);
});

test('full-auto is refused if it is not available, and for principals who may not approve', async () => {
  const harness = await createHarness([], { parts: { fullAutoProblem: 'no sandbox' } });
  await harness.engine.send(SESSION, { type: 'session.create' }, CALLER);
  const fullAuto = { type: 'session.configure', approval: 'full-auto' } as const;
  await expect(harness.engine.send(SESSION, fullAuto, CALLER)).rejects.toMatchObject({ code: 'invalid' });
  const sandboxed = await createHarness([], { store: harness.store });
  const user = { ...CALLER.principal, role: 'user' as const, permissions: ['chat:send' as const] };
  await expect(
    sandboxed.engine.send(SESSION, fullAuto, { ...CALLER, principal: user }),
  ).rejects.toMatchObject({ code: 'forbidden' });
  await sandboxed.engine.send(SESSION, fullAuto, CALLER);
  expect((await sandboxed.engine.snapshot(SESSION)).approvalMode).toBe('full-auto');
});
