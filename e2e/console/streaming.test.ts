/** Tokens change the row that they belong to, and nothing else. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { type DictatedModel, dictatedModel } from '../scripted-model.ts';
import { NO_BROWSER } from './chromium.ts';
import { type Console, holds, openConsole, visible } from './console.ts';

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

const section = (number: number): string => `## Section ${number}

This is paragraph ${number} with **bold**, \`code\` and a [link](https://example.org/${number}).

- one
- two
  - inner

\`\`\`ts
export const value${number} = (input: number): number => input * ${number};
\`\`\`

| a | b |
|---|---|
| ${number} | cell |

`;
/** More than 200 KB. */
const SECTIONS = 1_000;
/** All of them have more than 30,000. */
const MAX_ELEMENTS = 4_000;
const ELEMENTS = "document.querySelectorAll('.markdown *').length";

/** Collects what a screen reader reads. */
const LISTEN = `(() => {
  const region = document.querySelector('.unseen[role=status]');
  window.heard = [];
  new MutationObserver(() => heard.push(region.textContent))
    .observe(region, { subtree: true, childList: true, characterData: true });
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

  test('of an answer of 200 KB, only the parts in view are in the document', async () => {
    const page = await app.open('/');
    await page.getByRole('textbox', { name: 'Message' }).fill('Tell me everything');
    await page.keyboard.press('Enter');
    for (let number = 1; number <= SECTIONS; number += 20)
      model.say(Array.from({ length: 20 }, (_, index) => section(number + index)).join(''));
    model.say('The end.');
    await visible(page.locator('.markdown').getByText('The end.'));
    expect(await page.evaluate(ELEMENTS)).toBeLessThan(MAX_ELEMENTS);
    model.end();
    await visible(page.locator('.turn-end'));
    await page.reload();
    await visible(page.locator('.markdown').getByText('The end.'));
    expect(await page.evaluate(ELEMENTS)).toBeLessThan(MAX_ELEMENTS);
    await page.locator('.transcript').hover();
    await page.evaluate("document.querySelector('.transcript').scrollTop = 0");
    await visible(page.getByRole('heading', { name: 'Section 1', exact: true }));
    await page.getByRole('button', { name: 'Jump to latest' }).click();
    await visible(page.locator('.markdown').getByText('The end.'));
    await page.context().close();
  });

  test('a screen reader reads each new sentence, without marks', async () => {
    const page = await app.open('/');
    await page.getByRole('textbox', { name: 'Message' }).fill('Speak');
    await page.keyboard.press('Enter');
    model.say('It ');
    await visible(page.locator('.markdown').getByText('It'));
    await page.evaluate(LISTEN);
    model.say('**begins**. And');
    await holds(page, "heard.at(-1) === 'It begins.'");
    model.say(' then `continues`.\n\n- One');
    await holds(page, "heard.at(-1) === 'And then continues.'");
    model.say(' item\n- Another\n\nThe *end*');
    model.end();
    await holds(page, "heard.some((text) => text.endsWith('The end'))");
    expect((await page.evaluate('heard.join()')) as string).not.toMatch(/[*`]/);
    await page.context().close();
  });
});
