/**
 * `npm run screenshots`: renders every page of the console, light and dark, with sessions of the offline
 * model, to `docs/images`. Check them in after a page has changed.
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { openConsole, visible } from '../e2e/console/console.ts';
import { createContent, PAGES, type Shown } from '../e2e/console/pages.ts';
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
