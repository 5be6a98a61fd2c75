/** Tokens change the row that they belong to, and nothing else. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { type DictatedModel, dictatedModel } from '../dictated-model.ts';
import { NO_BROWSER } from './chromium.ts';
import { type Console, openConsole, visible } from './console.ts';

const TOKENS = 400;

let model: DictatedModel;
let app: Console;

/** Counts changes of the document from now on: all of them in batches, and those outside of the last row. */
const WATCH = `(() => {
  const rows = document.querySelector('.transcript-rows');
  const counted = { batches: 0, elsewhere: [] };
  window.counted = counted;
  new MutationObserver((changes) => {
    counted.batches++;
    for (const { target } of changes) {
      const row = (target instanceof Element ? target : target.parentElement)?.closest('.row');
      if (row && row !== rows.lastElementChild) counted.elsewhere.push(row.textContent.slice(0, 80));
    }
  }).observe(rows, { subtree: true, childList: true, characterData: true });
})()`;

describe.skipIf(NO_BROWSER)('streaming', () => {
  beforeAll(async () => {
    model = dictatedModel();
    app = await openConsole(model.settings);
  });
  afterAll(async () => {
    await app?.stop();
    model?.stop();
  });

  test('at 200 tokens a second, tokens share renderings and leave other rows alone', async () => {
    const page = await app.open('/');
    const field = page.getByRole('textbox', { name: 'Message' });
    await field.fill('First');
    await page.keyboard.press('Enter');
    model.say('A first answer with `code`.');
    model.end();
    await visible(page.locator('.turn-end'));
    await field.fill('Second');
    await page.keyboard.press('Enter');
    model.say('It begins.\n\n');
    await visible(page.locator('.markdown').getByText('It begins.'));
    await page.evaluate(WATCH);
    for (let token = 1; token <= TOKENS; token++) {
      model.say(token % 40 === 0 ? '\n\n' : `word${token} `);
      await Bun.sleep(5);
    }
    model.say('The end.');
    await visible(page.locator('.markdown').getByText('The end.'));
    const { batches, elsewhere } = (await page.evaluate('counted')) as {
      batches: number;
      elsewhere: string[];
    };
    expect(elsewhere).toEqual([]);
    expect(batches).toBeGreaterThan(2);
    expect(batches).toBeLessThan(TOKENS);
    model.end();
    await page.context().close();
  });
});
