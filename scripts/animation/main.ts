/**
 * `npm run animation`: an animation of about ten seconds of a console session, light and dark, for the
 * README. Server, tools and browser are real; the script acts as the model, so that the frames are the same
 * on any machine.
 */
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { openConsole, removed, visible } from '../../e2e/console/console.ts';
import { dictatedModel } from '../../e2e/scripted-model.ts';
import { connect } from '../../packages/sdk/src/index.ts';
import { Film } from './film.ts';

const FOLDER = join(import.meta.dir, '../../docs/images');
const SIZE = { width: 1000, height: 640 };
const PATH = 'src/settings.ts';
const SETTINGS = "export const settings = {\n  host: '127.0.0.1',\n  port: 3000,\n  retries: 2,\n};\n";
const PATCH = `*** Begin Patch
*** Update File: ${PATH}
@@
   host: '127.0.0.1',
-  port: 3000,
+  port: 8080,
   retries: 2,
*** End Patch`;
const EARLIER = ['Why does the build fail on Windows?', 'Summarise the open issues', 'Plan the next release'];

const model = dictatedModel();
const place = await openConsole({ ...model.settings, MODEL: 'qwen3' });
try {
  const parlance = connect({ url: place.server.http });
  for (const title of EARLIER) await parlance.session().create({ title });
  for (const colorScheme of ['light', 'dark'] as const) await record(colorScheme);
} finally {
  await place.stop();
  model.stop();
}

async function record(colorScheme: 'light' | 'dark'): Promise<void> {
  await Bun.write(join(place.server.root, PATH), SETTINGS);
  const page = await place.open('/', { viewport: SIZE, colorScheme, reducedMotion: 'reduce' });
  const film = new Film(page, await place.browser.newPage());
  await play(page, film);
  const animation = await film.develop();
  await Bun.write(join(FOLDER, `tour-${colorScheme}.webp`), animation);
  await page.context().close();
  const kilobytes = Math.round(animation.length / 1024);
  console.log(`tour-${colorScheme}.webp: ${film.durationMs} ms, ${film.frames} frames, ${kilobytes} KB`);
}

async function play(page: Page, film: Film): Promise<void> {
  const answer = async (text: string) => {
    let written = '';
    for (const word of text.split(/(?<= )/)) {
      model.say(word);
      written += word;
      await visible(page.getByText(written.trim()).first());
      await film.hold(90);
    }
  };
  await visible(page.getByRole('textbox', { name: 'Message' }));
  await film.hold(700);
  for (const word of 'Use port 8080 instead of 3000'.split(/(?<= )/)) {
    await page.keyboard.type(word);
    await film.hold(130);
  }
  await page.keyboard.press('Enter');
  await visible(page.getByRole('button', { name: 'Stop' }));
  await film.hold(300);
  await answer('I will look at the settings first. ');
  model.call('read_file', { path: PATH });
  await visible(page.getByText('read_file'));
  await film.hold(500);
  await answer('The port is set in one place. ');
  model.call('apply_patch', { patch: PATCH });
  await visible(page.locator('.approval[data-state="pending"] .patch'));
  await film.hold(2_200);
  await page.keyboard.press('y');
  await removed(page.locator('.approval[data-state="pending"]'));
  await film.hold(400);
  await answer('Done. The server listens on port 8080 after the next start. ');
  model.end();
  await visible(page.locator('.turn-end'));
  await film.hold(2_600);
}
