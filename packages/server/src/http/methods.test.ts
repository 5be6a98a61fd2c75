/** HTTP methods and versions as probes, proxies and scripts use them, over raw sockets. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { startTestServer, type TestServer } from '../testing/server.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.stop());

/** Everything that the server sends until it closes the connection. */
function raw(request: string): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  let received = '';
  void Bun.connect({
    hostname: '127.0.0.1',
    port: Number(new URL(server.http).port),
    socket: {
      open: (socket) => void socket.write(request),
      data: (socket, bytes) => {
        received += bytes;
        // HTTP/1.0 clients close after the body.
        if (/\r\n\r\n/.test(received)) socket.end();
      },
      close: () => resolve(received),
    },
  });
  return promise;
}

test.each(['/', '/openapi.json', '/health', '/v1/sessions', '/docs/missing'])(
  'HEAD %s has the headers of GET, and no body',
  async (path) => {
    const get = await fetch(server.http + path, { headers: { 'accept-encoding': 'identity' } });
    const length = (await get.arrayBuffer()).byteLength;
    expect(length).toBeGreaterThan(0);
    const head = await fetch(server.http + path, {
      method: 'HEAD',
      headers: { 'accept-encoding': 'identity' },
    });
    expect(head.status).toBe(get.status);
    expect(head.headers.get('content-length')).toBe(String(length));
    expect(head.headers.get('content-type')).toBe(get.headers.get('content-type'));
    expect(await head.text()).toBe('');
  },
);

test('HEAD of an event stream ends and has no length', async () => {
  const head = await fetch(`${server.http}/v1/activity`, { method: 'HEAD' });
  expect([head.status, head.headers.get('content-length')]).toEqual([200, null]);
  expect(head.headers.get('content-type')).toStartWith('text/event-stream');
});

test.each([
  ['DELETE', '/', 'GET, HEAD'],
  ['POST', '/health', 'GET, HEAD'],
  ['PUT', '/docs/', 'GET, HEAD'],
  ['GET', '/openai/v1/chat/completions', 'POST'],
  ['GET', '/anthropic/v1/messages', 'POST'],
  ['DELETE', '/api/agent/interact', 'POST'],
])('%s %s is 405 and names the methods', async (method, path, allow) => {
  const response = await fetch(server.http + path, { method });
  expect([response.status, response.headers.get('allow')]).toEqual([405, allow]);
  expect(await response.text()).toContain('Method not allowed');
});

test('the error is one of the dialect', async () => {
  const response = await fetch(`${server.http}/anthropic/v1/messages`);
  expect(await response.json()).toMatchObject({ type: 'error', error: { type: 'invalid_request_error' } });
});

test.each([
  ['GET', '/missing'],
  ['POST', '/v1/missing'],
  ['GET', '/v1/sessions/missing'],
])('%s %s stays 404', async (method, path) => {
  const response = await fetch(server.http + path, { method });
  expect([response.status, response.headers.get('allow')]).toEqual([404, null]);
});

test.each(['/health', '/ready', '/health?verbose'])('%s answers HTTP/1.0 without Host', async (path) => {
  expect(await raw(`GET ${path} HTTP/1.0\r\n\r\n`)).toStartWith('HTTP/1.1 200 ');
  expect(await raw(`HEAD ${path} HTTP/1.0\r\n\r\n`)).toStartWith('HTTP/1.1 200 ');
});

test.each([
  'GET /v1/sessions HTTP/1.0\r\n\r\n',
  'GET /healthy HTTP/1.0\r\n\r\n',
  'POST /health HTTP/1.0\r\n\r\n',
  'GET /health HTTP/1.0\r\nOrigin: https://evil.example\r\n\r\n',
  'GET /health HTTP/1.0\r\nHost: evil.example\r\n\r\n',
])('%j is refused', async (request) => {
  expect(await raw(request)).toStartWith('HTTP/1.1 403 ');
});

describe('conditional requests', () => {
  const tagOf = async (path: string) => (await fetch(server.http + path)).headers.get('etag') ?? '';

  test.each(['/openapi.json', '/asyncapi.json', '/.well-known/agent-card.json'])(
    '%s is 304 if the client has it',
    async (path) => {
      const etag = await tagOf(path);
      expect(etag).toMatch(/^"[^"]+"$/);
      for (const known of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
        const again = await fetch(server.http + path, { headers: { 'if-none-match': known } });
        expect([known, again.status, again.headers.get('etag'), await again.text()]).toEqual([
          known,
          304,
          etag,
          '',
        ]);
      }
      const changed = await fetch(server.http + path, { headers: { 'if-none-match': '"other"' } });
      expect(changed.status).toBe(200);
    },
  );
});
