/** HTTP/1.1 by hand: what intermediaries and attackers send. No byte of a request may become another request. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { connect } from 'node:net';
import { startTestServer, type TestServer } from '../../packages/server/src/testing/server.ts';
import { within } from '../../packages/server/src/testing/until.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.stop());

const host = () => new URL(server.http).host;

/** Everything that the server sends until it closes the connection, or has sent as many responses. */
async function exchange(request: string, responses = 1): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  const { port } = new URL(server.http);
  let text = '';
  const socket = connect(Number(port), '127.0.0.1', () => socket.write(request, 'latin1'));
  socket.setEncoding('latin1');
  socket.on('data', (chunk) => {
    text += chunk;
    if (whole(text) >= responses) socket.destroy();
  });
  socket.on('error', () => undefined);
  socket.on('close', () => resolve(text));
  return within(promise, `no answer to ${JSON.stringify(request.slice(0, 200))}`);
}

/** The number of complete responses, with bodies of a known length. */
function whole(text: string): number {
  let count = 0;
  for (let at = 0; ; count++) {
    const end = text.indexOf('\r\n\r\n', at);
    if (end < 0) return count;
    const length = Number(/\r\ncontent-length: *(\d+)/i.exec(text.slice(at, end))?.[1] ?? 0);
    if (text.length < end + 4 + length) return count;
    at = end + 4 + length;
  }
}

const statuses = (text: string): number[] =>
  [...text.matchAll(/HTTP\/1\.[01] (\d{3})/g)].map(([, status]) => Number(status));

const get = (path: string, ...headers: string[]) =>
  [`GET ${path} HTTP/1.1`, `Host: ${host()}`, ...headers, '', ''].join('\r\n');
const post = (headers: readonly string[], body: string) =>
  ['POST /a2a HTTP/1.1', `Host: ${host()}`, 'Content-Type: application/json', ...headers, '', body].join(
    '\r\n',
  );

/** A request that must not be answered if it is in the body of another. */
const HIDDEN = `GET /health HTTP/1.1\r\nHost: hidden\r\n\r\n`;
const CALL = '{"jsonrpc":"2.0","id":1,"method":"GetTask","params":{"id":"x"}}';

describe('requests that two readers would understand differently are refused', () => {
  test.each<[string, () => string]>([
    ['two lengths that differ', () => post([`Content-Length: ${CALL.length}`, 'Content-Length: 5'], CALL)],
    ['a length with a sign', () => post([`Content-Length: +${CALL.length}`], CALL)],
    ['a negative length', () => post(['Content-Length: -1'], CALL)],
    ['a hexadecimal length', () => post(['Content-Length: 0x10'], CALL)],
    ['a length with a comma', () => post([`Content-Length: ${CALL.length}, 5`], CALL)],
    ['a length of letters', () => post(['Content-Length: many'], CALL)],
    [
      'a length and chunks',
      () => post([`Content-Length: ${CALL.length}`, 'Transfer-Encoding: chunked'], `0\r\n\r\n${HIDDEN}`),
    ],
    [
      'chunks and a length',
      () => post(['Transfer-Encoding: chunked', 'Content-Length: 4'], `0\r\n\r\n${HIDDEN}`),
    ],
    ['an unknown transfer encoding', () => post(['Transfer-Encoding: xchunked'], `0\r\n\r\n${HIDDEN}`)],
    [
      'chunked that is not the last',
      () => post(['Transfer-Encoding: chunked, identity'], `0\r\n\r\n${HIDDEN}`),
    ],
    ['a chunk size of letters', () => post(['Transfer-Encoding: chunked'], 'xyz\r\nabc\r\n0\r\n\r\n')],
    ['a negative chunk size', () => post(['Transfer-Encoding: chunked'], '-1\r\nabc\r\n0\r\n\r\n')],
    [
      'a huge chunk size',
      () => post(['Transfer-Encoding: chunked'], 'fffffffffffffffff\r\nabc\r\n0\r\n\r\n'),
    ],
    ['a space before the colon', () => get('/health', 'Content-Length : 5')],
    ['a folded header', () => get('/health', 'X-Folded: a', ' b')],
    ['a header without a colon', () => get('/health', 'nothing')],
    ['a header without a name', () => get('/health', ': nothing')],
    ['a NUL in a header', () => get('/health', 'X-Nul: a\0b')],
    ['a bare CR in a header', () => get('/health', 'X-Cr: a\rb')],
    ['no Host', () => 'GET /health HTTP/1.1\r\n\r\n'],
    ['two Hosts', () => get('/health', 'Host: evil.example', 'Connection: close')],
    ['no version', () => `GET /v1/sessions\r\n\r\n`],
    ['version 2.0 in text', () => `GET /health HTTP/2.0\r\nHost: ${host()}\r\n\r\n`],
    ['version 9.9', () => `GET /health HTTP/9.9\r\nHost: ${host()}\r\n\r\n`],
    ['a space in the path', () => `GET /he alth HTTP/1.1\r\nHost: ${host()}\r\n\r\n`],
    ['no path', () => `GET  HTTP/1.1\r\nHost: ${host()}\r\n\r\n`],
    ['a method in lower case', () => `get /health HTTP/1.1\r\nHost: ${host()}\r\n\r\n`],
    ['a TLS handshake', () => '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03'.padEnd(600, '\0')],
    ['a preface of HTTP/2', () => 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
  ])('%s', async (_, request) => {
    const text = await exchange(request(), 2);
    expect(statuses(text).filter((status) => status < 400)).toEqual([]);
    expect(statuses(text).length).toBeLessThanOrEqual(1);
  });

  test('a body that looks like a request is a body', async () => {
    const text = await exchange(
      `${post([`Content-Length: ${HIDDEN.length}`, 'Connection: close'], HIDDEN)}`,
      2,
    );
    expect(statuses(text)).toEqual([200]);
    expect(text).toContain('-32700');
  });

  test('two equal lengths are one', async () => {
    const length = `Content-Length: ${CALL.length}`;
    const seen = statuses(await exchange(post([length, length, 'Connection: close'], CALL)));
    expect(seen.length).toBe(1);
    expect([200, 400]).toContain(seen[0] ?? 0);
  });
});

describe('what is too large is refused', () => {
  test.each<[string, () => string]>([
    ['a path', () => get(`/${'x'.repeat(100_000)}`)],
    ['a header', () => get('/health', `X-Long: ${'x'.repeat(100_000)}`)],
    [
      'the headers together',
      () => get('/health', ...Array.from({ length: 5_000 }, (_, index) => `X-${index}: ${'x'.repeat(20)}`)),
    ],
  ])('%s', async (_, request) => {
    const seen = statuses(await exchange(request()));
    expect(seen.filter((status) => status < 400)).toEqual([]);
  });

  test('a cookie of four kilobytes is not', async () => {
    expect(statuses(await exchange(get('/health', `Cookie: a=${'x'.repeat(4_000)}`)))).toEqual([200]);
  });
});

describe('chunks', () => {
  const chunked = (body: string) => post(['Transfer-Encoding: chunked', 'Connection: close'], body);
  const one = `${CALL.length.toString(16)}\r\n${CALL}\r\n`;

  test.each<[string, string]>([
    ['one', `${one}0\r\n\r\n`],
    ['of one byte each', `${[...CALL].map((byte) => `1\r\n${byte}\r\n`).join('')}0\r\n\r\n`],
    ['a size in capitals', `${CALL.length.toString(16).toUpperCase()}\r\n${CALL}\r\n0\r\n\r\n`],
    ['a size with zeros', `000${one}0\r\n\r\n`],
  ])('%s', async (_, body) => {
    const text = await exchange(chunked(body));
    expect(statuses(text)).toEqual([200]);
    expect(text).toContain('-32001');
  });
});

describe('one connection', () => {
  test('requests in one packet are answered in their order', async () => {
    const text = await exchange(['/health', '/missing', '/health'].map((path) => get(path)).join(''), 3);
    expect(statuses(text)).toEqual([200, 404, 200]);
  });

  test('a request with a body is followed by another', async () => {
    const text = await exchange(post([`Content-Length: ${CALL.length}`], CALL) + get('/health'), 2);
    expect(statuses(text)).toEqual([200, 200]);
  });

  test('`Connection: close` closes it', async () => {
    const text = await exchange(get('/health', 'Connection: close'), 99);
    expect(statuses(text)).toEqual([200]);
  });

  test.each([0, 1, 5, 20])('a request in pieces, the first of %i bytes', async (at) => {
    const request = get('/health', 'Connection: close');
    const { port } = new URL(server.http);
    const { promise, resolve } = Promise.withResolvers<string>();
    let text = '';
    const socket = connect(Number(port), '127.0.0.1', async () => {
      socket.write(request.slice(0, at));
      await Bun.sleep(1);
      socket.write(request.slice(at));
    });
    socket.on('data', (chunk) => {
      text += chunk;
    });
    socket.on('close', () => resolve(text));
    expect(statuses(await within(promise, 'no answer'))).toEqual([200]);
  });
});

describe('methods, versions and expectations', () => {
  test.each(['TRACE', 'CONNECT', 'PROPFIND', 'BREW', 'PATCH', 'PUT'])('%s is refused', async (method) => {
    const seen = statuses(
      await exchange(`${method} /health HTTP/1.1\r\nHost: ${host()}\r\nContent-Length: 0\r\n\r\n`),
    );
    expect(seen.filter((status) => status < 400)).toEqual([]);
  });

  test.each([
    '/',
    '/health',
    '/openapi.json',
    '/asyncapi.json',
    '/v1/sessions',
    '/.well-known/agent-card.json',
  ])('HEAD %s has no body', async (path) => {
    const text = await exchange(get(path, 'Connection: close').replace('GET', 'HEAD'), 99);
    expect(statuses(text).length).toBe(1);
    expect(text.split('\r\n\r\n')[1]).toBe('');
  });

  test('HTTP/1.0 is answered and closed', async () => {
    const text = await exchange(`GET /health HTTP/1.0\r\nHost: ${host()}\r\n\r\n`, 99);
    expect(statuses(text)).toEqual([200]);
  });

  test('`Expect: 100-continue` is answered before the body or with it', async () => {
    const request = post(
      [`Content-Length: ${CALL.length}`, 'Expect: 100-continue', 'Connection: close'],
      CALL,
    );
    const seen = statuses(await exchange(request, 99));
    expect(seen.at(-1)).toBe(200);
    expect(seen.slice(0, -1).filter((status) => status !== 100)).toEqual([]);
  });

  test('the absolute form names the same host', async () => {
    const own = await exchange(`GET http://${host()}/health HTTP/1.1\r\nHost: ${host()}\r\n\r\n`);
    expect(statuses(own).length).toBe(1);
    const foreign = await exchange(
      `GET http://evil.example/v1/sessions HTTP/1.1\r\nHost: evil.example\r\n\r\n`,
    );
    expect(statuses(foreign).filter((status) => status < 400)).toEqual([]);
  });

  test.each([
    '/../etc/passwd',
    '/assets/../../package.json',
    '/assets/%2e%2e/%2e%2e/package.json',
    '/docs/..%2f..%2fpackage.json',
    '/docs/%00',
    '//evil.example/',
    '/%',
  ])('the path %s leads nowhere', async (path) => {
    const text = await exchange(get(path));
    expect(text).not.toContain('root:');
    expect(text).not.toContain('"workspaces"');
    expect(text).not.toMatch(/\r\nlocation: *(?:https?:)?\/\//i);
  });
});
