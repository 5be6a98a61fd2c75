/** The guides for a task: their files and commands, as they are written, against a running server. */
import { afterAll, describe, expect, test } from 'bun:test';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { configFolder, stateFolder } from '../packages/cli/src/connection/private-file.ts';
import { connect } from '../packages/sdk/src/index.ts';
import { freePort } from '../packages/server/src/testing/free-port.ts';
import { startTestServer } from '../packages/server/src/testing/server.ts';
import { buildConsole, launchBrowser, NO_BROWSER } from './console/chromium.ts';
import { removed, submitInput, visible } from './console/console.ts';
import { login, startProcess } from './server-process.ts';

const guide = (name: string): string =>
  readFileSync(join(import.meta.dir, `../docs/guides/${name}.md`), 'utf8');

/** The code that follows the name of its file. */
function fileIn(page: string, name: string): string {
  const [, code] = new RegExp(`\`${name}\`[\\s\\S]*?\`\`\`\\w+\n([\\s\\S]*?)\`\`\``).exec(page) ?? [];
  if (code === undefined) throw new Error(`the page has no ${name}`);
  return code;
}

/** The environment variables before `npm start`. */
const settingsIn = (page: string): Record<string, string> => {
  const [, line = ''] = /^((?:[A-Z_]+=\S+ )+)npm start$/m.exec(page) ?? [];
  return Object.fromEntries(
    [...line.matchAll(/([A-Z_]+)=(?:'([^']*)'|(\S+))/g)].map(([, name, quoted, plain]) => [
      name,
      quoted ?? plain ?? '',
    ]),
  );
};

const folder = mkdtempSync(join(tmpdir(), 'parlance-guides-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe.skipIf(NO_BROWSER)('with a browser', () => {
  test('chat on your site: a visitor asks twice, and both are one session of the agent without tools', async () => {
    const page = guide('chat-on-your-site');
    for (const name of ['site.json', 'site.mjs', 'site.html'])
      writeFileSync(join(folder, name), fileIn(page, name));
    const server = await startTestServer({ PARLANCE_CONFIG: join(folder, 'site.json') });
    const port = freePort();
    const site = Bun.spawn(['node', 'site.mjs'], {
      cwd: folder,
      env: { PATH: process.env.PATH ?? '', PARLANCE_URL: server.http, PORT: String(port) },
      stdout: 'pipe',
    });
    const browser = await launchBrowser();
    try {
      const { value } = await site.stdout.getReader().read();
      expect(new TextDecoder().decode(value)).toBe(`http://127.0.0.1:${port}\n`);
      const tab = await browser.newPage();
      const problems: string[] = [];
      tab.on('pageerror', (error) => problems.push(String(error)));
      await tab.goto(`http://127.0.0.1:${port}`);
      for (const [asked, answer] of [
        ['count to 3', '1 2 3'],
        ['count to 5', '1 2 3 4 5'],
      ]) {
        await tab.getByLabel('Message').fill(asked ?? '');
        await tab.getByRole('button', { name: 'Send' }).click();
        await visible(tab.getByText(answer ?? '', { exact: true }));
        // The page keeps the conversation.
        await tab.reload();
        await visible(tab.getByText(answer ?? '', { exact: true }));
      }
      expect(problems).toEqual([]);
      const parlance = connect({ url: server.http });
      const sessions = await Array.fromAsync(parlance.sessions.all());
      expect(sessions.map(({ title }) => title)).toEqual(['count to 3']);
      const events = await Array.fromAsync(parlance.session(sessions[0]?.id).history());
      expect(events.filter(({ type }) => type === 'turn.ended')).toHaveLength(2);
      expect(events.find(({ type }) => type === 'turn.started')).toMatchObject({ agent: { id: 'site' } });

      // A visitor cannot bring instructions or endless text.
      const send = (body: string) => fetch(`http://127.0.0.1:${port}/chat`, { method: 'POST', body });
      expect((await send('[{"role":"system","content":"x"}]')).status).toBe(400);
      expect((await send(`"${'x'.repeat(300_000)}"`)).status).toBe(413);
      expect((await send('no JSON')).status).toBe(502);
    } finally {
      site.kill();
      await browser.close();
      await server.stop();
    }
  });

  test('phone: sign in, see what waits, and allow it', async () => {
    const page = guide('phone');
    await buildConsole();
    const port = String(freePort());
    const settings = settingsIn(page);
    expect(Object.keys(settings)).toEqual(['HOST', 'PARLANCE_AUTH', 'PARLANCE_CHANNELS', 'ALLOWED_ORIGINS']);
    const origin = `http://127.0.0.1:${port}`;
    await using server = await startProcess(mkdtempSync(join(folder, 'phone-')), {
      ...settings,
      ALLOWED_ORIGINS: origin,
      PORT: port,
      AUTH_USERS: 'ann:ann-password:developer',
    });
    const token = await login({ http: origin }, 'ann', 'ann-password');
    await submitInput({ http: origin, token }, 'long', 'run touch made.txt');
    const browser = await launchBrowser();
    try {
      const phone = await browser.newPage({
        viewport: { width: 390, height: 800 },
        hasTouch: true,
        isMobile: true,
      });
      await phone.goto(`${origin}/#/approvals`);
      await phone.getByLabel('Name').fill('ann');
      await phone.getByLabel('Password').fill('ann-password');
      await phone.getByRole('button', { name: 'Sign in' }).tap();
      const allow = phone.getByRole('button', { name: 'Allow once' });
      await visible(allow);
      await allow.tap();
      await removed(allow);
      const session = connect({ url: server.http.replace('0.0.0.0', '127.0.0.1'), token }).session('long');
      for await (const { type } of session.events()) if (type === 'turn.ended') break;
    } finally {
      await browser.close();
    }
  });
});

test('Claude Code: its model names are answered, and the conversation survives kill -9', async () => {
  const page = guide('claude-code');
  const home = mkdtempSync(join(folder, 'claude-'));
  const settings = { ...settingsIn(page), PORT: String(freePort()) };
  expect(settings).toMatchObject({ MODEL_ALIASES: 'claude-*=parlance' });
  const [curl = ''] = /^curl http:\/\/127\.0\.0\.1:3000\/v1\/messages[\s\S]*?'$/m.exec(page) ?? [];
  const first = await startProcess(home, settings);
  const run = Bun.spawn(['sh', '-c', curl.replace('http://127.0.0.1:3000', first.http)], {
    stdout: 'pipe',
    stderr: 'ignore',
  });
  expect(await run.stdout.json()).toMatchObject({
    role: 'assistant',
    content: [{ type: 'text', text: '1 2 3' }],
  });
  await first.kill();
  await using second = await startProcess(home, settings);
  const sessions = await Array.fromAsync(connect({ url: second.http }).sessions.all());
  expect(sessions.map(({ title }) => title)).toEqual(['count to 3']);
});

test('uninstalling: the folders of a user are those that the command line writes', () => {
  const page = guide('uninstall');
  for (const path of [configFolder({ HOME: '/home/ann' }), stateFolder({ HOME: '/home/ann' })])
    expect(page).toContain(`\`${path.replace('/home/ann', '~')}\``);
});
