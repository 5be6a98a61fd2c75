import { afterEach, describe, expect, test } from 'bun:test';
import { askInProcess } from '../../testing/providers/http/in-process.ts';
import { answer, closePeers, peer, textOf, type Visit } from '../../testing/providers/http/peer.ts';
import { socketClient as post } from './socket-client.ts';

afterEach(closePeers);

const never = new AbortController().signal;
const greet = (visit: Visit) => void visit.say(answer('hello'));

/** Posts a request and returns what arrived. */
type Posted = { headers?: Record<string, string>; body?: string; user?: string };

async function sent(path: string, { headers = {}, body = '{}', user = '' }: Posted = {}) {
  const { url, port, visits } = peer(greet);
  const { status, body: answered } = await post(
    { url: `${url.replace('//', `//${user}`)}${path}`, headers, body },
    never,
  );
  expect([status, await textOf(answered)]).toEqual([200, 'hello']);
  const [request, ...more] = visits.flatMap((visit) => visit.requests);
  if (!request) throw new Error('nothing arrived');
  expect(more).toEqual([]);
  return { ...request, port };
}

describe('a request', () => {
  test('has a line, headers and a body', async () => {
    const { first, headers, body, port } = await sent('/v1/messages', {
      headers: { 'x-api-key': 'secret' },
      body: '{"a":1}',
    });
    expect(first).toBe('POST /v1/messages HTTP/1.1');
    expect(Object.fromEntries(headers)).toEqual({
      host: `127.0.0.1:${port}`,
      'user-agent': 'Parlance',
      'accept-encoding': 'identity',
      'x-api-key': 'secret',
      'content-length': '7',
    });
    expect(body.toString()).toBe('{"a":1}');
  });

  test.each([
    ['', '/'],
    ['/v1/models/a:stream?alt=sse&key=a%20b', '/v1/models/a:stream?alt=sse&key=a%20b'],
    ['?key=1#part', '/?key=1'],
    ['/ü/ x', '/%C3%BC/%20x'],
  ])('to %j has the host %j', async (path, target) => {
    expect((await sent(path)).first).toBe(`POST ${target} HTTP/1.1`);
  });

  test.each(['', 'plain', 'Grüße', '世界 😀', 'é'.repeat(100_000)])(
    'has the length of its body in bytes',
    async (text) => {
      const { headers, body } = await sent('/', { body: text });
      expect(headers.get('content-length')).toBe(String(Buffer.byteLength(text)));
      expect(body.equals(Buffer.from(text))).toBe(true);
    },
  );

  test('uses the given headers instead of its own, in any case, except the length', async () => {
    const given = {
      'User-Agent': 'Mine',
      'Accept-Encoding': 'gzip',
      Host: 'model.test',
      'Content-Length': '1',
    };
    const { headers, body } = await sent('/', { headers: given });
    expect(Object.fromEntries(headers)).toEqual({
      host: 'model.test',
      'user-agent': 'Mine',
      'accept-encoding': 'gzip',
      'content-length': '2',
    });
    expect(body.toString()).toBe('{}');
  });

  test.each([
    ['a name and a password', 'me:p%40ss%20w%C3%B6rd@', 'me:p@ss wörd'],
    ['a name alone', 'me@', 'me:'],
    ['a password alone', ':secret@', ':secret'],
  ])('to an address with %s is authorized by them', async (_, user, plain) => {
    const { headers, port } = await sent('/', { user });
    expect(headers.get('authorization')).toBe(`Basic ${Buffer.from(plain).toString('base64')}`);
    expect(headers.get('host')).toBe(`127.0.0.1:${port}`);
  });

  test('prefers a given authorization header to the one from its address', async () => {
    const { headers } = await sent('/', {
      headers: { Authorization: 'Bearer secret' },
      user: 'me:word@',
    });
    expect(headers.get('authorization')).toBe('Bearer secret');
  });

  test.each([
    ['x-key', 'a\r\nx-more: b'],
    ['x-key', 'a\nb'],
    ['x-key', 'a\rb'],
    ['x-key', 'a\0b'],
    ['x-key: a\r\nx-more', 'b'],
    ['x key', 'b'],
  ])('with a line break in a header is not sent (%j: %j)', async (name, value) => {
    const { url, visits } = peer(greet);
    await expect(post({ url, headers: { [name]: value }, body: '' }, never)).rejects.toBeInstanceOf(
      TypeError,
    );
    await textOf((await post({ url, headers: {}, body: 'well formed' }, never)).body);
    expect(visits.flatMap(({ requests }) => requests.map(({ body }) => body.toString()))).toEqual([
      'well formed',
    ]);
  });
});

describe('an address', () => {
  test.each(['', 'nonsense', '/v1', 'ftp://127.0.0.1/', 'file:///etc/hosts', 'ws://127.0.0.1/', 'http://'])(
    'that is not an HTTP URL is refused (%j)',
    async (url) => {
      await expect(post({ url, headers: {}, body: '' }, never)).rejects.toMatchObject({
        code: 'BAD_ADDRESS',
      });
    },
  );

  test('without a server is reported with the code of the system', async () => {
    const listener = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data: () => undefined } });
    const url = `http://127.0.0.1:${listener.port}`;
    listener.stop(true);
    await expect(post({ url, headers: {}, body: '' }, never)).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  });

  test('may be a host name', async () => {
    const { port, visits } = peer(greet);
    const { body } = await post({ url: `http://localhost:${port}/`, headers: {}, body: '' }, never);
    expect(await textOf(body)).toBe('hello');
    expect(visits[0]?.requests[0]?.headers.get('host')).toBe(`localhost:${port}`);
  });

  test.skipIf(!hasIpv6())('may be of IPv6, where this machine has it', async () => {
    const { url, port, visits } = peer(greet, { hostname: '::1' });
    expect(url).toBe(`http://[::1]:${port}`);
    expect(await textOf((await post({ url, headers: {}, body: '' }, never)).body)).toBe('hello');
    expect(visits[0]?.requests[0]?.headers.get('host')).toBe(`[::1]:${port}`);
  });

  test.each([301, 302, 303, 307, 308])('that redirects (%d) is not followed', async (status) => {
    const target = peer(greet);
    const { url } = peer((visit) => {
      visit.say(`HTTP/1.1 ${status} Moved\r\nlocation: ${target.url}\r\ncontent-length: 4\r\n\r\ngone`);
    });
    const { status: answered, headers, body } = await post({ url, headers: {}, body: '' }, never);
    expect([answered, headers.get('location'), await textOf(body)]).toEqual([status, target.url, 'gone']);
    expect(target.visits).toEqual([]);
  });
});

describe('a proxy', () => {
  test.each(['HTTP_PROXY', 'http_proxy'])(
    'from %s receives the request instead of the host',
    async (name) => {
      const model = peer(greet);
      const proxy = peer((visit) => void visit.say(answer('by proxy')));
      const url = `${model.url}/v1?a=b`;
      expect(await askInProcess([url], { [name]: proxy.url })).toEqual([{ status: 200, text: 'by proxy' }]);
      expect(proxy.visits[0]?.requests[0]?.first).toBe(`POST ${url} HTTP/1.1`);
      expect(proxy.visits[0]?.requests[0]?.body.toString()).toBe('hello');
      expect(model.visits).toEqual([]);
    },
  );

  test('is not used for a host in NO_PROXY', async () => {
    const model = peer(greet);
    const proxy = peer((visit) => void visit.say(answer('by proxy')));
    const environment = { HTTP_PROXY: proxy.url, NO_PROXY: 'other.test,127.0.0.1' };
    expect(await askInProcess([model.url], environment)).toEqual([{ status: 200, text: 'hello' }]);
    expect(proxy.visits).toEqual([]);
  });

  test('for HTTPS is not used for HTTP', async () => {
    const model = peer(greet);
    const proxy = peer((visit) => void visit.say(answer('by proxy')));
    expect(await askInProcess([model.url], { HTTPS_PROXY: proxy.url })).toEqual([
      { status: 200, text: 'hello' },
    ]);
    expect(proxy.visits).toEqual([]);
  });
});

function hasIpv6(): boolean {
  try {
    Bun.listen({ hostname: '::1', port: 0, socket: { data: () => undefined } }).stop(true);
    return true;
  } catch {
    return false; // not available on this machine
  }
}
