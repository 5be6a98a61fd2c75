/** A chat of assistant-ui in Chromium, whose transport talks to Parlance: text, a tool of the page, instructions and approvals. */
import { equal, ok } from 'node:assert/strict';
import { copyFileSync, existsSync } from 'node:fs';
import { join } from 'node:path';
import { startTestServer } from '../../../packages/server/src/testing/server.ts';
import { launchBrowser } from '../../console/chromium.ts';
import { type Answer, type ChatRequest, scriptedModel } from '../../scripted-model.ts';
import { getJson } from '../../server-process.ts';
import { installed } from '../install.ts';

const PACKAGES = [
  '@assistant-ui/react@0.15.20',
  '@assistant-ui/react-ai-sdk@1.4.10',
  'react@19.2.0',
  'react-dom@19.2.0',
  'zod@4.6.7',
];

function answerTo({ messages }: ChatRequest): Answer {
  const last = messages.at(-1);
  const text = String(last?.content ?? '');
  if (last?.role === 'tool') return { say: `The result is ${text}.` };
  if (text === 'weather') return { call: 'weather', input: { city: 'Rome' } };
  if (text.startsWith('touch'))
    return { call: 'shell', input: { command: ['touch', `${text.slice(6)}.txt`] } };
  return { say: `You said ${text}.` };
}

const folder = await installed('assistant-ui', PACKAGES);
copyFileSync(join(import.meta.dir, 'page.jsx'), join(folder, 'page.jsx'));
const { outputs } = await Bun.build({
  entrypoints: [join(folder, 'page.jsx')],
  target: 'browser',
  define: { 'process.env.NODE_ENV': '"production"' },
});
const script = (await outputs[0]?.text()) ?? '';
const model = scriptedModel(answerTo);
const server = await startTestServer(model.settings);
/** The application: its page, and its chat at the same origin, as behind a reverse proxy. */
const application = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  idleTimeout: 0,
  fetch(request) {
    const { pathname } = new URL(request.url);
    if (pathname.startsWith('/api/')) {
      const headers = { 'content-type': 'application/json' };
      const { method, body, signal } = request;
      return fetch(server.http + pathname, { method, headers, body, signal });
    }
    const [text, type] =
      pathname === '/page.js'
        ? [script, 'text/javascript']
        : ['<!doctype html><div id="root"></div><script type="module" src="/page.js"></script>', 'text/html'];
    return new Response(text, { headers: { 'content-type': `${type}; charset=utf-8` } });
  },
});
const browser = await launchBrowser();

try {
  const page = await browser.newPage();
  page.setDefaultTimeout(30_000);
  page.on('pageerror', (error) => console.error(error));
  await page.goto(`http://127.0.0.1:${application.port}/`);
  const say = async (text: string) => {
    await page.getByRole('textbox').fill(text);
    await page.getByRole('button', { name: 'Send' }).click();
  };
  const shows = (text: string) => page.getByText(text).first().waitFor();
  await say('hello');
  await shows('You said hello.');
  ok(JSON.stringify(model.requests[0]?.messages).includes('Answer like a page.'));
  await say('weather');
  await shows('The result is sunny in Rome.');
  await say('touch allowed');
  await page.getByRole('button', { name: 'Approve' }).click();
  await shows('The result is (no output, exit code 0).');
  ok(existsSync(join(server.root, 'allowed.txt')));
  await say('touch denied');
  await page.getByRole('button', { name: 'Deny' }).click();
  await page.getByText('The result is', { exact: false }).nth(2).waitFor();
  ok(!existsSync(join(server.root, 'denied.txt')));
  const { sessions } = await getJson<{ sessions: unknown[] }>(`${server.http}/v1/sessions`);
  equal(sessions.length, 1);
  console.log('text, a tool of the page, an approval and a denial in a chat of assistant-ui: one session');
} finally {
  await browser.close();
  void application.stop(true);
  await server.stop();
  model.stop();
}
