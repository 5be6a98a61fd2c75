import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadConfig } from '../config/config.ts';
import { type EmbeddedServer, embedServer } from '../main.ts';

const folder = mkdtempSync(join(tmpdir(), 'parlance-embedded-'));
const data = join(folder, 'data');
const config = loadConfig(
  [],
  { PARLANCE_DATA: data, PARLANCE_AUTH: 'required', PARLANCE_OFFLINE_DELAY: '0', LOG_LEVEL: 'silent' },
  folder,
);
let server: EmbeddedServer;

beforeAll(async () => {
  server = await embedServer(config);
});
afterAll(async () => {
  await server.stop(0);
  rmSync(folder, { recursive: true });
});

const submit = (session: string, text: string) =>
  server.fetch(`/v1/sessions/${session}/commands`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ type: 'input.submit', parts: [{ type: 'text', text }] }),
  });

describe('an embedded server', () => {
  test('handles requests without a token as local, regardless of the settings', async () => {
    expect((await submit('first', 'hello')).status).toBe(200);
    const { sessions } = (await (await server.fetch('/v1/sessions')).json()) as { sessions: object[] };
    expect(sessions).toMatchObject([{ id: 'first', owner: 'local' }]);
  });

  test('streams while a turn runs, and ends the stream when the request is aborted', async () => {
    const stop = new AbortController();
    const response = await server.fetch('/v1/sessions/first/events', {
      headers: { accept: 'text/event-stream' },
      signal: stop.signal,
    });
    await submit('first', 'hello again');
    const decoder = new TextDecoder();
    let text = '';
    for await (const chunk of response.body ?? []) {
      text += decoder.decode(chunk, { stream: true });
      if (text.split('event: turn.ended').length > 2) stop.abort();
    }
    expect(text).toContain('text.delta');
  });

  test('opens sockets, answers invalid frames, and closes them', async () => {
    const frames: Record<string, unknown>[] = [];
    const closed = Promise.withResolvers<void>();
    const socket = server.connect('/agentloop', {
      message: (text) => frames.push(JSON.parse(text)),
      closed: () => closed.resolve(),
    });
    socket.receive('{');
    socket.receive(Buffer.from([0x22, 0xff, 0x22]));
    await socket.idle();
    expect(frames.filter(({ type }) => type === 'error')).toHaveLength(2);
    socket.close(1000, '');
    await closed.promise;
    expect(() => server.connect('/nowhere', { message: () => undefined, closed: () => undefined })).toThrow(
      'no socket is served at /nowhere',
    );
  });

  test('locks its data folder', async () => {
    await expect(embedServer(config)).rejects.toThrow(`another Parlance server is using ${data}`);
  });
});
