import { afterEach, describe, expect, test } from 'bun:test';
import {
  answer,
  closePeers,
  type Peer,
  peer,
  textOf,
  type Visit,
} from '../../testing/providers/http/peer.ts';
import { ConnectionPool } from './connection-pool.ts';

afterEach(closePeers);

const never = new AbortController().signal;
const greet = (visit: Visit) => void visit.say(answer('hello'));
const request = (body: string) =>
  `POST / HTTP/1.1\r\nhost: model.test\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;

const asked = (connections: ConnectionPool, { port }: Peer, body = '{}') =>
  connections.ask({ hostname: '127.0.0.1', port, secure: false }, request(body), never);

/** The whole answer. */
const ask = async (connections: ConnectionPool, of: Peer, body?: string) =>
  textOf((await asked(connections, of, body)).body);

/** The requests, per connection. */
const arrived = ({ visits }: Peer) =>
  visits.map(({ requests }) => requests.map(({ body }) => body.toString()));

/** Answers each request in turn, on any connection; an empty answer closes it. */
function scripted(...script: readonly string[]): Peer {
  const left = [...script];
  return peer((visit) => {
    const next = left.shift();
    if (next) visit.say(next);
    else visit.hangUp();
  });
}

const HELLO = answer('hello');

describe('a connection', () => {
  test('is reused by sequential requests', async () => {
    const [connections, target] = [new ConnectionPool(), peer(greet)];
    for (const body of ['a', 'b', 'c']) expect(await ask(connections, target, body)).toBe('hello');
    expect(arrived(target)).toEqual([['a', 'b', 'c']]);
  });

  test.each([
    ['in chunks', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n'],
    ['without a body', 'HTTP/1.1 204 No Content\r\n\r\n'],
    ['that is a refusal', 'HTTP/1.1 429 Slow Down\r\ncontent-length: 2\r\n\r\nno'],
    ['after an interim one', `HTTP/1.1 100 Continue\r\n\r\n${HELLO}`],
  ])('is reused after a response %s', async (_, said) => {
    const [connections, target] = [new ConnectionPool(), scripted(said, HELLO)];
    await ask(connections, target, 'a');
    expect(await ask(connections, target, 'b')).toBe('hello');
    expect(arrived(target)).toEqual([['a', 'b']]);
  });

  test.each([
    ['that says `connection: close`', answer('hello', 'Connection: close')],
    ['of HTTP/1.0', HELLO.replace('1.1', '1.0')],
    ['that is followed by bytes', `${HELLO}surplus`],
    [
      'of two lengths',
      answer('hello', 'transfer-encoding: chunked').replace('hello', '5\r\nhello\r\n0\r\n\r\n'),
    ],
  ])('is closed after an answer %s', async (_, said) => {
    const [connections, target] = [new ConnectionPool(), scripted(said, HELLO)];
    expect(await ask(connections, target, 'a')).toBe('hello');
    await target.visits[0]?.closed;
    expect(await ask(connections, target, 'b')).toBe('hello');
    expect(arrived(target)).toEqual([['a'], ['b']]);
  });

  test('carries one exchange at a time: parallel requests use two', async () => {
    const connections = new ConnectionPool();
    const waiting: Visit[] = [];
    const target = peer((visit) => {
      waiting.push(visit);
      if (waiting.length === 2) for (const one of waiting.splice(0)) greet(one);
    });
    await Promise.all([ask(connections, target), ask(connections, target)]);
    await Promise.all([ask(connections, target), ask(connections, target)]);
    expect(target.visits.map(({ requests }) => requests.length)).toEqual([2, 2]);
  });

  test('is not reused before its response has ended', async () => {
    const [connections, target] = [new ConnectionPool(), scripted(HELLO.slice(0, -1), HELLO)];
    const first = await asked(connections, target, 'a');
    expect(await ask(connections, target, 'b')).toBe('hello');
    target.visits[0]?.say('o');
    expect(await textOf(first.body)).toBe('hello');
    expect(arrived(target)).toEqual([['a'], ['b']]);
  });

  test('is reused even if the response was not read, whatever its length', async () => {
    const text = 'x'.repeat(3 * 1024 * 1024);
    const [connections, target] = [new ConnectionPool(), scripted(answer(text), HELLO, HELLO)];
    const first = await asked(connections, target, 'a');
    expect(await ask(connections, target, 'b')).toBe('hello');
    expect((await textOf(first.body)) === text).toBe(true);
    expect(await ask(connections, target, 'c')).toBe('hello');
    expect(arrived(target).flat().sort()).toEqual(['a', 'b', 'c']);
  });

  test('belongs to one port', async () => {
    const [connections, one, other] = [new ConnectionPool(), peer(greet), peer(greet)];
    for (const target of [one, other, one, other]) await ask(connections, target);
    expect([arrived(one), arrived(other)]).toEqual([[['{}', '{}']], [['{}', '{}']]]);
  });

  test('is not shared between HTTP and HTTPS', async () => {
    const [connections, target] = [new ConnectionPool(), peer(greet)];
    await ask(connections, target);
    const secure = { hostname: '127.0.0.1', port: target.port, secure: true };
    const attempt = connections.ask(secure, request('secret'), never);
    const second = await target.visited(2);
    await second.heard;
    second.hangUp();
    await expect(attempt).rejects.toMatchObject({ code: 'CONNECTION_LOST' });
    expect(target.visits[0]?.requests.length).toBe(1);
  });
});

describe('an idle connection', () => {
  test('is not used after the server has closed it', async () => {
    const [connections, target] = [new ConnectionPool(), peer(greet)];
    await ask(connections, target, 'a');
    target.visits[0]?.hangUp();
    await target.visits[0]?.closed;
    expect(await ask(connections, target, 'b')).toBe('hello');
    expect(arrived(target)).toEqual([['a'], ['b']]);
  });

  test('is closed by unexpected bytes', async () => {
    const [connections, target] = [new ConnectionPool(), peer(greet)];
    await ask(connections, target, 'a');
    target.visits[0]?.say(answer('not yours'));
    await target.visits[0]?.closed;
    expect(await ask(connections, target, 'b')).toBe('hello');
    expect(arrived(target)).toEqual([['a'], ['b']]);
  });

  test('is closed by the server without effect on others', async () => {
    const connections = new ConnectionPool();
    const waiting: Visit[] = [];
    const target = peer((visit) => {
      waiting.push(visit);
      if (waiting.length >= 2) for (const one of waiting.splice(0)) greet(one);
    });
    await Promise.all([ask(connections, target), ask(connections, target)]);
    target.visits[1]?.hangUp();
    await target.visits[1]?.closed;
    await Promise.all([ask(connections, target), ask(connections, target)]);
    expect(target.visits.map(({ requests }) => requests.length)).toEqual([2, 1, 1]);
  });
});

describe('a request that races with the close of its connection', () => {
  test('is retried on a new one', async () => {
    const [connections, target] = [new ConnectionPool(), scripted(HELLO, '', HELLO)];
    await ask(connections, target, 'a');
    expect(await ask(connections, target, 'b')).toBe('hello');
    expect(arrived(target)).toEqual([['a', 'b'], ['b']]);
  });

  test('is sent again only once', async () => {
    const [connections, target] = [new ConnectionPool(), scripted(HELLO, '', '', HELLO)];
    await ask(connections, target, 'a');
    await expect(ask(connections, target, 'b')).rejects.toMatchObject({ code: 'CONNECTION_LOST' });
    expect(arrived(target)).toEqual([['a', 'b'], ['b']]);
  });

  test('is not sent again if the connection was new', async () => {
    const [connections, target] = [new ConnectionPool(), scripted('', HELLO)];
    await expect(ask(connections, target, 'a')).rejects.toMatchObject({ code: 'CONNECTION_LOST' });
    expect(arrived(target)).toEqual([['a']]);
  });

  test.each(['H', 'HTTP/1.1 100 Continue\r\n\r\n', 'HTTP/1.1 200 OK\r\n'])(
    'is not sent again after the first byte of a response (%j)',
    async (said) => {
      const connections = new ConnectionPool();
      const target = peer((visit) => (visit.requests.length === 1 ? greet(visit) : visit.say(said).hangUp()));
      await ask(connections, target, 'a');
      await expect(ask(connections, target, 'b')).rejects.toMatchObject({ code: 'CONNECTION_LOST' });
      expect(arrived(target)).toEqual([['a', 'b']]);
    },
  );

  test('is not sent again after it was aborted', async () => {
    const [connections, abort, reason] = [new ConnectionPool(), new AbortController(), new Error('enough')];
    const target = peer((visit) => (visit.requests.length === 1 ? greet(visit) : abort.abort(reason)));
    await ask(connections, target, 'a');
    const origin = { hostname: '127.0.0.1', port: target.port, secure: false };
    await expect(connections.ask(origin, request('b'), abort.signal)).rejects.toBe(reason);
    await target.visits[0]?.closed;
    expect(arrived(target)).toEqual([['a', 'b']]);
  });
});

test('a connection to an invalid address leaves no abort listener behind', async () => {
  const abort = new AbortController();
  const nowhere = { hostname: '', port: 80, secure: false };
  await expect(new ConnectionPool().ask(nowhere, request('a'), abort.signal)).rejects.toBeInstanceOf(
    TypeError,
  );
  // A remaining listener would cause an unhandled rejection now.
  abort.abort();
  await new Promise((resolve) => setImmediate(resolve));
});
