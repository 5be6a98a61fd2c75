import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { readdirSync, readFileSync } from 'node:fs';
import { connect, type Parlance } from '@parlance/sdk';
import { startTestServer, type TestServer } from '../../testing/server.ts';
import { until } from '../../testing/until.ts';
import { markdownOf } from './export.ts';
import { renderMarkdown } from './transcript/html.ts';

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

  test('has the title of its moment', async () => {
    await talk('titled', 'say hello');
    const before = await dev.session('titled').share();
    await dev.session('titled').rename('Secret project');
    const after = await dev.session('titled').share();
    expect(await (await page(before.path)).text()).toContain('<h1>say hello</h1>');
    expect(await (await page(after.path)).text()).toContain('<h1>Secret project</h1>');
  });

  test('ends when its session is archived, and stays ended', async () => {
    await talk('old', 'hello');
    const { path } = await dev.session('old').share();
    expect((await page(path)).status).toBe(200);
    await dev.session('old').archive();
    expect((await page(path)).status).toBe(404);
    await expect(dev.session('old').share()).rejects.toMatchObject({ code: 'invalid' });
    await talk('old', 'hello again');
    expect((await page(path)).status).toBe(404);
    expect((await page((await dev.session('old').share()).path)).status).toBe(200);
  });

  test('ends with its owner, also if the name is used again; a new password does not end it', async () => {
    const admin = await as('ada');
    const added = { name: 'tom', password: 'tom-password', role: 'user' as const };
    await admin.admin.users.add(added);
    const tom = (await as('tom')).session('of-tom');
    await tom.create({ history: [{ type: 'text', text: 'by tom' }] });
    const { path } = await tom.share();
    await admin.admin.users.change('tom', { password: 'tom-password-2' });
    expect((await page(path)).status).toBe(200);
    await admin.admin.users.remove('tom');
    expect((await page(path)).status).toBe(404);
    await admin.admin.users.add(added);
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

/** Runs of backticks of many lengths: the parser looks for the end of each one. */
const slow = (characters: number): string => {
  let text = '';
  for (let length = 1; text.length + length < characters; length++) text += `${'`'.repeat(length)}a`;
  return text;
};

/** Running renderers of this process, which is the server as well. */
const renderers = (): number =>
  readdirSync('/proc/self/task')
    .flatMap((task) => readFileSync(`/proc/self/task/${task}/children`, 'utf8').trim().split(' '))
    .filter((pid) => pid !== '' && commandOf(pid).includes('renderer.ts')).length;

function commandOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    return ''; // ended in the meantime
  }
}

describe('Markdown that takes long', () => {
  const texts = Array.from({ length: 8 }, (_, index) => ({
    type: 'text' as const,
    text: `answer ${index} ${slow(250_000)}`,
  }));

  test('delays no other request, and is rendered once', async () => {
    const session = dev.session('slow');
    await session.create({ history: [{ type: 'text', text: '**short**' }, ...texts] });
    const { path } = await session.share();
    let pages = 0;
    const loads = [1, 2, 3].map(async () => {
      const html = await (await page(path)).text();
      pages++;
      return html;
    });
    await until(() => renderers() > 0);
    expect((await page('/health')).status).toBe(200);
    expect(pages).toBe(0);
    const [html = '', ...others] = await Promise.all(loads);
    expect(others).toEqual([html, html]);
    expect(html).toContain('<strong>short</strong>');
    for (const { text } of texts) expect(html).toContain(text.slice(0, 30));
    expect(renderers()).toBe(0);
    expect(await (await page(path)).text()).toBe(html);
    expect(renderers()).toBe(0);
  });

  test('delays no other request while it is exported', async () => {
    await dev.session('slow-export').create({ history: texts });
    let done = false;
    const exported = dev.session('slow-export').export({ format: 'html' });
    void exported.finally(() => (done = true));
    await until(() => renderers() > 0);
    expect((await page('/health')).status).toBe(200);
    expect(done).toBe(false);
    expect(await (await exported).text()).toContain('answer 7 `a``a');
  });

  test('is shown as plain text beyond the limit of size', async () => {
    const text = `**long** ${slow(2_000_000)} <b>`;
    const history = [
      { type: 'text' as const, text },
      { type: 'text' as const, text: '**short**' },
    ];
    await dev.session('long').create({ history });
    const html = await (await page((await dev.session('long').share()).path)).text();
    expect(html).toContain('<p class="plain">**long** `a``a');
    expect(html).toContain(' &lt;b&gt;</p>');
    expect(html).toContain('<strong>short</strong>');
  });

  test('is not rendered beyond the limit of time', async () => {
    const [, late] = await renderMarkdown(['*a*', slow(250_000)], 0);
    expect(late).toBeNull();
    expect(await renderMarkdown(['*a*', 'b'])).toEqual(['<p><em>a</em></p>\n', '<p>b</p>\n']);
  });

  test('is refused if too many pages wait, and accepted afterwards', async () => {
    const all = await Promise.allSettled(Array.from({ length: 20 }, () => renderMarkdown(['*a*'])));
    expect(all.filter(({ status }) => status === 'fulfilled')).toHaveLength(16);
    expect(all.find(({ status }) => status === 'rejected')).toMatchObject({ reason: { code: 'overloaded' } });
    expect(await renderMarkdown(['*a*'])).toEqual(['<p><em>a</em></p>\n']);
  });
});

describe('an export', () => {
  test('has output with any number of backticks', () => {
    const result = {
      outcome: 'ok' as const,
      parts: [{ type: 'text' as const, text: '`a'.repeat(1_000_000) }],
    };
    const call = { seq: 1, at: 0, kind: 'call' as const, call: 'c', tool: 'echo', input: {}, result };
    const text = markdownOf({ title: 'a', agent: 'b', createdAt: 0, entries: [call] });
    expect(text).toContain('\n```\n`a`a');
  });

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
