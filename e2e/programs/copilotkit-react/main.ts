/** CopilotKit's React chat in Chromium, with CopilotKit's runtime between the page and Parlance. */
import { equal, ok } from 'node:assert/strict';
import { copyFileSync, existsSync } from 'node:fs';
import { join } from 'node:path';
import { startTestServer } from '../../../packages/server/src/testing/server.ts';
import { launchBrowser } from '../../console/chromium.ts';
import { type Answer, type ChatRequest, scriptedModel } from '../../scripted-model.ts';
import { getJson } from '../../server-process.ts';
import { installed } from '../install.ts';

const RUNTIME = ['@copilotkit/runtime@1.75.0', '@copilotkit/core@1.75.0', '@ag-ui/client@0.0.59'];
const REACT = ['@copilotkit/react-core@1.74.0', 'react@19.2.0', 'react-dom@19.2.0', 'zod@4.1.12'];

function answerTo({ messages }: ChatRequest): Answer {
  const last = messages.at(-1);
  const text = String(last?.content ?? '');
  if (last?.role === 'tool') return { say: `The result is ${text}.` };
  if (text === 'weather') return { call: 'weather', input: { city: 'Rome' } };
  if (text.startsWith('touch'))
    return { call: 'shell', input: { command: ['touch', `${text.slice(6)}.txt`] } };
  return { say: `You said ${text}.` };
}

/** The script and the styles of the page. */
async function bundled(folder: string): Promise<{ script: string; styles: string }> {
  copyFileSync(join(import.meta.dir, 'page.jsx'), join(folder, 'page.jsx'));
  const { outputs } = await Bun.build({
    entrypoints: [join(folder, 'page.jsx')],
    target: 'browser',
    define: { 'process.env.NODE_ENV': '"production"' },
  });
  const text = async (ending: string) =>
    (await outputs.find(({ path }) => path.endsWith(ending))?.text()) ?? '';
  return { script: await text('.js'), styles: await text('.css') };
}

const model = scriptedModel(answerTo);
const server = await startTestServer({ OPENAI_BASE_URL: model.url, OPENAI_API_KEY: 'key', MODEL: 'fake' });
const runtimeFolder = await installed('copilotkit', RUNTIME);
copyFileSync(join(import.meta.dir, 'runtime.mjs'), join(runtimeFolder, 'runtime.mjs'));
const runtime = Bun.spawn(['node', 'runtime.mjs'], {
  cwd: runtimeFolder,
  env: {
    ...process.env,
    PARLANCE_URL: server.http,
    COPILOTKIT_TELEMETRY_DISABLED: 'true',
    DO_NOT_TRACK: '1',
  },
  stdout: 'pipe',
  stderr: 'inherit',
});
const first = await runtime.stdout.getReader().read();
const runtimeUrl = new TextDecoder().decode(first.value).trim();
const { script, styles } = await bundled(await installed('copilotkit-react', REACT));
const html = `<!doctype html><link rel="stylesheet" href="/page.css"><body data-runtime="${runtimeUrl}"><div id="root"></div><script type="module" src="/page.js"></script>`;
const FILES: Record<string, readonly [string, string]> = {
  '/page.js': [script, 'text/javascript'],
  '/page.css': [styles, 'text/css'],
};
const pages = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  fetch(request) {
    const [body, type] = FILES[new URL(request.url).pathname] ?? [html, 'text/html'];
    return new Response(body, { headers: { 'content-type': type } });
  },
});
const browser = await launchBrowser();

try {
  const page = await browser.newPage();
  page.setDefaultTimeout(30_000);
  page.on('pageerror', (error) => console.error(error));
  await page.goto(`http://127.0.0.1:${pages.port}/`);
  const say = async (text: string) => {
    await page.getByRole('textbox').fill(text);
    await page.keyboard.press('Enter');
  };
  const shows = (text: string) => page.getByText(text).first().waitFor();
  await say('hello');
  await shows('You said hello.');
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
  if (process.env.SCREENSHOT) await page.screenshot({ path: process.env.SCREENSHOT });
  console.log('text, a tool of the page, an approval and a denial in CopilotKit’s chat: one session');
} finally {
  await browser.close();
  void pages.stop(true);
  runtime.kill();
  await server.stop();
  model.stop();
}
