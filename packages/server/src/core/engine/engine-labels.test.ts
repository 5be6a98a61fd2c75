import { expect, test } from 'bun:test';
import { createHarness, SESSION, say } from '../../testing/harness.ts';
import { says } from '../../testing/scripted-provider.ts';

const nothing = () => undefined;

test('labels are stored in the append that ends the turn, after all its output', async () => {
  const { engine, events, store } = await createHarness([says('All ', 'of it.')]);
  const watch = await engine.watch(SESSION, nothing);
  let text = '';
  const heads: number[] = [];
  await engine.watch(
    SESSION,
    (event) => {
      if (event.type === 'text.delta') text += event.text;
    },
    { committed: (commit) => heads.push(commit.events.length) },
  );
  engine.labelTurns(SESSION, () => ({ answer: text }));
  await say(engine, 'hello');
  await engine.whenIdle(SESSION);
  expect(events.slice(-2)).toMatchObject([
    { type: 'session.labelled', labels: { answer: 'All of it.' } },
    { type: 'turn.ended' },
  ]);
  expect(heads).toHaveLength(2);
  expect(await store.load(SESSION)).toMatchObject({ labels: { answer: 'All of it.' }, status: 'idle' });
  watch.stop();
});

test('too many labels do not fail the turn', async () => {
  const { engine, events } = await createHarness([says('one')]);
  await engine.watch(SESSION, nothing);
  engine.labelTurns(SESSION, () =>
    Object.fromEntries(Array.from({ length: 51 }, (_, at) => [`label-${at}`, 'x'])),
  );
  await say(engine, 'hello');
  await engine.whenIdle(SESSION);
  expect(events.at(-1)?.type).toBe('turn.ended');
  expect(events.some(({ type }) => type === 'session.labelled')).toBe(false);
});

test('asks no more when that has been ended', async () => {
  const { engine, events } = await createHarness([says('one')]);
  await engine.watch(SESSION, nothing);
  engine.labelTurns(SESSION, () => ({ never: 'x' }))();
  await say(engine, 'hello');
  await engine.whenIdle(SESSION);
  expect(events.some(({ type }) => type === 'session.labelled')).toBe(false);
});
