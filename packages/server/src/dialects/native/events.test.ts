import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { startTestServer, type TestServer } from '../../testing/server.ts';
import { within } from '../../testing/until.ts';

let server: TestServer;

beforeAll(async () => {
  server = await startTestServer();
});

afterAll(() => server.stop());

type Json = Record<string, unknown>;

async function call(path: string, body?: unknown, headers: Record<string, string> = {}) {
  const response = await fetch(server.http + path, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: body === undefined ? undefined : typeof body === 'string' ? body : JSON.stringify(body),
  });
  return { status: response.status, body: (await response.json()) as Json };
}

const submit = (text: string) => ({ type: 'input.submit', parts: [{ type: 'text', text }] });

const command = (session: string, body: unknown, headers?: Record<string, string>) =>
  call(`/v1/sessions/${session}/commands`, body, headers);

/** Server-sent events of a session, one by one. */
async function follow(path: string, headers: Record<string, string> = {}) {
  const stop = new AbortController();
  const response = await fetch(server.http + path, {
    headers: { accept: 'text/event-stream', ...headers },
    signal: stop.signal,
  });
  expect(response.headers.get('content-type')).toBe('text/event-stream');
  const seen: { id?: string; event: string; data: Json }[] = [];
  let buffer = '';
  const decoder = new TextDecoder();
  const reader = (response.body as ReadableStream<Uint8Array>).getReader();
  async function until(event: string) {
    for (;;) {
      const found = seen.findIndex((one) => one.event === event);
      if (found >= 0) return seen.splice(0, found + 1);
      const { value, done } = await within(reader.read(), `no ${event}`);
      if (done) throw new Error(`the stream ended before ${event}`);
      buffer += decoder.decode(value, { stream: true });
      for (let end = buffer.indexOf('\n\n'); end >= 0; end = buffer.indexOf('\n\n')) {
        const lines = buffer.slice(0, end).split('\n');
        buffer = buffer.slice(end + 2);
        const field = (name: string) =>
          lines.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2);
        if (field('event'))
          seen.push({
            id: field('id'),
            event: field('event') ?? '',
            data: JSON.parse(field('data') ?? 'null'),
          });
      }
    }
  }
  return { until, stop: () => stop.abort() };
}

const seqs = (events: { id?: string }[]) => events.flatMap((event) => (event.id ? [Number(event.id)] : []));

describe('events', () => {
  test('are read page by page, numbered without gaps', async () => {
    await command('n-pages', submit('count to 5'));
    const live = await follow('/v1/sessions/n-pages/events');
    await live.until('turn.ended');
    live.stop();
    const numbers: number[] = [];
    for (let after: number | null = 0; after !== null; ) {
      const { body } = await call(`/v1/sessions/n-pages/events?after=${after}&limit=2`);
      numbers.push(...(body.events as { seq: number }[]).map((event) => event.seq));
      after = body.next as number | null;
    }
    expect(numbers).toEqual(numbers.map((_, index) => index + 1));
  });

  test('stream: the history, a snapshot, then live events, including deltas', async () => {
    await command('n-stream', { type: 'session.create' });
    const live = await follow('/v1/sessions/n-stream/events');
    expect((await live.until('snapshot')).map((event) => event.event)).toEqual([
      'session.created',
      'snapshot',
    ]);
    await command('n-stream', submit('count to 5'));
    const events = await live.until('turn.ended');
    expect(seqs(events)).toEqual([2, 3, 4, 5, 6]);
    const pieces = events
      .filter((event) => event.event === 'text.delta')
      .map((event) => event.data.text as string);
    const whole = events.find((event) => event.event === 'text.ended');
    expect(whole?.data.text).toBe(pieces.join(''));
    live.stop();
  });

  test('continue after Last-Event-ID', async () => {
    await command('n-resume', submit('Hello'));
    const first = await follow('/v1/sessions/n-resume/events');
    await first.until('turn.ended');
    first.stop();
    const second = await follow('/v1/sessions/n-resume/events', { 'last-event-id': '3' });
    expect(seqs(await second.until('snapshot'))).toEqual([4, 5, 6]);
    second.stop();
  });

  test('a position that no longer exists gets a reset', async () => {
    await command('n-reset', { type: 'session.create' });
    const stream = await follow('/v1/sessions/n-reset/events?after=99');
    expect((await stream.until('snapshot')).map((event) => event.event)).toEqual([
      'reset',
      'session.created',
      'snapshot',
    ]);
    stream.stop();
    expect((await call('/v1/sessions/n-reset/events?after=99')).body).toMatchObject({ reset: true, head: 1 });
    expect((await call('/v1/sessions/n-reset/events?after=-1')).status).toBe(400);
  });
});
