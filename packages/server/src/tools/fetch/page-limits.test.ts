import { describe, expect, test } from 'bun:test';
import type { ServerResponse } from 'node:http';
import { eventually, faultAt, get, openSite, serving, textAt } from '../../testing/tools/site.ts';
import { faultOf } from '../../testing/tools/tool-context.ts';
import { slowness } from '../../testing/until.ts';

const MEGABYTE = 1024 * 1024;

describe('size and time limits', () => {
  const endless = (write: (response: ServerResponse) => void) =>
    openSite((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/plain' });
      write(response);
    });

  test('5 MB are read, one byte more is refused', async () => {
    await using site = await serving({
      '/most': { body: Buffer.alloc(5 * MEGABYTE, 'a') },
      '/more': { body: Buffer.alloc(5 * MEGABYTE + 1, 'a') },
    });
    expect(await textAt(site, '/most')).toContain('characters left out');
    expect(await faultAt(site, '/more')).toContain('larger than 5 MB');
  });

  test('an endless body is aborted', async () => {
    await using site = await endless(function more(response): void {
      if (!response.destroyed) response.write(Buffer.alloc(MEGABYTE, 'a'), () => more(response));
    });
    expect(await faultAt(site, '/')).toContain('larger than 5 MB');
    await eventually(async () => (await site.connections()) === 0);
  });

  test('a slow body times out', async () => {
    await using site = await endless((response) => {
      const timer = setInterval(() => response.write('a'), 10);
      response.on('close', () => clearInterval(timer));
    });
    expect(await faultAt(site, '/', { timeoutMs: 200 })).toBe('The page did not arrive within 0.2 s.');
    await eventually(async () => (await site.connections()) === 0);
  });

  test('an unresponsive site times out', async () => {
    await using site = await openSite(() => undefined);
    expect(await faultAt(site, '/', { timeoutMs: 100 })).toBe('The page did not arrive within 0.1 s.');
  });

  test('redirects share one deadline', async () => {
    await using site = await openSite((_request, response) => {
      setTimeout(() => response.writeHead(302, { location: '/on' }).end(), 60);
    });
    expect(await faultAt(site, '/', { timeoutMs: 150 })).toBe('The page did not arrive within 0.15 s.');
  });

  test('an unresponsive name server times out', async () => {
    await using site = await serving({});
    const resolve = () => new Promise<string[]>(() => undefined);
    expect(await faultAt(site, '/', { timeoutMs: 50, resolve })).toContain('did not arrive');
  });

  test('an abort closes the connection', async () => {
    await using site = await endless((response) => void response.write('a'));
    const abort = new AbortController();
    const call = faultOf(get(site, '/', { signal: abort.signal }));
    await eventually(async () => (await site.connections()) === 1);
    abort.abort();
    expect((await call).code).toBe('cancelled');
    await eventually(async () => (await site.connections()) === 0);
  });

  test('a broken connection is a fault', async () => {
    await using site = await endless((response) => {
      response.write('half');
      setTimeout(() => response.destroy(), 20);
    });
    expect(await faultAt(site, '/')).toBe('The page could not be fetched.');
  });

  const BEAT_MS = 5;
  test.each([
    ['deeply nested elements', '<div>'.repeat(300_000)],
    ['open angle brackets only', '<'.repeat(4_000_000)],
  ])('a page of %s does not block the event loop', async (_name, body) => {
    await using site = await serving({ '/': { type: 'text/html', body } });
    const abort = new AbortController();
    setTimeout(() => abort.abort(), 1_500);
    let beats = 0;
    const beat = setInterval(() => beats++, BEAT_MS);
    const began = performance.now();
    await get(site, '/', { signal: abort.signal }).catch(() => undefined);
    clearInterval(beat);
    // If the page were parsed on this thread, the timer would not fire in the meantime.
    expect(beats).toBeGreaterThan((performance.now() - began) / BEAT_MS / 20 / slowness());
  });
});
