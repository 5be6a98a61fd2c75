import { afterEach, describe, expect, test } from 'bun:test';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { textOf } from '../../testing/providers/http/peer.ts';
import { socketClient as post } from './socket-client.ts';

const never = new AbortController().signal;
const MEGABYTE = 1024 * 1024;
const TEXT = 'data: {"text":"Grüße, 世界 😀"}\n\n'.repeat(500);

const servers: { stop(force: boolean): Promise<void> }[] = [];
afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.stop(true)));
});

/** A server that sends these bytes with that content coding, whatever was requested. */
function forcing(coding: string, bytes: Uint8Array): string {
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch: () => new Response(bytes, { headers: { 'content-encoding': coding } }),
  });
  servers.push(server);
  return `http://127.0.0.1:${server.port}`;
}

const ask = (url: string) => post({ url, headers: {}, body: '{}' }, never);

describe('a response that is compressed although the request forbids it', () => {
  test.each([
    ['gzip', gzipSync(TEXT)],
    ['GZIP', gzipSync(TEXT)],
    ['x-gzip', gzipSync(TEXT)],
    ['deflate', deflateSync(TEXT)],
    ['br', brotliCompressSync(TEXT)],
    ['identity', Buffer.from(TEXT)],
  ])('is read as its text (%s)', async (coding, bytes) => {
    const url = forcing(coding, bytes);
    expect(await textOf((await ask(url)).body)).toBe(TEXT);
    expect(await textOf((await ask(url)).body)).toBe(TEXT);
  });

  test('is decompressed only as fast as it is read', async () => {
    const size = 64 * MEGABYTE;
    const { body } = await ask(forcing('gzip', gzipSync(Buffer.alloc(size, 'a'))));
    let [longest, total] = [0, 0];
    for (let piece = await body.read(); piece !== null; piece = await body.read()) {
      longest = Math.max(longest, piece.length);
      total += piece.length;
      // Gives a decoder without backpressure time to run ahead.
      for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve));
    }
    expect(total).toBe(size);
    expect(longest).toBeLessThan(2 * MEGABYTE);
  });

  test('can be abandoned in the middle', async () => {
    const { body } = await ask(forcing('gzip', gzipSync(Buffer.alloc(64 * MEGABYTE, 'a'))));
    expect(await body.read()).toStartWith('aaaa');
    body.cancel();
    expect(await body.read()).toBeNull();
  });

  test.each([
    ['that is not what it says', Buffer.from('no gzip at all')],
    ['that is cut', gzipSync(TEXT).subarray(0, 60)],
  ])('%s is a bad answer', async (_, bytes) => {
    const { body } = await ask(forcing('gzip', bytes));
    await expect(textOf(body)).rejects.toMatchObject({ code: 'BAD_ANSWER' });
  });

  test('with an unknown coding is refused', async () => {
    await expect(ask(forcing('compress', Buffer.from('x')))).rejects.toMatchObject({ code: 'BAD_ENCODING' });
  });
});
