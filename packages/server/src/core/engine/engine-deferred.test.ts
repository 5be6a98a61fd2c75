import { expect, test } from 'bun:test';
import type { CallId } from '@parlance/protocol';
import { CALLER, countingIds, createHarness, SESSION, say } from '../../testing/harness.ts';
import { calls, says } from '../../testing/scripted-provider.ts';

const CLICK = calls('errand', { what: 'click' });
const parts = [{ type: 'text', text: 'clicked' } as const];

test('a deferred call waits across a restart and is answered once', async () => {
  const ids = countingIds();
  const first = await createHarness([CLICK], { ids });
  const deferred = first.nextEvent('call.deferred');
  await say(first.engine, 'Click');
  const { call } = await deferred;
  const second = await createHarness([says('Done.')], { ids, store: first.store });
  await second.engine.recover();
  expect((await second.engine.snapshot(SESSION)).deferred).toMatchObject([{ call, tool: 'errand' }]);
  const ended = second.nextEvent('turn.ended');
  await second.engine.send(SESSION, { type: 'call.answer', call, parts }, CALLER);
  await ended;
  const again = second.engine.send(SESSION, { type: 'call.answer', call, parts }, CALLER);
  await expect(again).rejects.toMatchObject({ code: 'not_found' });
});

test('an invalid call is reported to the model before a client is asked', async () => {
  const harness = await createHarness([calls('errand', { what: 'impossible' }), says('Then not.')]);
  const ended = harness.nextEvent('turn.ended');
  await say(harness.engine, 'Do it');
  await ended;
  expect(harness.events.some((event) => event.type === 'call.deferred')).toBe(false);
  expect(harness.events.find((event) => event.type === 'tool.ended')).toMatchObject({ outcome: 'failed' });
});

test('an answer to an unknown call changes nothing', async () => {
  const harness = await createHarness([]);
  const answer = { type: 'call.answer', call: 'call_9' as CallId, parts } as const;
  await expect(harness.engine.send(SESSION, answer, CALLER)).rejects.toMatchObject({ code: 'not_found' });
});

test('a turn can use another agent than the session, and the session keeps its agent', async () => {
  const harness = await createHarness([says('I test.'), says('I code.')]);
  for (const [answeredBy, name] of [
    ['tester', 'Tester'],
    [undefined, 'Coder'],
  ] as const) {
    const started = harness.nextEvent('turn.started');
    const ended = harness.nextEvent('turn.ended');
    await harness.engine.send(SESSION, { type: 'input.submit', parts, answeredBy }, CALLER);
    expect((await started).agent.name).toBe(name);
    await ended;
  }
});
