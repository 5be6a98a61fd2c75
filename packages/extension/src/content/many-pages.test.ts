/** Pages in the manner of many sites: one case of each in `npm test`, all with `npm run test:extension`. */
import { describe, expect, test } from 'bun:test';
import { NO_BROWSER, testPages } from '../../testing/browser.ts';
import { CASES, type Case } from '../../testing/cases.ts';

const pages = testPages();

const chosen = (cases: readonly Case[]): readonly Case[] =>
  process.env.ALL_TASKS ? cases : cases.slice(0, 1);

describe.skipIf(NO_BROWSER)('a page with', () => {
  for (const [name, cases] of Object.entries(CASES))
    for (const { steps, status, text } of chosen(cases))
      test(`${name}: ${steps.join(', ')}`, async () => {
        const page = await pages.open(`${name}.html`);
        for (const step of steps) await page.do(step);
        if (status !== undefined) expect(await page.status()).toBe(status);
        if (text !== undefined) expect((await page.read()).text).toContain(text);
      });
});
