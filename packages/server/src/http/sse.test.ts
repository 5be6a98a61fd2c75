import { expect, jest, test } from 'bun:test';
import { QUIET } from '../testing/pusher.ts';
import type { EventStream } from './connection.ts';
import { eventStreams } from './sse.ts';

test.each([
  [undefined, ': still here\n\n'],
  ['event: ping\ndata: {}\n\n', 'event: ping\ndata: {}\n\n'],
])(
  'a silent stream is kept alive by a comment, or by what the dialect has for it (%p)',
  async (keepAlive, text) => {
    jest.useFakeTimers();
    try {
      const ends = Promise.withResolvers<void>();
      const open = eventStreams({ heldCharacters: 1_000 }, QUIET);
      const response = open(new Request('http://localhost/'), {
        dialect: 'native',
        encode: () => '',
        produce: async (stream: EventStream) => {
          stream.send('data: 1\n\n');
          await ends.promise;
        },
        ...(keepAlive !== undefined && { keepAlive }),
      });
      const whole = response.text();
      await Promise.resolve();
      for (let count = 0; count < 3; count++) jest.advanceTimersByTime(15_000);
      ends.resolve();
      expect(await whole).toBe(`data: 1\n\n${text}${text}`);
    } finally {
      jest.useRealTimers();
    }
  },
);
