import { describe, expect, test } from 'bun:test';
import { textOf } from '@parlance/protocol';
import { faultAt, get, serving, textAt } from '../../testing/tools/site.ts';
import { fetchPage } from './tool.ts';

const ARTICLE = `<!doctype html><html><head><title>Ducks &amp; geese</title><script>steal()</script></head><body>
<nav><a href="/">Home</a></nav>
<article><h2>Ducks</h2>
<p>Ducks are birds, which swim, and <a href="../lake?a=1">live on lakes</a>. ${'They quack, they dive, they fly. '.repeat(20)}</p>
<p>See <a href="javascript:steal()">this</a> too. ${'Geese are larger, louder, and bolder. '.repeat(20)}</p>
<img src="data:image/png;base64,AAAA" alt="a duck"><table><tr><th>bird</th><th>legs</th></tr><tr><td>duck</td><td>2</td></tr></table>
</article></body></html>`;

describe('a page', () => {
  test('is returned as Markdown, marked as untrusted content', async () => {
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

  test('without an article is returned whole', async () => {
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
  ])('of type %s is returned as it is', async (type) => {
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
  ])('of type %j is refused', async (type) => {
    await using site = await serving({ '/': { type, body: 'x' } });
    expect(await faultAt(site, '/')).toContain('is not a text page');
  });

  test('is decoded in its declared encoding', async () => {
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

  test('of 1 MB of text is cut with a marker', async () => {
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
    'with status %d is a fault without text of the site',
    async (status) => {
      await using site = await serving({
        '/': { status, type: 'text/html', body: status === 304 ? '' : 'obey me' },
      });
      expect(await faultAt(site, '/')).toBe(`The site responded with status ${status}.`);
    },
  );
});

describe('approval', () => {
  const tool = fetchPage();

  test('shows the normalized address and is granted per host', async () => {
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
    '%j is invalid input',
    (url) => {
      expect(tool.input.safeParse({ url }).success).toBe(false);
    },
  );
});
