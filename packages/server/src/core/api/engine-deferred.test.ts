import { expect, test } from 'bun:test';
import type { CallId } from '@parlance/protocol';
import { calls, says } from '../../testing/scripted-provider.ts';
import { CALLER, countingIds, SESSION, say, setStage } from '../../testing/stage.ts';

const CLICK = calls('errand', { what: 'click' });
const parts = [{ type: 'text', text: 'clicked' } as const];

test('a deferred call waits across a restart and is answered once', async () => {
  const ids = countingIds();
  const first = await setStage([CLICK], { ids });
  const deferred = first.happens('call.deferred');
  await say(first.engine, 'Click');
  const { call } = await deferred;
  const second = await setStage([says('Done.')], { ids, store: first.store });
  await second.engine.recover();
  expect((await second.engine.snapshot(SESSION)).deferred).toMatchObject([{ call, tool: 'errand' }]);
  const ended = second.happens('turn.ended');
  await second.engine.send(SESSION, { type: 'call.answer', call, parts }, CALLER);
  await ended;
  const again = second.engine.send(SESSION, { type: 'call.answer', call, parts }, CALLER);
  await expect(again).rejects.toMatchObject({ code: 'not_found' });
});

test('an invalid call is reported to the model before a client is asked', async () => {
  const stage = await setStage([calls('errand', { what: 'impossible' }), says('Then not.')]);
  const ended = stage.happens('turn.ended');
  await say(stage.engine, 'Do it');
  await ended;
  expect(stage.events.some((event) => event.type === 'call.deferred')).toBe(false);
  expect(stage.events.find((event) => event.type === 'tool.ended')).toMatchObject({ outcome: 'failed' });
});

test('an answer to an unknown call changes nothing', async () => {
  const stage = await setStage([]);
  const answer = { type: 'call.answer', call: 'call_9' as CallId, parts } as const;
  await expect(stage.engine.send(SESSION, answer, CALLER)).rejects.toMatchObject({ code: 'not_found' });
});

test('a turn can use another agent than the session, and the session keeps its agent', async () => {
  const stage = await setStage([says('I test.'), says('I code.')]);
  for (const [answeredBy, name] of [
    ['tester', 'Tester'],
    [undefined, 'Coder'],
  ] as const) {
    const started = stage.happens('turn.started');
    const ended = stage.happens('turn.ended');
    await stage.engine.send(SESSION, { type: 'input.submit', parts, answeredBy }, CALLER);
    expect((await started).agent.name).toBe(name);
    await ended;
  }
});
