import { expect, test } from 'bun:test';
import { textPart } from '@parlance/protocol';
import { CALLER, createHarness, SESSION } from '../../../testing/harness.ts';
import { within } from '../../../testing/until.ts';
import { IDLE } from '../../kit/turn-updates.ts';
import { ResponseFollower } from './follower.ts';
import type { Segment } from './objects.ts';

test('a response whose session was deleted before it is followed ends with a fault', async () => {
  const { engine } = await createHarness([]);
  await engine.send(SESSION, { type: 'input.submit', parts: [textPart('Hi')] }, CALLER);
  const start = (await engine.events(SESSION, 0, 100)).find(({ type }) => type === 'input.accepted');
  if (start?.type !== 'input.accepted') throw new Error('nothing was accepted');
  await engine.erase(SESSION, CALLER);
  const segment = {
    ref: SESSION,
    start,
    head: { session: SESSION.id, terms: {}, data: {} },
    target: { input: start.input, turn: null },
    state: IDLE,
  } as unknown as Segment;
  const follower = await ResponseFollower.open({ engine }, segment);
  await within(follower.done, 'the response does not end');
  expect(follower.fault?.code).toBe('not_found');
});
