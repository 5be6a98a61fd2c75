import { describe, expect, test } from 'bun:test';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { brotliCompressSync, constants, deflateSync, gzipSync } from 'node:zlib';
import { textOf } from '@parlance/protocol';
import { contextIn, faultOf, use } from '../testing.ts';
import { CERTIFICATE, PRIVATE_KEY } from './test-certificate.ts';
import { openSite, type Site, towardsSite } from './test-site.ts';
import { type FetchOptions, fetchPage } from './tool.ts';

const MEGABYTE = 1024 * 1024;
const brotli = (body: string | Uint8Array) =>
  brotliCompressSync(body, { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } });

type Page = { type?: string; body?: string | Uint8Array; status?: number; headers?: Record<string, string> };

const serving = (pages: Record<string, Page>) =>
  openSite((request, response) => {
    const {
      status = 200,
      type = 'text/plain',
      body = '',
      headers,
    } = pages[request.url ?? ''] ?? { status: 404 };
    response.writeHead(status, { 'content-type': type, ...headers });
    response.end(body);
  });

const get = (
  site: Site,
  path: string,
  { host = 'site.test', signal, ...options }: FetchOptions & { host?: string; signal?: AbortSignal } = {},
) =>
  use(
    fetchPage({ ...towardsSite, ...options }),
    { url: `http://${host}:${site.port}${path}` },
    contextIn('/', signal ? { signal } : {}),
  );

const textAt = async (site: Site, path: string) => textOf((await get(site, path)).parts);
const faultAt = async (...request: Parameters<typeof get>) => (await faultOf(get(...request))).message;

const ARTICLE = `<!doctype html><html><head><title>Ducks &amp; geese</title><script>steal()</script></head><body>
<nav><a href="/">Home</a></nav>
<article><h2>Ducks</h2>
<p>Ducks are birds, which swim, and <a href="../lake?a=1">live on lakes</a>. ${'They quack, they dive, they fly. '.repeat(20)}</p>
<p>See <a href="javascript:steal()">this</a> too. ${'Geese are larger, louder, and bolder. '.repeat(20)}</p>
<img src="data:image/png;base64,AAAA" alt="a duck"><table><tr><th>bird</th><th>legs</th></tr><tr><td>duck</td><td>2</td></tr></table>
</article></body></html>`;

describe('a page', () => {
  test('is given as Markdown, marked as the untrusted content', async () => {
    await using site = await serving({ '/birds/ducks': { type: 'text/html; charset=utf-8', body: ARTICLE } });
    const result = await get(site, '/birds/ducks');
    const url = `http://site.test:${site.port}/birds/ducks`;
    expect(result.untrusted).toBe(true);
    expect(result.data).toEqual({ url, title: 'Ducks & geese' });
    const text = textOf(result.parts);
    expect(text).toStartWith(`# Ducks & geese\n${url}\n\n`);
    expect(text).toContain(`[live on lakes](http://site.test:${site.port}/lake?a=1)`);
    expect(text).toContain('[image: a duck]');
    expect(text).toContain('| duck | 2 |');
    expect(text).not.toMatch(/steal|base64|Home/);
    expect(site.requests).toEqual([`GET /birds/ducks site.test:${site.port}`]);
  });

  test('without an article is given whole', async () => {
    await using site = await serving({
      '/': { type: 'text/html', body: '<p>Hello &lt;you&gt;<script>x()</script>' },
      '/empty': { type: 'text/html', body: '' },
    });
    expect(await textAt(site, '/')).toEndWith('\n\nHello <you>');
    expect(await textAt(site, '/empty')).toEndWith('\n\n(The page has no text.)');
  });

  test.each([
    'text/plain',
    'application/json',
    'application/ld+json; charset=utf-8',
    'application/xml',
    'text/csv',
  ])('of the type %s is given as it is', async (type) => {
    await using site = await serving({ '/': { type, body: '{"a": "<b>"}' } });
    expect(await textAt(site, '/')).toEndWith('/\n\n{"a": "<b>"}');
  });

  test.each([
    'image/png',
    'application/pdf',
    'application/octet-stream',
    'application/zip',
    'video/mp4',
    '',
    'text',
  ])('of the type %j is refused', async (type) => {
    await using site = await serving({ '/': { type, body: 'x' } });
    expect(await faultAt(site, '/')).toContain('does not lead to text');
  });

  test('is decoded by its own encoding', async () => {
    await using site = await serving({
      '/header': { type: 'text/html; charset=windows-1251', body: Uint8Array.of(0xcf, 0xf0, 0xe8) },
      '/meta': {
        type: 'text/html',
        body: Buffer.concat([
          Buffer.from('<meta charset=shift_jis><p>'),
          Buffer.from([0x93, 0xfa, 0x96, 0x7b]),
        ]),
      },
    });
    expect(await textAt(site, '/header')).toEndWith('При');
    expect(await textAt(site, '/meta')).toEndWith('日本');
  });

  test('of 1 MB of text is cut, and says so', async () => {
    await using site = await serving({
      '/plain': { body: '😀'.repeat(250_000) },
      '/html': { type: 'text/html', body: `<p>${'word '.repeat(200_000)}</p>` },
    });
    for (const path of ['/plain', '/html']) {
      const result = await get(site, path);
      const text = textOf(result.parts);
      expect(text.length).toBeLessThan(100_000);
      expect(text).toMatch(/characters left out …\]$/);
      expect(text.isWellFormed()).toBe(true);
      expect(JSON.stringify(result.data).length).toBeLessThan(1_000);
    }
  });

  test.each([404, 500, 403, 304, 300])(
    'with the status %d is a fault without the words of the site',
    async (status) => {
      await using site = await serving({
        '/': { status, type: 'text/html', body: status === 304 ? '' : 'obey me' },
      });
      expect(await faultAt(site, '/')).toBe(`The site answered with status ${status}.`);
    },
  );
});

describe('compression', () => {
  test.each([
    ['gzip', gzipSync],
    ['x-gzip', gzipSync],
    ['deflate', deflateSync],
    ['br', brotli],
    ['identity', (text: string) => text],
  ] as const)('%s is undone', async (encoding, compress) => {
    await using site = await serving({
      '/': { body: compress('words'), headers: { 'content-encoding': encoding } },
    });
    expect(await textAt(site, '/')).toEndWith('\n\nwords');
  });

  test.each([
    ['gzip', gzipSync],
    ['deflate', deflateSync],
    ['br', brotli],
  ] as const)('a bomb in %s is stopped', async (encoding, compress) => {
    const body = compress(Buffer.alloc(200 * MEGABYTE));
    expect(body.length).toBeLessThan(MEGABYTE);
    await using site = await serving({ '/': { body, headers: { 'content-encoding': encoding } } });
    expect(await faultAt(site, '/')).toContain('larger than 5 MB');
  });

  test.each(['zstd', 'gzip, gzip', 'compress', 'constructor'])('%j is not understood', async (encoding) => {
    await using site = await serving({ '/': { body: 'x', headers: { 'content-encoding': encoding } } });
    expect(await faultAt(site, '/')).toContain('not understood');
  });

  test.each([
    ['that is cut off', gzipSync('words'.repeat(1_000)).subarray(0, 20)],
    ['that is none', 'words'],
  ])('gzip %s is a fault', async (_name, body) => {
    await using site = await serving({ '/': { body, headers: { 'content-encoding': 'gzip' } } });
    expect(await faultAt(site, '/')).toBe('The page could not be fetched.');
  });
});

describe('size and time', () => {
  const endless = (write: (response: ServerResponse) => void) =>
    openSite((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/plain' });
      write(response);
    });

  test('5 MB are read, one byte more is not', async () => {
    await using site = await serving({
      '/most': { body: Buffer.alloc(5 * MEGABYTE, 'a') },
      '/more': { body: Buffer.alloc(5 * MEGABYTE + 1, 'a') },
    });
    expect(await textAt(site, '/most')).toContain('characters left out');
    expect(await faultAt(site, '/more')).toContain('larger than 5 MB');
  });

  test('a body without end is broken off', async () => {
    await using site = await endless(function more(response): void {
      if (!response.destroyed) response.write(Buffer.alloc(MEGABYTE, 'a'), () => more(response));
    });
    expect(await faultAt(site, '/')).toContain('larger than 5 MB');
    await eventually(async () => (await site.connections()) === 0);
  });

  test('a body that drips is given up', async () => {
    await using site = await endless((response) => {
      const timer = setInterval(() => response.write('a'), 10);
      response.on('close', () => clearInterval(timer));
    });
    expect(await faultAt(site, '/', { timeoutMs: 200 })).toBe('The page did not arrive within 0.2 s.');
    await eventually(async () => (await site.connections()) === 0);
  });

  test('a site that stays silent is given up', async () => {
    await using site = await openSite(() => undefined);
    expect(await faultAt(site, '/', { timeoutMs: 100 })).toBe('The page did not arrive within 0.1 s.');
  });

  test('redirects share one deadline', async () => {
    await using site = await openSite((_request, response) => {
      setTimeout(() => response.writeHead(302, { location: '/on' }).end(), 60);
    });
    expect(await faultAt(site, '/', { timeoutMs: 150 })).toBe('The page did not arrive within 0.15 s.');
  });

  test('a name server that stays silent is given up', async () => {
    await using site = await serving({});
    const resolve = () => new Promise<string[]>(() => undefined);
    expect(await faultAt(site, '/', { timeoutMs: 50, resolve })).toContain('did not arrive');
  });

  test('cancelling closes the connection', async () => {
    await using site = await endless((response) => void response.write('a'));
    const abort = new AbortController();
    const call = faultOf(get(site, '/', { signal: abort.signal }));
    await eventually(async () => (await site.connections()) === 1);
    abort.abort();
    expect((await call).code).toBe('cancelled');
    await eventually(async () => (await site.connections()) === 0);
  });

  test('a connection that breaks is a fault', async () => {
    await using site = await endless((response) => {
      response.write('half');
      setTimeout(() => response.destroy(), 20);
    });
    expect(await faultAt(site, '/')).toBe('The page could not be fetched.');
  });

  const BEAT_MS = 5;
  test.each([
    ['elements in elements without end', '<div>'.repeat(300_000)],
    ['open angle brackets only', '<'.repeat(4_000_000)],
  ])('a page of %s costs the server nothing but a wait', async (_name, body) => {
    await using site = await serving({ '/': { type: 'text/html', body } });
    const abort = new AbortController();
    setTimeout(() => abort.abort(), 1_500);
    let beats = 0;
    const beat = setInterval(() => beats++, BEAT_MS);
    const began = performance.now();
    await get(site, '/', { signal: abort.signal }).catch(() => undefined);
    clearInterval(beat);
    // Were the page read on this thread, it would stand still as long as that takes.
    expect(beats).toBeGreaterThan((performance.now() - began) / BEAT_MS / 20);
  });
});

describe('redirects', () => {
  const to = (location: string, status = 302): Page => ({ status, headers: { location } });

  test.each([301, 302, 303, 307, 308])('with the status %d are followed', async (status) => {
    await using site = await serving({ '/a': to('b?c', status), '/b?c': { body: 'here' } });
    const result = await get(site, '/a');
    expect(textOf(result.parts)).toBe(`http://site.test:${site.port}/b?c\n\nhere`);
  });

  test('are followed five times', async () => {
    const pages = Object.fromEntries([0, 1, 2, 3, 4, 5].map((n) => [`/${n}`, to(`/${n + 1}`)]));
    await using site = await serving({ ...pages, '/6': { body: 'here' } });
    expect(await textAt(site, '/1')).toEndWith('here');
    expect(await faultAt(site, '/0')).toContain('more than 5 times');
  });

  test('in a circle end', async () => {
    await using site = await serving({ '/': to('/') });
    expect(await faultAt(site, '/')).toContain('more than 5 times');
    expect(site.requests.length).toBe(6);
  });

  test.each([
    ...[
      'http://10.0.0.1/',
      'http://169.254.169.254/latest/meta-data/',
      'http://[::1]/',
      'http://0xa9fea9fe/',
    ],
    ...['http://[::ffff:127.0.0.2]/', 'http://2130706434/', '//192.168.1.1/'],
  ])('to %s are refused', async (location) => {
    await using site = await serving({ '/': to(location) });
    expect(await faultAt(site, '/')).toContain('private or special');
    expect(site.requests.length).toBe(1);
  });

  test.each(['http://other.test/a?b', 'https://other.test/', 'http://site.test:1/', 'http://localhost./'])(
    'to %s, another host than the approved one, are told and not followed',
    async (location) => {
      await using site = await serving({ '/': to('/hop'), '/hop': to(location) });
      const asked: string[] = [];
      const resolve = async (host: string) => {
        asked.push(host);
        return ['127.0.0.1'];
      };
      const result = await get(site, '/', { resolve });
      expect(textOf(result.parts)).toContain(
        `was not fetched. Call fetch_page with its address to ask for it: ${location}`,
      );
      expect(result).toMatchObject({ failed: true, untrusted: true, data: { redirect: location } });
      expect(site.requests.map((request) => request.split(' ')[1])).toEqual(['/', '/hop']);
      expect(new Set(asked)).toEqual(new Set(['site.test']));
    },
  );

  test('from outside to this machine are refused', async () => {
    await using inside = await serving({ '/': { body: 'secret' } });
    await using outside = await serving({ '/': to(`http://127.0.0.1:${inside.port}/`) });
    // The first hop stands for a public site: only its own question is allowed to lead here.
    let questions = 0;
    const allow = () => questions++ === 0;
    expect(await faultAt(outside, '/', { allow })).toContain('private or special');
    expect(inside.requests).toEqual([]);
  });

  test.each([
    'file:///etc/passwd',
    'ftp://site.test/',
    'javascript:alert(1)',
    'http://user:word@site.test/',
    'http://',
  ])('to %s are refused', async (location) => {
    await using site = await serving({ '/': to(location) });
    expect(await faultAt(site, '/')).toStartWith('The address ');
  });

  test('without a place to go are answers with a status', async () => {
    await using site = await serving({ '/': { status: 302 } });
    expect(await faultAt(site, '/')).toContain('status 302');
  });
});

describe('the address is pinned', () => {
  test('a name that leads elsewhere the second time is asked once, and the checked address used', async () => {
    await using site = await serving({ '/': { body: 'here' } });
    const answers = [['127.0.0.1'], ['10.0.0.1'], ['10.0.0.1']];
    const asked: string[] = [];
    const resolve = async (host: string) => {
      asked.push(host);
      return answers[asked.length - 1] ?? [];
    };
    expect(textOf((await get(site, '/', { resolve, host: 'rebind.test' })).parts)).toEndWith('here');
    expect(asked).toEqual(['rebind.test']);
  });

  test('a name that leads inside on the redirect is refused there', async () => {
    await using site = await serving({ '/': { status: 302, headers: { location: '/again' } } });
    const answers = [['127.0.0.1'], ['127.0.0.2']];
    const resolve = async () => answers.shift() ?? [];
    expect(await faultAt(site, '/', { resolve })).toContain('private or special');
    expect(site.requests).toEqual([`GET / site.test:${site.port}`]);
  });

  test('a name that has a private address among others is refused', async () => {
    await using site = await serving({ '/': { body: 'here' } });
    const resolve = async () => ['127.0.0.1', '192.168.0.1'];
    expect(await faultAt(site, '/', { resolve })).toContain('private or special');
    expect(site.requests).toEqual([]);
  });

  test('without the option of tests, this machine cannot be reached at all', async () => {
    await using site = await serving({ '/': { body: 'secret' } });
    const tool = fetchPage();
    for (const host of ['127.0.0.1', 'localhost', '[::ffff:127.0.0.1]', '2130706433', '0x7f.1']) {
      const { message } = await faultOf(use(tool, { url: `http://${host}:${site.port}/` }, contextIn('/')));
      expect(message).toContain('private or special');
    }
    expect(site.requests).toEqual([]);
  });

  test('TLS is for the name of the host, and its certificate must be right', async () => {
    const names: unknown[] = [];
    const answer = (request: IncomingMessage, response: ServerResponse) => {
      names.push('servername' in request.socket ? request.socket.servername : undefined);
      response.writeHead(200, { 'content-type': 'text/plain' }).end('safe');
    };
    await using site = await openSite(answer, { key: PRIVATE_KEY, cert: CERTIFICATE });
    const fetched = (host: string, options: FetchOptions) =>
      use(
        fetchPage({ ...towardsSite, ...options }),
        { url: `https://${host}:${site.port}/` },
        contextIn('/'),
      );
    expect(textOf((await fetched('site.test', { ca: CERTIFICATE })).parts)).toEndWith('safe');
    expect(site.requests).toEqual([`GET / site.test:${site.port}`]);
    expect((await faultOf(fetched('site.test', {}))).message).toBe('The page could not be fetched.');
    expect((await faultOf(fetched('other.test', { ca: CERTIFICATE }))).message).toBe(
      'The page could not be fetched.',
    );
    expect(names).toEqual(['site.test']);
  });

  test('a proxy in the environment is not used', async () => {
    await using site = await serving({ '/': { body: 'here' } });
    const before = process.env.HTTP_PROXY;
    process.env.HTTP_PROXY = 'http://127.0.0.1:1';
    try {
      expect(await textAt(site, '/')).toEndWith('here');
    } finally {
      if (before === undefined) delete process.env.HTTP_PROXY;
      else process.env.HTTP_PROXY = before;
    }
  });
});

describe('approval', () => {
  const tool = fetchPage();

  test('shows the address as it is fetched, and is for the host', async () => {
    expect(await tool.approval({ url: 'HTTPS://Example.ORG/a/../b#c' }, { root: '/' })).toEqual({
      kind: 'other',
      command: ['fetch_page', 'https://example.org/b'],
      description: 'Fetches a page from example.org.',
      grant: 'fetch:example.org',
    });
    expect(await tool.approval({ url: 'http://example.org:8080/' }, { root: '/' })).toMatchObject({
      grant: 'fetch:example.org:8080',
    });
  });

  test.each(['example.org', 'file:///etc/passwd', 'http://user:word@example.org/', ''])(
    '%j is not asked for',
    (url) => {
      expect(tool.input.safeParse({ url }).success).toBe(false);
    },
  );
});

async function eventually(holds: () => Promise<boolean>): Promise<void> {
  for (const end = Date.now() + 5_000; Date.now() < end; await Bun.sleep(5)) if (await holds()) return;
  throw new Error('it did not come true');
}
