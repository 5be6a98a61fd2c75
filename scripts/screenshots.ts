/**
 * `npm run screenshots`: renders every page of the console, light and dark, with sessions of the offline
 * model, to `docs/images`. Check them in after a page has changed.
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { openConsole, visible } from '../e2e/console/console.ts';
import { createContent, PAGES, type Shown } from '../e2e/console/pages.ts';
import { scriptedConversations, spawn } from '../e2e/conversations.ts';
import { scriptedModel } from '../e2e/scripted-model.ts';

const FOLDER = join(import.meta.dir, '../docs/images');
const SIZE = { width: 1_280, height: 800 };
/** Pages that are also rendered at phone width. */
const NARROW = new Set(['chat', 'approvals']);

mkdirSync(FOLDER, { recursive: true });
let place = await openConsole();

async function screenshot({ name, path, ready }: Shown): Promise<void> {
  const page = await place.open(path, { viewport: SIZE, reducedMotion: 'reduce' });
  await ready(page, place);
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    await page.screenshot({ path: join(FOLDER, `${name}-${colorScheme}.png`) });
  }
  if (NARROW.has(name)) {
    await page.setViewportSize({ width: 320, height: 640 });
    await page.screenshot({ path: join(FOLDER, `${name}-narrow.png`) });
  }
  await page.context().close();
  console.log(name);
}

try {
  await createContent(place.server);
  for (const shown of PAGES) await screenshot(shown);
} finally {
  await place.stop();
}

const model = scriptedModel(({ model }) =>
  model === 'large'
    ? { status: 429, headers: { 'retry-after': '120' }, message: 'Try again in two minutes.' }
    : { say: 'Three tests fail. They expect the old address of the server.' },
);
place = await openConsole({ ...model.settings, MODEL: 'large, small' });
try {
  await screenshot({
    name: 'fallback',
    path: '/',
    async ready(page) {
      await page.getByRole('textbox', { name: /message/i }).fill('Why do the tests fail?');
      await page.keyboard.press('Enter');
      await visible(page.getByText('Answered by small', { exact: true }));
    },
  });
} finally {
  await place.stop();
  model.stop();
}

const agents = scriptedConversations({
  'Prepare release 2.4': [
    {
      calls: [
        spawn('notes', 'Write the release notes from the commits since 2.3.'),
        spawn('tests', 'Run all tests and explain each failure.'),
        spawn('updates', 'Look for newer dependencies.'),
      ],
    },
  ],
  'Write the release notes': [{ say: 'Three features and one fix; the draft is in notes/2.4.md.' }],
  'Run all tests': [{ call: 'shell', input: { command: ['npm', 'test'] } }],
  'Look for newer': [
    { call: 'list_files', input: { path: '.' } },
    { say: 'I compare the versions of', after: 'silence' },
  ],
});
place = await openConsole(agents.settings);
try {
  await screenshot({
    name: 'sub-agents',
    path: '/',
    async ready(page) {
      await page.getByRole('textbox', { name: /message/i }).fill('Prepare release 2.4');
      await page.keyboard.press('Enter');
      await visible(page.getByRole('article', { name: 'Approval for agent' }));
      await page.getByRole('button', { name: /^updates/ }).click();
      await visible(page.getByRole('region', { name: 'Sub-agent updates' }).getByText('I compare'));
      await visible(page.getByRole('button', { name: /notes.*Done/ }));
    },
  });
} finally {
  await place.stop();
  agents.stop();
}
