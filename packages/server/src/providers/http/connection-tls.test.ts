import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CERTIFICATE, PRIVATE_KEY } from '../../testing/providers/http/certificate.ts';
import { askInProcess } from '../../testing/providers/http/in-process.ts';
import { answer, closePeers, peer, turns, type Visit } from '../../testing/providers/http/peer.ts';
import * as elsewhere from '../../testing/tools/certificate.ts';
import { socketClient as post } from './socket-client.ts';

const HERE = { cert: CERTIFICATE, key: PRIVATE_KEY };
/** for the host `site.test` */
const ELSEWHERE = { cert: elsewhere.CERTIFICATE, key: elsewhere.PRIVATE_KEY };

let folder: string;
/** environment of a process that trusts both certificates */
let trusting: Record<string, string>;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'parlance-tls-'));
  trusting = { NODE_EXTRA_CA_CERTS: join(folder, 'trusted.pem') };
  await Bun.write(join(folder, 'trusted.pem'), CERTIFICATE + elsewhere.CERTIFICATE);
});
afterAll(() => rm(folder, { recursive: true }));
afterEach(closePeers);

const never = new AbortController().signal;
const greet = (visit: Visit) => void visit.say(answer('hello'));
const ask = (url: string) => post({ url, headers: { authorization: 'Bearer secret' }, body: '{}' }, never);

describe('a server', () => {
  test('with an untrusted certificate is refused, and receives no byte', async () => {
    const { url, visited } = peer(greet, { tls: HERE });
    await expect(ask(url)).rejects.toMatchObject({
      code: 'BAD_CERTIFICATE',
      cause: { code: 'DEPTH_ZERO_SELF_SIGNED_CERT' },
    });
    const visit = await visited(1);
    let heard = false;
    visit.heard.then(() => (heard = true));
    await visit.closed;
    expect([heard, visit.requests]).toEqual([false, []]);
  });

  test('with a certificate for another name is refused, and receives no byte', async () => {
    const { url, visited } = peer(greet, { tls: ELSEWHERE });
    expect(await askInProcess([url, url.replace('127.0.0.1', 'localhost')], trusting)).toEqual([
      { code: 'BAD_CERTIFICATE', cause: 'ERR_TLS_CERT_ALTNAME_INVALID' },
      { code: 'BAD_CERTIFICATE', cause: 'ERR_TLS_CERT_ALTNAME_INVALID' },
    ]);
    for (const visit of [await visited(1), await visited(2)]) {
      let heard = false;
      visit.heard.then(() => (heard = true));
      await visit.closed;
      expect([heard, visit.requests]).toEqual([false, []]);
    }
  });

  test('with a trusted certificate is used over a persistent connection', async () => {
    const { url, visits } = peer(greet, { tls: HERE });
    const named = url.replace('127.0.0.1', 'localhost');
    const hello = { status: 200, text: 'hello' };
    expect(await askInProcess([url, url, named, url], trusting)).toEqual([hello, hello, hello, hello]);
    expect(visits.map(({ requests }) => requests.length)).toEqual([3, 1]);
    expect(visits[0]?.requests[0]?.headers.get('authorization')).toBe('Bearer secret');
    expect(visits[0]?.requests[0]?.body.toString()).toBe('hello');
  });

  test('with a trusted certificate may close right after its last byte', async () => {
    const text = 'Grüße, 世界 😀\n'.repeat(200_000);
    const { url } = peer(
      async (visit) => {
        visit.say('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n');
        for (const piece of ['a', 'b', 'c']) {
          visit.say(`1\r\n${piece}\r\n`);
          await turns(3);
        }
        visit.say(`${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n0\r\n\r\n`).hangUp();
      },
      { tls: HERE },
    );
    const [outcome] = await askInProcess([url], trusting);
    expect(outcome).toMatchObject({ status: 200 });
    expect(outcome && 'text' in outcome && outcome.text === `abc${text}`).toBe(true);
  });

  test('that does not speak TLS is not reported as a bad certificate', async () => {
    const { url } = peer(() => undefined, {
      opened: (visit) => void visit.say('HTTP/1.1 400 Bad Request\r\n\r\n'),
    });
    await expect(ask(url.replace('http:', 'https:'))).rejects.toMatchObject({ code: 'BAD_ANSWER' });
  });

  test('that closes during the handshake is a lost connection', async () => {
    const { url, visited } = peer(() => undefined);
    const asked = ask(url.replace('http:', 'https:'));
    const visit = await visited(1);
    await visit.heard;
    visit.hangUp();
    await expect(asked).rejects.toMatchObject({ code: 'CONNECTION_LOST' });
  });
});
