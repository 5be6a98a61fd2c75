/** A new user: `npm start`, the page, a local model server connected in it, an answer. No documentation, no restart. */
import { afterAll, describe, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { within } from '../../packages/server/src/testing/until.ts';
import { scriptedModel } from '../scripted-model.ts';
import { launchBrowser, NO_BROWSER } from './chromium.ts';
import { openSidebar, visible } from './console.ts';
import { screenFor } from './screen.ts';

const ROOT = join(import.meta.dir, '../..');
const folder = mkdtempSync(join(tmpdir(), 'parlance-first-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** `npm start` in a terminal, with nothing set but where data goes. */
function startedByHand() {
  const decoder = new TextDecoder();
  let screen = '';
  let changed = Promise.withResolvers<void>();
  const child = Bun.spawn(['npm', 'start', '--', '--port', '0', '--data', join(folder, 'data')], {
    cwd: ROOT,
    env: { PATH: process.env.PATH ?? '', HOME: folder, NO_COLOR: '1', WORKING_DIRECTORY: folder },
    terminal: {
      cols: 120,
      rows: 40,
      data(_terminal, bytes) {
        screen += decoder.decode(bytes, { stream: true });
        changed.resolve();
        changed = Promise.withResolvers();
      },
    },
  });
  const shows = async (pattern: RegExp): Promise<RegExpExecArray> => {
    for (;;) {
      const found = pattern.exec(screen);
      if (found) return found;
      const next = Promise.race([
        changed.promise,
        child.exited.then(() => Promise.reject(new Error(screen))),
      ]);
      await within(next, `${pattern} is not on the screen: ${screen}`);
    }
  };
  return { child, shows };
}

const KEY = 'sk-local';

/** Lists its models and answers, for those who have the key. */
function localModel() {
  const answering = scriptedModel(({ model }) => ({ say: `Hello from ${model}.` }));
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch(request) {
      if (request.headers.get('authorization') !== `Bearer ${KEY}`)
        return new Response('{}', { status: 401 });
      return new URL(request.url).pathname === '/v1/models'
        ? Response.json({ data: [{ id: 'tiny-1' }, { id: 'tiny-2' }] })
        : fetch(`${answering.url}/chat/completions`, { method: 'POST', body: request.body });
    },
  });
  const stop = () => {
    answering.stop();
    return server.stop(true);
  };
  return { address: `http://127.0.0.1:${server.port}/v1`, stop };
}

describe.skipIf(NO_BROWSER)('the first minutes', () => {
  test('from npm start to an answer of a local model', async () => {
    const { child, shows } = startedByHand();
    const model = localModel();
    const browser = await launchBrowser();
    try {
      const [, address = ''] = await shows(/Open +(http:\S+)/);
      await shows(/offline demo model: connect a real one with “Connect a model” on the page/);
      const page = await browser.newPage(screenFor(import.meta.file));
      await page.goto(address);
      await visible(page.getByRole('heading', { name: 'What can I do for you?' }));
      await page.getByRole('button', { name: 'What can you do?' }).click();
      await visible(page.getByText('This is what I understand:', { exact: true }));
      await openSidebar(page);
      await page.getByRole('link', { name: 'New session' }).click();
      await page.getByRole('link', { name: 'Connect a model' }).click();
      await page.getByRole('radio', { name: 'Ollama, vLLM or OpenAI-compatible server' }).check();
      await page.getByLabel('Address').fill(model.address);
      const save = page.getByRole('button', { name: 'Save', exact: true });
      await save.click();
      await visible(page.getByText('needs an API key. Enter it and try again.'));
      await page.getByLabel('API key').fill(KEY);
      await save.click();
      await visible(page.getByText('Choose a model.'));
      await page.getByRole('button', { name: 'tiny-1' }).click();
      await save.click();
      await visible(page.getByText(`tiny-1 at ${model.address} is in use.`));
      await openSidebar(page);
      await page.getByRole('link', { name: 'New session' }).click();
      await page.getByRole('button', { name: 'Explain what this project does' }).click();
      await visible(page.locator('.markdown').getByText('Hello from tiny-1.'));
      child.terminal?.write('\x03');
      expect(await child.exited).toBe(0);
    } finally {
      child.kill('SIGKILL');
      await browser.close();
      await model.stop();
    }
  });
});
