/** Content of messages, answers and calls: tables, code, program output and images. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test';
import { readFile } from 'node:fs/promises';
import type { HistoryItem } from '@parlance/protocol';
import { connect } from '@parlance/sdk';
import type { Page } from 'playwright-core';
import { until } from '../../packages/server/src/testing/until.ts';
import { accessibilityProblems, prepare } from './axe.ts';
import { NO_BROWSER } from './chromium.ts';
import { type Console, openConsole, removed, visible } from './console.ts';

let app: Console;
let page: Page;

/** Creates a session with these items after a question. */
async function show(id: string, ...items: HistoryItem[]): Promise<void> {
  const question: HistoryItem = { type: 'user', parts: [{ type: 'text', text: 'Show me' }] };
  await connect({ url: app.server.http })
    .session(id)
    .create({ history: [question, ...items] });
  await page.goto(`${app.server.http}/#/sessions/${id}`);
}

const answer = (text: string): HistoryItem => ({ type: 'text', text });

const WORDS = [
  'Internationalisation',
  'counterrevolutionary',
  'electroencephalogram',
  'incomprehensibilities',
];
const row = (words: readonly string[]) => `| ${words.join(' | ')} |`;
const TABLE = [row(WORDS), row(WORDS.map(() => '---')), row([...WORDS].reverse())].join('\n');

/** Words of the table that are on more than one line. */
const BROKEN_WORDS = `[...document.querySelectorAll('.md-table th, .md-table td')].filter((cell) => {
  const range = document.createRange();
  range.selectNodeContents(cell);
  return range.getClientRects().length !== 1;
}).map((cell) => cell.textContent)`;

const LINE = `const sum = ${Array.from({ length: 60 }, (_, index) => index).join(' + ')};`;

/** A red square, 8 pixels wide. */
const PNG =
  'iVBORw0KGgoAAAANSUhEUgAAAAgAAAAICAIAAABLbSncAAAAEklEQVR4nGP4z8CAFWEXHbQSACj/P8Fu7N9hAAAAAElFTkSuQmCC';

async function zoom(name: string): Promise<void> {
  const picture = page.getByRole('button', { name });
  await picture.click();
  const dialog = page.getByRole('dialog', { name });
  const { width } = app.screen.viewport;
  await until(async () => ((await dialog.locator('img').boundingBox())?.width ?? 0) > 0.9 * width);
  await prepare(page);
  expect(await accessibilityProblems(page, 'all')).toEqual([]);
  await page.keyboard.press('Escape');
  await removed(dialog);
  await picture.click();
  await dialog.click();
  await removed(dialog);
}

describe.skipIf(NO_BROWSER)('content', () => {
  beforeAll(async () => {
    app = await openConsole();
    const permissions = ['clipboard-read', 'clipboard-write'];
    page = await app.open('/', { permissions, reducedMotion: 'reduce' });
  });
  afterAll(() => app?.stop());
  afterEach(() => expect(app.problems()).toEqual([]));

  test('a table keeps its words whole, and scrolls if it is too wide', async () => {
    await show('table', answer(TABLE));
    const table = page.getByRole('region', { name: 'Table' });
    await visible(table);
    expect(await page.evaluate(BROKEN_WORDS)).toEqual([]);
    expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBe(0);
    const sizes = await table.evaluate(({ scrollWidth, clientWidth }) => ({ scrollWidth, clientWidth }));
    if (app.screen.viewport.width > 320) return;
    expect(sizes.scrollWidth).toBeGreaterThan(sizes.clientWidth);
    await table.focus();
    await page.keyboard.press('ArrowRight');
    await until(async () => (await table.evaluate(({ scrollLeft }) => scrollLeft)) !== 0);
  });

  test('a table breaks no short text, and leaves room for sentences', async () => {
    const sentence =
      'This sentence is much longer than a phone is wide, and has room for several words in a line. '.trim();
    const wide = Array.from({ length: 30 }, (_, index) => `Column ${index}`);
    const table = [row(wide), row(wide.map(() => '---')), row(wide.map(() => 'two words'))].join('\n');
    const words = `| Option | Description |\n|---|---|\n| ${WORDS.join('')} | ${sentence} |`;
    await show('sentences', answer(`${table}\n\n${words}`));
    await visible(page.getByText(sentence));
    await page.setViewportSize({ width: 320, height: 640 });
    expect(await page.evaluate(BROKEN_WORDS)).toEqual([sentence]);
    expect((await page.getByText(sentence).boundingBox())?.width).toBeGreaterThan(200);
    expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBe(0);
    await page.setViewportSize(app.screen.viewport);
  });

  test('every block has the direction of its text', async () => {
    const text = '# שלום\n\nזהו משפט.\n\n- פריט\n  ```sh\n  ls\n  ```\n\nThis is English.';
    await show('directions', answer(text));
    const directionOf = (selector: string) =>
      page.evaluate(`getComputedStyle(document.querySelector('${selector}')).direction`);
    await visible(page.getByText('This is English.'));
    expect(
      await Promise.all(
        ['.md-h1', '.markdown p', '.markdown ul', '.code', '.markdown p:last-child'].map(directionOf),
      ),
    ).toEqual(['rtl', 'rtl', 'rtl', 'ltr', 'ltr']);
    const field = page.getByRole('textbox', { name: 'Message' });
    await field.fill('שלום');
    expect(await directionOf('textarea')).toBe('rtl');
    await field.fill('');
  });

  test('code is wrapped, copied and downloaded', async () => {
    await show('code', answer(`\`\`\`ts\n${LINE}\n\`\`\``));
    const code = page.locator('pre.code');
    await visible(code.locator('[class*="keyword"]'));
    const isScrolled = () => code.evaluate(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth);
    expect(await isScrolled()).toBe(true);
    await page.getByRole('button', { name: 'Wrap lines', pressed: false }).click();
    await visible(page.getByRole('button', { name: 'Wrap lines', pressed: true }));
    expect(await isScrolled()).toBe(false);
    await page.getByRole('button', { name: 'Copy code' }).click();
    await visible(page.getByRole('button', { name: 'Copied' }));
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(LINE);
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Download code' }).click(),
    ]);
    expect(download.suggestedFilename()).toBe('code.ts');
    expect(await readFile(await download.path(), 'utf8')).toBe(LINE);
  });

  test('program output has its colours, and other control sequences are dropped', async () => {
    const text = [
      '\x1b[2J\x1b[31mred\x1b[0m \x1b[1;32mgreen\x1b[0m \x1b]0;title\x07\x1b[90mgrey\x1b[0m plain',
      '\x1b[97;41mfailed\x1b[0m \x1b[7minverse\x1b[0m \x1b[38;5;33mblue\x1b[0m \x1b[38;2;250;100;240mpink\x1b[0m',
    ].join('\n');
    const call = 'colours' as Extract<HistoryItem, { type: 'call' }>['call'];
    await show(
      'colours',
      { type: 'call', call, tool: 'shell', input: {} },
      { type: 'result', call, parts: [{ type: 'text', text }] },
    );
    await page.getByRole('button', { name: 'Result of the call' }).click();
    const output = page.locator('.output');
    await visible(output);
    expect(await output.textContent()).toBe('red green grey plain\nfailed inverse blue pink');
    const colours = await page.evaluate(
      "[...document.querySelectorAll('.output span')].map((run) => getComputedStyle(run).color)",
    );
    // The spaces and the rest have the colour of the text, and on a background it is that of the page.
    expect(new Set(colours as string[]).size).toBe(7);
    await prepare(page);
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      expect(await accessibilityProblems(page, 'colours')).toEqual([]);
    }
    await page.emulateMedia({ colorScheme: app.screen.colorScheme });
  });

  test('an attached image and one in an answer fill the window when clicked', async () => {
    await page.goto(`${app.server.http}/#/`);
    const [chooser] = await Promise.all([
      page.waitForEvent('filechooser'),
      page.getByRole('button', { name: 'Attach images, documents or text files' }).click(),
    ]);
    await chooser.setFiles({ name: 'red.png', mimeType: 'image/png', buffer: Buffer.from(PNG, 'base64') });
    await visible(page.getByRole('list', { name: 'Attached files' }).getByText('red.png'));
    await page.keyboard.type('What is this?');
    await page.keyboard.press('Enter');
    await visible(page.locator('.turn-end'));
    await zoom('Attachment');
    await show('picture', answer(`![A red square](data:image/png;base64,${PNG})`));
    await zoom('A red square');
  });
});
