/**
 * `npm run animation`: three tours of the console, light and dark, for the README and the guides: a session in ten seconds, an
 * approval on a phone, and a chat on somebody's site. Servers, tools and browsers are real; the script acts as the model, so
 * that the frames are the same on any machine. `-- NAME` records one.
 */
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { openConsole, openSidebar, removed, visible } from '../../e2e/console/console.ts';
import { dictatedModel } from '../../e2e/scripted-model.ts';
import { connect } from '../../packages/sdk/src/index.ts';
import { Film } from './film.ts';

const FOLDER = join(import.meta.dir, '../../docs/images');
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

const WIDE = { width: 1000, height: 640 };
const PHONE = { width: 390, height: 700 };
const TOURS = {
  tour: { viewport: WIDE, play },
  phone: { viewport: PHONE, play: playPhone },
  questions: { viewport: WIDE, play: playQuestions },
} as const;

const model = dictatedModel();
const place = await openConsole({ ...model.settings, MODEL: 'qwen3' });
const parlance = connect({ url: place.server.http });
const [wanted] = process.argv.slice(2);
try {
  for (const title of EARLIER) await parlance.session().create({ title });
  for (const name of ['tour', 'phone', 'questions'] as const)
    if (wanted === undefined || wanted === name)
      for (const colorScheme of ['light', 'dark'] as const) await record(name, colorScheme);
} finally {
  await place.stop();
  model.stop();
}

async function record(name: keyof typeof TOURS, colorScheme: 'light' | 'dark'): Promise<void> {
  const { viewport, play } = TOURS[name];
  await Bun.write(join(place.server.root, PATH), SETTINGS);
  const page = await place.open('/', { viewport, colorScheme, reducedMotion: 'reduce' });
  // The tour of the first page is offered once.
  await page.getByRole('button', { name: 'Skip it' }).click();
  const film = new Film(page, await place.browser.newPage());
  await play(page, film);
  const animation = await film.develop();
  await Bun.write(join(FOLDER, `${name}-${colorScheme}.webp`), animation);
  await page.context().close();
  const kilobytes = Math.round(animation.length / 1024);
  console.log(`${name}-${colorScheme}.webp: ${film.durationMs} ms, ${film.frames} frames, ${kilobytes} KB`);
}

/** The model says it word by word. */
async function answer(page: Page, film: Film, text: string): Promise<void> {
  let written = '';
  for (const word of text.split(/(?<= )/)) {
    model.say(word);
    written += word;
    await visible(page.getByText(written.trim()).first());
    await film.hold(90);
  }
}

async function ask(page: Page, film: Film, text: string): Promise<void> {
  await visible(page.getByRole('textbox', { name: 'Message' }));
  await film.hold(700);
  for (const word of text.split(/(?<= )/)) {
    await page.keyboard.type(word);
    await film.hold(130);
  }
  await page.keyboard.press('Enter');
  await visible(page.getByRole('button', { name: 'Stop' }));
  await film.hold(300);
}

async function play(page: Page, film: Film): Promise<void> {
  await ask(page, film, 'Use port 8080 instead of 3000');
  await answer(page, film, 'I will look at the settings first. ');
  model.call('read_file', { path: PATH });
  await visible(page.getByText('read_file'));
  await film.hold(500);
  await answer(page, film, 'The port is set in one place. ');
  model.call('apply_patch', { patch: PATCH });
  await visible(page.locator('.approval[data-state="pending"] .patch'));
  await film.hold(2_200);
  await page.keyboard.press('y');
  await removed(page.locator('.approval[data-state="pending"]'));
  await film.hold(400);
  await answer(page, film, 'Done. The server listens on port 8080 after the next start. ');
  model.end();
  await visible(page.locator('.turn-end'));
  await film.hold(2_600);
}

/** A session that was begun elsewhere asks, and is allowed from the phone. */
async function playPhone(page: Page, film: Film): Promise<void> {
  await film.hold(900);
  const session = parlance.session();
  await session.create({ title: 'Change the port' });
  await session.submit('Use port 8080 instead of 3000');
  model.call('apply_patch', { patch: PATCH });
  await openSidebar(page);
  await visible(page.locator('.nav-link .count'));
  await film.hold(1_400);
  await page.getByRole('link', { name: /Approvals/ }).click();
  const allow = page.getByRole('button', { name: 'Allow once' });
  await visible(allow);
  await film.hold(2_400);
  await allow.click();
  await removed(allow);
  await film.hold(1_200);
  await openSidebar(page);
  await page.locator('.session-row').getByText('Change the port').click();
  await removed(page.getByRole('button', { name: 'Close menu' }));
  await answer(page, film, 'Done. The server listens on port 8080 after the next start. ');
  model.end();
  await visible(page.locator('.turn-end'));
  await film.hold(2_600);
  await session.erase();
}

/** The agent asks before it decides for the user. */
async function playQuestions(page: Page, film: Film): Promise<void> {
  await ask(page, film, 'Add a database to this project');
  await answer(page, film, 'There are two good ways. ');
  model.call('ask_user', {
    questions: [
      {
        header: 'Database',
        question: 'Which database do you want?',
        options: [
          { label: 'SQLite', description: 'One file, nothing to run' },
          { label: 'PostgreSQL', description: 'For several servers' },
        ],
      },
    ],
  });
  const option = page.getByRole('radio', { name: /SQLite/ });
  await visible(option);
  await film.hold(2_200);
  await option.check();
  await film.hold(700);
  await page.getByRole('button', { name: 'Answer' }).click();
  await removed(page.getByRole('button', { name: 'Answer' }));
  await film.hold(400);
  await answer(page, film, 'SQLite it is. I will add it with one table for settings. ');
  model.end();
  await visible(page.locator('.turn-end'));
  await film.hold(2_600);
}
