import { describe, expect, jest, test } from 'bun:test';
import { Fault } from '@parlance/protocol';
import { QUIET } from '../testing/pusher.ts';
import type { EventStream } from './connection.ts';
import { OpenStreams } from './open-streams.ts';
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
      const open = eventStreams({ heldCharacters: 1_000 }, { log: QUIET });
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
  const open = eventStreams({ heldCharacters: 100_000 }, { log: QUIET });
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

describe('a stream that the server closes', () => {
  const REASON = new Fault('shutting_down', 'Closing.');
  const untilLost = async (stream: EventStream): Promise<void> => {
    stream.send('data: 1\n\n');
    await stream.lost();
  };
  const opened = (streams: OpenStreams, produce: (stream: EventStream) => Promise<void>) =>
    eventStreams({ heldCharacters: 1_000 }, { log: QUIET, streams })(new Request('http://localhost/'), {
      dialect: 'native',
      encode: () => '',
      produce,
    });

  test('ends with the last event of the dialect', async () => {
    const streams = new OpenStreams();
    const ends = Promise.withResolvers<void>();
    const response = opened(streams, async (stream) => {
      stream.onClosing(({ message }) => {
        stream.send(`data: ${message}\n\n`);
        ends.resolve();
      });
      await ends.promise;
    });
    const whole = response.text();
    await Promise.resolve();
    await streams.close(REASON, { withinMs: 60_000 });
    expect(await whole).toBe('data: Closing.\n\n');
  });

  test('ends without an event if the dialect has none', async () => {
    const streams = new OpenStreams();
    const whole = opened(streams, untilLost).text();
    await Promise.resolve();
    await streams.close(REASON, { withinMs: 60_000 });
    expect(await whole).toBe('data: 1\n\n');
  });

  test('does not hold up the server if it does not end', async () => {
    const streams = new OpenStreams();
    const whole = opened(streams, async (stream) => {
      stream.onClosing(() => undefined);
      await untilLost(stream);
    }).text();
    whole.catch(() => undefined);
    await Promise.resolve();
    await streams.close(REASON, { withinMs: 1 });
  });

  test('of another listener stays open', async () => {
    const streams = new OpenStreams();
    const closed: string[] = [];
    using one = Bun.serve({ port: 0, fetch: () => new Response() });
    using other = Bun.serve({ port: 0, fetch: () => new Response() });
    streams.add({ closeWith: () => void closed.push('one') }, one);
    streams.add({ closeWith: () => void closed.push('other') }, other);
    await streams.close(REASON, { withinMs: 1, listener: one });
    expect(closed).toEqual(['one']);
  });
});
