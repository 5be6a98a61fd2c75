import { describe, expect, test } from 'bun:test';
import { brotliCompressSync, constants, deflateSync, gzipSync } from 'node:zlib';
import { faultAt, serving, textAt } from '../../testing/tools/site.ts';

const MEGABYTE = 1024 * 1024;
const brotli = (body: string | Uint8Array) =>
  brotliCompressSync(body, { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } });

describe('compression', () => {
  test.each([
    ['gzip', gzipSync],
    ['x-gzip', gzipSync],
    ['deflate', deflateSync],
    ['br', brotli],
    ['identity', (text: string) => text],
  ] as const)('%s is decoded', async (encoding, compress) => {
    await using site = await serving({
      '/': { body: compress('words'), headers: { 'content-encoding': encoding } },
    });
    expect(await textAt(site, '/')).toEndWith('\n\nwords');
  });

  test.each([
    ['gzip', gzipSync],
    ['deflate', deflateSync],
    ['br', brotli],
  ] as const)('a %s bomb is stopped', async (encoding, compress) => {
    const body = compress(Buffer.alloc(200 * MEGABYTE));
    expect(body.length).toBeLessThan(MEGABYTE);
    await using site = await serving({ '/': { body, headers: { 'content-encoding': encoding } } });
    expect(await faultAt(site, '/')).toContain('larger than 5 MB');
  });

  test.each(['zstd', 'gzip, gzip', 'compress', 'constructor'])('%j is refused', async (encoding) => {
    await using site = await serving({ '/': { body: 'x', headers: { 'content-encoding': encoding } } });
    expect(await faultAt(site, '/')).toContain('unsupported compression');
  });

  test.each([
    ['that is truncated', gzipSync('words'.repeat(1_000)).subarray(0, 20)],
    ['that is not gzip', 'words'],
  ])('gzip %s is a fault', async (_name, body) => {
    await using site = await serving({ '/': { body, headers: { 'content-encoding': 'gzip' } } });
    expect(await faultAt(site, '/')).toBe('The page could not be fetched.');
  });
});
