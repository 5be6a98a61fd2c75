/** Text of a model is data: it cannot run scripts or load remote content. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { connect } from '@parlance/sdk';
import { type ScriptedModel, scriptedModel } from '../scripted-model.ts';
import { NO_BROWSER } from './chromium.ts';
import { type Console, openConsole, openSidebar, submitInput, visible } from './console.ts';

const HOSTILE = `Hello.

<script>window.ran = 'script'</script>
<img src=x onerror="window.ran = 'image'">
<svg onload="window.ran = 'svg'"></svg>
<iframe src="https://evil.example/frame"></iframe>
<style>body { display: none }</style>
<form action="https://evil.example/form"><button>Press me</button></form>

[press me](javascript:window.ran='link') and [me](  JaVaScRiPt:window.ran='link' ) and [file](file:///etc/passwd)
[data](data:text/html,<script>window.ran='data'</script>) <javascript:window.ran='auto'>

![a picture](https://evil.example/pixel.png) ![inline](data:image/svg+xml;base64,PHN2ZyBvbmxvYWQ9ImFsZXJ0KDEpIi8+)

\`\`\`html
<script>window.ran = 'code'</script>
\`\`\`

| <b onclick="window.ran = 'cell'">cell</b> | ![x](//evil.example/y.png) |
|---|---|
| &lt;script&gt;window.ran = 'entity'&lt;/script&gt; | [x](vbscript:x) |

The end.`;

let model: ScriptedModel;
let app: Console;

describe.skipIf(NO_BROWSER)('hostile Markdown', () => {
  beforeAll(async () => {
    model = scriptedModel(() => ({ say: HOSTILE }));
    app = await openConsole({ OPENAI_BASE_URL: model.url, OPENAI_API_KEY: 'key', MODEL: 'hostile' });
  });
  afterAll(async () => {
    await app?.stop();
    model?.stop();
  });

  test('executes nothing, loads nothing remote, and is shown', async () => {
    await submitInput(app.server, 'hostile', `Repeat this: ${HOSTILE}`);
    const page = await app.open('/sessions/hostile');
    const answer = page.locator('.row > .markdown');
    await visible(answer.getByText('The end.'));
    expect(await page.evaluate('window.ran')).toBeUndefined();
    expect(
      await answer.locator('script, iframe, style, form, svg[onload], [onerror], [onclick]').count(),
    ).toBe(0);
    expect(await answer.locator('img[src^="http"], img[src^="//"]').count()).toBe(0);
    for (const href of await answer
      .locator('a')
      .evaluateAll((links) => links.map((link) => link.getAttribute('href'))))
      expect(href).toMatch(/^(https?|mailto):/);
    for (const link of await answer.locator('a').all())
      expect(await link.getAttribute('rel')).toContain('noopener');

    // Clicks everything clickable.
    for (const words of ['press me', 'me', 'file'])
      await answer.getByText(words, { exact: true }).first().click();
    expect(await page.evaluate('window.ran')).toBeUndefined();
    expect(await page.locator('#main').isVisible()).toBe(true);
    expect(app.problems()).toEqual([]);
    await page.context().close();
  });

  test('an image by URL is a link and is not loaded', async () => {
    const url = 'https://evil.example/pixel.png';
    const link = { kind: 'image' as const, url };
    const parts = [{ type: 'text' as const, text: url, link }];
    await connect({ url: app.server.http })
      .session('linked')
      .create({ history: [{ type: 'user', parts }] });
    const page = await app.open('/sessions/linked');
    const shown = page.locator('a.file-chip');
    await visible(shown);
    expect(await shown.getAttribute('href')).toBe(url);
    expect(await shown.getAttribute('rel')).toBe('noopener noreferrer nofollow');
    expect(await page.locator('img[src^="http"]').count()).toBe(0);
    expect(app.problems()).toEqual([]);
    await page.context().close();
  });

  test('is escaped in titles, the list, the timeline and an approval', async () => {
    const title = '<img src=x onerror="window.ran=1">';
    await submitInput(app.server, 'titled', title);
    for (const path of ['/sessions/titled', '/timeline/titled', '/approvals']) {
      const page = await app.open(path);
      await openSidebar(page);
      await visible(page.locator('.session-title').getByText(title));
      expect(await page.evaluate('window.ran')).toBeUndefined();
      expect(await page.locator('img[src="x"]').count()).toBe(0);
      await page.context().close();
    }
    expect(app.problems()).toEqual([]);
  });
});
