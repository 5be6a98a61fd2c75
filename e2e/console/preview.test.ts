/** A preview of HTML and SVG beside the chat: it runs, and reaches nothing outside of its frame. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test';
import type { Page } from 'playwright-core';
import { until } from '../../packages/server/src/testing/until.ts';
import { accessibilityProblems, prepare } from './axe.ts';
import { NO_BROWSER } from './chromium.ts';
import { removed, visible } from './console.ts';
import { DictatedChat } from './dictated-chat.ts';
import { layoutProblems } from './layout.ts';

const fenced = (language: string, code: string) => `\`\`\`${language}\n${code}\n\`\`\``;
const HTML = `<!doctype html><html lang="en"><title>x</title><h1>Static</h1>
<style>h1 { color: rgb(1, 2, 3); }</style>
<script>document.querySelector('h1').textContent = 'Drawn by a script';</script></html>`;
const SVG =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9"><title>Dot</title><circle r="4"/></svg>';

let chat: DictatedChat;
let page: Page;

const frame = () => page.frameLocator('.preview iframe');
/** A turn whose answer has these blocks of code. */
async function answered(text: string, answer: string): Promise<void> {
  await chat.begin();
  await chat.send(text);
  chat.model.say(answer);
  chat.model.end();
  await visible(page.locator('.turn-end'));
}

const panel = () => page.getByRole('complementary', { name: 'Preview' });

describe.skipIf(NO_BROWSER)('a preview', () => {
  beforeAll(async () => {
    chat = await DictatedChat.open();
    page = chat.page;
    await page.emulateMedia({ reducedMotion: 'reduce' });
    await page.setViewportSize({ width: 1_440, height: 900 });
  });
  afterAll(() => chat?.stop());
  afterEach(() => expect(chat.app.problems()).toEqual([]));

  test('shows HTML with its scripts beside the chat, and earlier versions', async () => {
    await answered(
      'Make a page',
      `${fenced('html', HTML)}\n\n${fenced('svg', SVG)}\n\n${fenced('ts', 'let x;')}`,
    );
    const buttons = page.getByRole('button', { name: 'Preview', exact: true });
    expect(await buttons.count()).toBe(2);
    await buttons.first().press('Enter');
    await visible(frame().getByRole('heading', { name: 'Drawn by a script' }));
    await visible(chat.field);
    await buttons.last().click();
    await visible(frame().locator('circle'));
    await page.getByRole('button', { name: 'Earlier preview' }).click();
    await visible(frame().getByRole('heading', { name: 'Drawn by a script' }));
    await prepare(page);
    for (const width of [320, 768, 1_440, 2_560]) {
      await page.setViewportSize({ width, height: 900 });
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
        expect([width, await accessibilityProblems(page, 'all')]).toEqual([width, []]);
      }
      if (width > 1_100) expect([width, await layoutProblems(page)]).toEqual([width, []]);
    }
    await page.setViewportSize({ width: 1_440, height: 900 });
    await panel().press('Escape');
    await removed(panel());
  });

  test('what runs in it reaches neither the page, nor the server, nor another host', async () => {
    const asked: string[] = [];
    page.on('response', (response) => asked.push(response.url()));
    const attack = `<p id="out">waiting</p><script>
      const results = [];
      const trying = async (name, work) => {
        try { await work(); results.push(name + ' worked'); } catch { results.push(name + ' refused'); }
      };
      (async () => {
        await trying('parent', () => parent.document.title);
        await trying('storage', () => localStorage.length);
        await trying('cookie', () => document.cookie);
        await trying('fetch', () => fetch('${chat.app.server.http}/v1/server'));
        await trying('image', () => new Promise((loaded, failed) => {
          Object.assign(new Image(), { onload: loaded, onerror: failed, src: '${chat.app.server.http}/assets/x.png' });
        }));
        await trying('top', () => { top.location = 'about:blank'; });
        await trying('popup', () => { if (!open('about:blank')) throw 0; });
        document.getElementById('out').textContent = results.join(', ');
      })();
    </script>`;
    await answered('Attack', fenced('html', attack));
    asked.length = 0;
    await page.getByRole('button', { name: 'Preview', exact: true }).click();
    const refused = ['parent', 'storage', 'cookie', 'fetch', 'image', 'top', 'popup'].map(
      (name) => `${name} refused`,
    );
    await until(async () => (await frame().locator('#out').textContent()) !== 'waiting');
    expect(await frame().locator('#out').textContent()).toBe(refused.join(', '));
    // The page itself may read the session again.
    expect(asked.filter((url) => !/\/assets\/preview-|\/v1\/sessions\/\w+$/.test(url))).toEqual([]);
    expect(await page.title()).toContain('Attack');
    chat.app.problems(); // what the policy refused
  });
});
