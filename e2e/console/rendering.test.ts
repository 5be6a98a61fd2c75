/** Formulas and diagrams in answers: rendered under the policy, in light and dark, and harmless if hostile. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test';
import { connect } from '@parlance/sdk';
import type { Page } from 'playwright-core';
import { until } from '../../packages/server/src/testing/until.ts';
import { accessibilityProblems, prepare } from './axe.ts';
import { NO_BROWSER } from './chromium.ts';
import { type Console, holds, openConsole, removed, visible } from './console.ts';

let app: Console;
let page: Page;

/** Creates a session with this answer. */
async function show(id: string, text: string): Promise<void> {
  const history = [
    { type: 'user' as const, parts: [{ type: 'text' as const, text: 'Show me' }] },
    { type: 'text' as const, text },
  ];
  await connect({ url: app.server.http }).session(id).create({ history });
  await page.goto(`${app.server.http}/#/sessions/${id}`);
}

const HOSTILE_DIAGRAM = `graph TD
  A["<img src=x onerror=alert(1)><script>alert(2)</script>"] --> B
  click A href "javascript:alert(3)"
  click B call alert(4)`;

describe.skipIf(NO_BROWSER)('rendering', () => {
  beforeAll(async () => {
    app = await openConsole();
    page = await app.open('/', { reducedMotion: 'reduce' });
    page.on('dialog', () => expect.unreachable('a script of the content ran'));
  });
  afterAll(() => app?.stop());
  afterEach(() => expect(app.problems()).toEqual([]));

  test('KaTeX and Mermaid are loaded when an answer needs them', async () => {
    const isLoaded = (name: string) =>
      page.evaluate(
        `performance.getEntriesByType('resource').some(({ name }) => name.includes('/${name}-'))`,
      );
    await show('words', 'Just words.');
    await visible(page.getByText('Just words.'));
    expect([await isLoaded('katex'), await isLoaded('diagram')]).toEqual([false, false]);
    await show('one-formula', 'Let $x^2$ be.');
    await visible(page.locator('.math .katex'));
    expect([await isLoaded('katex'), await isLoaded('diagram')]).toEqual([true, false]);
    await show('one-diagram', '```mermaid\ngraph LR\n  A --> B\n```');
    await visible(page.getByRole('img', { name: 'Diagram: graph LR' }));
    expect(await isLoaded('diagram')).toBe(true);
  });

  test('sections open, and footnotes lead to their references and back', async () => {
    await show(
      'notes',
      `It is so[^1].\n\n<details>\n<summary>The log</summary>\n\n- hidden line\n\n</details>\n\n${'word '.repeat(100)}\n\n[^1]: Because.`,
    );
    await visible(page.getByText('The log'));
    expect(await page.getByText('hidden line').isVisible()).toBe(false);
    await page.getByText('The log').click();
    await visible(page.getByText('hidden line'));
    await prepare(page);
    expect(await accessibilityProblems(page, 'all')).toEqual([]);
    const focused = () => page.evaluate('document.activeElement.textContent');
    await page.getByRole('button', { name: 'Footnote 1', exact: true }).click();
    expect(await focused()).toBe('1. Because.');
    await page.getByRole('button', { name: 'Back from footnote 1' }).click();
    expect(await focused()).toBe('1');
    expect(page.url()).toEndWith('#/sessions/notes');
  });

  test('formulas are rendered, and invalid ones stay source', async () => {
    await show(
      'formulas',
      'Let $x^2 + \\sqrt{y}$ be\n\n$$\\int_0^1 \\frac{a}{b}\\,dx$$\n\nand $\\frac{$ wrong, $5 and $6.',
    );
    await visible(page.locator('.math .katex').first());
    await visible(page.locator('.math-display .katex'));
    expect(await page.locator('.math-display math').count()).toBe(1);
    await visible(page.getByText('wrong, $5 and $6.'));
    await holds(
      page,
      "[...document.fonts].some(({ family, status }) => family.includes('KaTeX') && status === 'loaded')",
    );
    await prepare(page);
    expect(await accessibilityProblems(page, 'all')).toEqual([]);
  });

  test('hostile formulas cannot load content or run scripts', async () => {
    const tex = [
      '$\\href{javascript:alert(1)}{x}$',
      '$\\includegraphics{https://tracker.example/x.png}$',
      '$\\htmlStyle{color:red}{x}$',
      '$\\def\\a{\\a\\a}\\a$',
      `$${'{'.repeat(4_000)}$`,
      `$${'x'.repeat(6_000)}$`,
      '$\\rule{99999em}{99999em}$',
    ];
    await show('hostile-formulas', `${tex.join('\n\n')}\n\nThe end.`);
    await visible(page.getByText('The end.'));
    await visible(page.locator('.math').first());
    expect(await page.locator('.math a, .math img').count()).toBe(0);
    expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBe(0);
  });

  test('a diagram is rendered as an image, in the colours of the theme, and its source can be shown', async () => {
    await show('diagram', '```mermaid\ngraph LR\n  Parlance --> Clients\n```');
    const picture = page.getByRole('img', { name: 'Diagram: graph LR' });
    await visible(picture);
    const before = await picture.getAttribute('src');
    expect(decodeURIComponent(before ?? '')).toContain('Parlance');
    await holds(page, "document.querySelector('.diagram img').naturalWidth > 50");
    const { colorScheme } = app.screen;
    await page.emulateMedia({ colorScheme: colorScheme === 'dark' ? 'light' : 'dark' });
    await until(async () => (await picture.getAttribute('src')) !== before);
    await prepare(page);
    expect(await accessibilityProblems(page, 'all')).toEqual([]);
    await page.emulateMedia({ colorScheme });
    await page.getByRole('button', { name: 'Diagram: graph LR' }).click();
    await visible(page.getByRole('dialog', { name: 'Diagram: graph LR' }));
    await page.keyboard.press('Escape');
    await removed(page.getByRole('dialog'));
    await page.getByRole('button', { name: 'Show source' }).click();
    await visible(page.locator('pre.code').getByText('Parlance --> Clients'));
    await page.getByRole('button', { name: 'Show diagram' }).click();
    await visible(picture);
  });

  test('diagrams of every kind have a size', async () => {
    const kinds = [
      'sequenceDiagram\n  A->>B: hello',
      'pie\n  "a" : 1\n  "b" : 2',
      'gantt\n  section S\n  Task :a, 2026-01-01, 3d',
    ];
    await show('kinds', kinds.map((kind) => `\`\`\`mermaid\n${kind}\n\`\`\``).join('\n\n'));
    for (const kind of ['sequenceDiagram', 'pie', 'gantt']) {
      const picture = page.getByRole('img', { name: `Diagram: ${kind}` });
      await until(async () => ((await picture.boundingBox())?.width ?? 0) > 100);
    }
  });

  test('an invalid diagram stays source, and a hostile one is an image without scripts', async () => {
    await show(
      'hostile-diagram',
      `\`\`\`mermaid\nno diagram at all\n\`\`\`\n\n\`\`\`mermaid\n${HOSTILE_DIAGRAM}\n\`\`\``,
    );
    await visible(page.locator('pre.code').getByText('no diagram at all'));
    await visible(page.getByRole('img', { name: /^Diagram/ }));
    expect(await page.frames().length).toBe(2);
    const [, frame] = page.frames();
    expect(await frame?.evaluate('window.origin')).toBe('null');
    expect(await page.locator('.diagram script, .diagram iframe').count()).toBe(0);
    // Mermaid parses the label as HTML: the policy of the frame has blocked the handler.
    expect(app.problems().filter((problem) => !/script-src/.test(problem))).toEqual([]);
  });
});
