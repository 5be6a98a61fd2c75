import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { connect, type Parlance } from '@parlance/sdk';
import { startTestServer, type TestServer } from '../../testing/server.ts';

let server: TestServer;
let dev: Parlance;
let uma: Parlance;

const as = async (name: string): Promise<Parlance> =>
  connect({ url: server.http, token: await server.login(name, `${name}-password`) });

beforeAll(async () => {
  server = await startTestServer({ PARLANCE_AUTH: 'required' });
  [dev, uma] = await Promise.all([as('dev'), as('uma')]);
});
afterAll(() => server.stop());

async function talk(id: string, text: string): Promise<void> {
  const session = dev.session(id);
  const { seq } = await session.submit(text);
  for await (const { type } of session.events({ after: seq })) if (type === 'turn.ended') return;
}

const page = (path: string) => fetch(`${server.http}${path}`);

describe('a link', () => {
  test('shows the conversation as of its creation to everyone, and nothing else', async () => {
    await talk('shared', 'count to 3');
    await talk('shared', 'say <b>&');
    const { path } = await dev.session('shared').share();
    await talk('shared', 'and this is later');
    const response = await page(path);
    const html = await response.text();
    expect(response.status).toBe(200);
    expect(html).toContain('say &lt;b&gt;&amp;');
    expect(html).toContain('<p>1 2 3</p>');
    expect(html).not.toContain('this is later');
    expect(html).not.toMatch(/\bdev\b/);
    expect(html).not.toMatch(/<script|<link|src="http/);
    const policy = response.headers.get('content-security-policy') ?? '';
    expect(policy).toStartWith("default-src 'none'; style-src 'sha256-");
    expect(policy).not.toContain('unsafe');
    expect(response.headers.get('x-robots-tag')).toBe('noindex, nofollow');
    expect(response.headers.get('cache-control')).toContain('no-store');
    expect(response.headers.get('referrer-policy')).toBe('no-referrer');
    expect((await page('/v1/sessions/shared')).status).toBe(401);
    expect((await page(`${path}/events`)).status).toBe(404);
  });

  test('is revoked at once', async () => {
    const session = dev.session('shared');
    const { id, path } = await session.share();
    expect((await session.shares()).at(-1)?.id).toBe(id);
    await session.unshare(id);
    expect((await page(path)).status).toBe(404);
    expect((await session.shares()).some((share) => share.id === id)).toBe(false);
    await expect(session.unshare(id)).rejects.toMatchObject({ code: 'not_found' });
  });

  test('ends with its session', async () => {
    await talk('brief', 'hello');
    const { path } = await dev.session('brief').share();
    await dev.session('brief').erase();
    expect((await page(path)).status).toBe(404);
    await talk('brief', 'another');
    expect((await page(path)).status).toBe(404);
  });

  test('is created by the owner only; admins can list and revoke it', async () => {
    const { id } = await dev.session('shared').share();
    const session = uma.session('shared');
    for (const work of [() => session.share(), () => session.shares(), () => session.unshare(id)])
      await expect(work()).rejects.toMatchObject({ code: 'not_found' });
    const admin = (await as('ada')).session('shared');
    await expect(admin.share()).rejects.toMatchObject({ code: 'not_found' });
    expect((await admin.shares()).some((share) => share.id === id)).toBe(true);
    await admin.unshare(id);
    await expect(dev.session('nothing').share()).rejects.toMatchObject({ code: 'not_found' });
  });

  test('cannot be derived from stored or listed data', async () => {
    const { id, path } = await dev.session('shared').share();
    expect(path).toMatch(/^\/shared\/[\w-]{43}$/);
    expect(JSON.stringify(await dev.session('shared').shares())).not.toContain(path.slice(8));
    for (const token of [id, '', 'x'.repeat(43), '..%2f..%2fv1', 'a'.repeat(10_000)])
      expect((await page(`/shared/${token}`)).status).toBe(404);
  });

  test('is limited in number', async () => {
    const many = dev.session('many');
    await many.create();
    for (let made = 0; made < 20; made++) await many.share();
    await expect(many.share()).rejects.toMatchObject({ code: 'invalid' });
  });
});

describe('hostile content', () => {
  test('is escaped in documents', async () => {
    const hostile = [
      '<script>alert(1)</script><img src=x onerror=alert(1)>',
      '[x](javascript:alert(1)) ![p](https://tracker.example/p.png) [ok](https://example.com)',
      '```\n</code></pre><script>1</script>\n````',
    ].join('\n\n');
    const history = [
      { type: 'user' as const, parts: [{ type: 'text' as const, text: hostile }] },
      { type: 'text' as const, text: hostile },
    ];
    await dev.session('hostile').create({ title: '</title><script>1</script>', history });
    const html = await (await dev.session('hostile').export({ format: 'html' })).text();
    expect(html).not.toMatch(/<script|<img|href="javascript/i);
    expect(html).toContain('href="https://example.com"');
    expect(html).toContain('[image: p]');
    const markdown = await (await dev.session('hostile').export({ format: 'markdown' })).text();
    expect(markdown).toStartWith('# </title><script>1</script>\n');
  });
});

describe('an export', () => {
  test('is a document or lines of JSON', async () => {
    await talk('exported', 'list files');
    const exported = async (format: 'jsonl' | 'markdown' | 'html') => {
      const response = await dev.session('exported').export({ format });
      return { name: response.headers.get('content-disposition') ?? '', text: await response.text() };
    };
    const [markdown, html, jsonl] = await Promise.all([
      exported('markdown'),
      exported('html'),
      exported('jsonl'),
    ]);
    expect(markdown.name).toContain('exported.md');
    expect(markdown.text).toStartWith('# list files\n');
    expect(markdown.text).toContain('## You\n\nlist files\n');
    expect(markdown.text).toMatch(/<details><summary>\w+: ok<\/summary>\n\n```json\n/);
    expect(html.name).toContain('exported.html');
    expect(html.text).toContain('<details class="call">');
    expect(jsonl.name).toContain('exported.jsonl');
    expect(jsonl.text.split('\n').length).toBeGreaterThan(5);
    await expect(dev.session('exported').export({ format: 'pdf' as 'html' })).rejects.toMatchObject({
      code: 'invalid',
    });
  });
});
