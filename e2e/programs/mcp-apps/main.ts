/** An app with the official SDK of MCP Apps in the console: its handshake, its call and result, and all that it can ask for. */
import { deepEqual, equal, match } from 'node:assert/strict';
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { appServer } from '../../../packages/server/src/testing/tools/mcp-app-server.ts';
import { openConsole } from '../../console/console.ts';
import { scriptedModel } from '../../scripted-model.ts';
import { installed } from '../install.ts';

const PACKAGES = [
  '@modelcontextprotocol/ext-apps@2.0.4',
  '@modelcontextprotocol/client@2.4.0',
  '@modelcontextprotocol/core@2.4.0',
  'zod@4.6.7',
];

const folder = await installed('mcp-apps', PACKAGES);
copyFileSync(join(import.meta.dir, 'page.js'), join(folder, 'page.js'));
const { outputs } = await Bun.build({
  entrypoints: [join(folder, 'page.js')],
  target: 'browser',
  minify: true,
});
const script = ((await outputs[0]?.text()) ?? '').replaceAll('</script', '<\\/script');
const places = ['host', 'input', 'result', 'mode', 'answers', 'done']
  .map((id) => `<p id="${id}"></p>`)
  .join('');
const charts = appServer({
  html: `<!doctype html><title>Chart</title>${places}<script type="module">${script}</script>`,
});
const model = scriptedModel(({ messages }) =>
  messages.at(-1)?.content === 'draw'
    ? { call: 'mcp_charts_draw', input: { city: 'Oslo' } }
    : { say: 'Heard it.' },
);
const scratch = mkdtempSync(join(tmpdir(), 'parlance-mcp-apps-'));
const config = join(scratch, 'parlance.json');
writeFileSync(config, JSON.stringify({ mcpServers: { charts: { url: charts.url } } }));
const app = await openConsole({ ...model.settings, PARLANCE_CONFIG: config });

try {
  const page = await app.open();
  await page.setViewportSize({ width: 1_440, height: 900 });
  await page.getByRole('textbox', { name: 'Message' }).fill('draw');
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Open app' }).click();
  const panel = page.getByRole('complementary', { name: 'App' });
  await panel.locator('.app-wish').getByRole('button', { name: 'Send', exact: true }).click();
  await panel.locator('.app-wish').getByRole('button', { name: 'Do not open' }).click();
  const frame = page.frameLocator('.preview iframe');
  await frame.locator('#done', { hasText: 'true' }).waitFor();
  const shown = async (id: string) => JSON.parse((await frame.locator(`#${id}`).textContent()) ?? 'null');
  deepEqual(await shown('host'), ['draw', '1']);
  deepEqual(await shown('input'), { city: 'Oslo' });
  equal(await shown('result'), 2_000);
  equal(await shown('mode'), 'fullscreen');
  const [refreshed, secret, read, mode, sent, opened] = await shown('answers');
  equal(refreshed.content[0].text, 'refresh number 2');
  match(secret.thrown, /no such tool for apps/);
  equal(read.contents[0].text, 'the data');
  deepEqual(mode, { mode: 'fullscreen' });
  deepEqual([sent, opened], [{}, { isError: true }]);
  await page.getByText('From the app').first().waitFor();
  const closed = page.waitForEvent('console', (message) => message.text() === 'the app is closed');
  await panel.getByRole('button', { name: 'Close app' }).click();
  await closed;
  console.log(
    'handshake, call and result, a tool, a resource, the window, a message, a link and the end of an app',
  );
} finally {
  await app.stop();
  model.stop();
  charts[Symbol.dispose]();
  rmSync(scratch, { recursive: true, force: true });
}
