/**
 * `npm run screenshots`: every page of the console, light and dark, as the browser shows it with what the offline model
 * said, into `docs/images`. They are looked at and checked in when a page has changed.
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { openConsole } from '../e2e/console/console.ts';
import { furnish, PAGES, type Shown } from '../e2e/console/pages.ts';

const FOLDER = join(import.meta.dir, '../docs/images');
/** Those that say something on a telephone, too. */
const NARROW = new Set(['chat', 'approvals']);

mkdirSync(FOLDER, { recursive: true });
const place = await openConsole();

async function photograph({ name, path, ready }: Shown): Promise<void> {
  const page = await place.open(path, { reducedMotion: 'reduce' });
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
  await furnish(place.server);
  for (const shown of PAGES) await photograph(shown);
} finally {
  await place.stop();
}
