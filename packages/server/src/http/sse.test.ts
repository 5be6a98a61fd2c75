import { expect, jest, test } from 'bun:test';
import { QUIET } from '../testing/pusher.ts';
import type { EventStream } from './connection.ts';
import { eventStreams } from './sse.ts';

test.each([
  [undefined, ': still here\n\n'],
  ['event: ping\ndata: {}\n\n', 'event: ping\ndata: {}\n\n'],
])(
  'an idle stream is kept alive by a comment or by the dialect’s keep-alive (%p)',
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

test('a reader that drops frames twice does not cause a busy loop', async () => {
  const open = eventStreams({ heldCharacters: 100_000 }, QUIET);
  const flooded = Promise.withResolvers<void>();
  const frame = `data: ${'x'.repeat(10_000)}\n\n`;
  const flood = (stream: EventStream) => {
    for (let count = 0; count < 1_000; count++) stream.send(frame, {});
  };
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: (request) =>
      open(request, {
        dialect: 'native',
        encode: () => '',
        produce: async (stream) => {
          flood(stream);
          await stream.lost();
          flood(stream);
          flooded.resolve();
          await stream.ready();
        },
      }),
  });
  try {
    const socket = await Bun.connect({
      hostname: '127.0.0.1',
      port: server.port as number,
      socket: { open: (opened) => void opened.pause(), data: () => undefined },
    });
    socket.write('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n');
    await flooded.promise;
    // Timers run only if the event loop is not blocked.
    await Bun.sleep(1);
    socket.terminate();
  } finally {
    await server.stop(true);
  }
});
