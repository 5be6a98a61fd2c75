import { expect, test } from 'bun:test';
import type { SessionView } from '@parlance/sdk';
import { hasInput } from './page.tsx';

type Inputs = Pick<SessionView, 'queued' | 'entries'>;

test('a message is in the view when it is queued or has started a turn', () => {
  const queued = { queued: [{ key: 'a' }], entries: [] } as unknown as Inputs;
  const started = { queued: [], entries: [{ kind: 'cleared' }, { kind: 'turn', input: { key: 'a' } }] };
  expect(hasInput(queued, 'a')).toBe(true);
  expect(hasInput(started as unknown as Inputs, 'a')).toBe(true);
  expect(hasInput(queued, 'b')).toBe(false);
});
