/** The console in Chromium: the first view, an answer that streams, a long session, and a long list of sessions. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, Locator, Page } from 'playwright-core';
import { CHROMIUM, launchWholeBrowser } from '../../e2e/console/chromium.ts';
import { Absent } from '../contestants/contestant.ts';
import { openaiAt, startParlance } from '../contestants/parlance.ts';
import { median } from '../measure/percentile.ts';
import { quietRounds } from '../measure/quiet-rounds.ts';
import { temporaryFolder } from '../measure/temporary-folder.ts';
import { startUpstream } from '../measure/upstream-process.ts';
import { type Frames, SCROLL, WATCH_FRAMES, worstFigures } from './console-frames.ts';
import { writeSession } from './long-session.ts';
import { writeSessions } from './many-sessions-data.ts';
import type { Figures, Job, Table } from './table.ts';

const OFFLINE = { PROVIDER: 'offline', LOG_LEVEL: 'silent', PARLANCE_TITLES: 'input' };
const TOKENS_A_SECOND = 200;
const FIRST = 'What can I do for you?';
/** Time between two keys of somebody who types. */
const KEY_MS = 150;
const ROUNDS = { wanted: 3, most: 9 };
const QUICK_ROUNDS = { wanted: 1, most: 1 };
/** Pixels of a frame: a fast flick of the wheel, and a scrollbar that is dragged through thousands of rows. */
const FLICK = 150;
const DRAG = 400;

type Visit = { readonly browser: Browser; readonly folder: string; readonly job: Job };

const SUBJECTS: Readonly<Record<string, (visit: Visit) => Promise<Figures>>> = {
  'first view': firstView,
  [`answer, ${TOKENS_A_SECOND} tokens a second`]: answer,
  'session, events': longSession,
  'list, sessions, flicked': (visit) => longList(visit, FLICK),
  'list, sessions, dragged': (visit) => longList(visit, DRAG),
};

export const consoleTable: Table = {
  name: 'console',
  title:
    'The console in Chromium. Frames: while tokens arrive, or while it scrolls; the worst of the quiet rounds',
  unit: 'size',
  columns: [
    { key: 'kilobytes', title: 'KB gzipped' },
    { key: 'paintMs', title: 'first paint ms' },
    { key: 'readyMs', title: 'shown ms' },
    { key: 'frames', title: 'frames' },
    { key: 'dropped', title: 'dropped' },
    { key: 'longestMs', title: 'longest ms', digits: 1 },
    { key: 'longTasks', title: 'long tasks' },
    { key: 'nodes', title: 'DOM nodes' },
    { key: 'rounds', title: 'rounds' },
    { key: 'stolen', title: 'host took %', digits: 2 },
  ],
  withinCheckout: true,
  jobs(quick) {
    const sizes = quick ? [1, 400, 1_000, 1_000, 1_000] : [1, 2_000, 10_000, 100_000, 100_000];
    return Object.keys(SUBJECTS).map((subject, index) => ({ subject, size: sizes[index] ?? 1 }));
  },
  async measure(job, progress) {
    if (!existsSync(CHROMIUM)) throw new Absent(`${CHROMIUM} is not installed`);
    using folder = temporaryFolder();
    progress(job.subject);
    const browser = await launchWholeBrowser();
    try {
      return (await SUBJECTS[job.subject]?.({ browser, folder: folder.path, job })) ?? {};
    } finally {
      await browser.close();
    }
  },
};

const newPage = (browser: Browser): Promise<Page> =>
  browser.newPage({ viewport: { width: 1440, height: 900 } });

/** Each visit is that of a new user, without anything in the cache. */
async function firstView({ browser, folder, job: { quick } }: Visit): Promise<Figures> {
  const server = await startParlance(folder, OFFLINE);
  const visits: { paint: number; ready: number; bytes: number }[] = [];
  for (let visit = quick ? 0 : -1; visit < (quick ? 1 : 7); visit++) {
    const page = await newPage(browser);
    await page.goto(`${server.http}/`);
    await page.getByRole('heading', { name: FIRST }).waitFor();
    const seen = (await page.evaluate(PAINT)) as { paint: number; ready: number; bytes: number };
    if (visit >= 0) visits.push(seen);
    await page.context().close();
  }
  await server.stop();
  return {
    kilobytes: median(visits.map(({ bytes }) => bytes)) / 1_000,
    paintMs: median(visits.map(({ paint }) => paint)),
    readyMs: median(visits.map(({ ready }) => ready)),
  };
}

const PAINT = `({
  paint: performance.getEntriesByName('first-contentful-paint')[0].startTime,
  ready: performance.now(),
  bytes: [...performance.getEntriesByType('navigation'), ...performance.getEntriesByType('resource')]
    .reduce((sum, { encodedBodySize }) => sum + encodedBodySize, 0),
})`;

async function answer({ browser, folder, job }: Visit): Promise<Figures> {
  const upstream = await startUpstream(job.size, 1_000 / TOKENS_A_SECOND, 'markdown');
  const server = await startParlance(folder, { ...openaiAt(upstream.url), PARLANCE_TITLES: 'input' });
  const figures = await roundsOf(job, async () => {
    const page = await newPage(browser);
    await page.goto(`${server.http}/`);
    await settled(page);
    await page.getByRole('textbox', { name: 'Message' }).pressSequentially('Go on', { delay: KEY_MS });
    await page.keyboard.press('Enter');
    await page.locator('.row > .markdown').waitFor();
    await page.evaluate(WATCH_FRAMES);
    await page.locator('.turn-end').waitFor({ timeout: 120_000 });
    return framesOf(page);
  });
  await server.stop();
  await upstream.stop();
  return figures;
}

async function longSession({ browser, folder, job }: Visit): Promise<Figures> {
  await writeSession(join(folder, 'data'), 'long', { events: job.size, compactions: false });
  const server = await startParlance(folder, OFFLINE);
  const figures = await scrolled(browser, job, {
    url: `${server.http}/#/sessions/long`,
    shown: (page) => page.locator('.turn-end').last(),
    selector: '.transcript',
    pixels: -600,
  });
  await server.stop();
  return figures;
}

async function longList({ browser, folder, job }: Visit, pixels: number): Promise<Figures> {
  await writeSessions(join(folder, 'data'), job.size);
  const server = await startParlance(folder, OFFLINE);
  const figures = await scrolled(browser, job, {
    url: `${server.http}/`,
    shown: (page) => page.locator('.session-row').nth(10),
    selector: '.session-list',
    pixels,
  });
  await server.stop();
  return figures;
}

const settled = (page: Page) =>
  page.evaluate(`navigator.serviceWorker.ready.then(() => new Promise((done) => setTimeout(done, 1_000)))`);

type Scroll = {
  readonly url: string;
  /** visible when the page can be scrolled */
  readonly shown: (page: Page) => Locator;
  readonly selector: string;
  /** per frame */
  readonly pixels: number;
};

/** Scrolls by some pixels in each frame, once the page and its service worker are loaded. */
async function scrolled(
  browser: Browser,
  job: Job,
  { url, shown, selector, pixels }: Scroll,
): Promise<Figures> {
  const readyMs: number[] = [];
  const figures = await roundsOf(job, async () => {
    const page = await newPage(browser);
    await page.goto(url);
    await shown(page).waitFor({ timeout: 120_000 });
    readyMs.push((await page.evaluate('performance.now()')) as number);
    await settled(page);
    await page.evaluate(WATCH_FRAMES);
    await page.evaluate(`(${SCROLL})('${selector}', ${pixels}, 300)`);
    return framesOf(page);
  });
  return { readyMs: median(readyMs), ...figures };
}

/** The figures of each round are those of a new page. */
async function roundsOf({ quick }: Job, play: () => Promise<Frames>): Promise<Figures> {
  const { quietest, all, stolen } = await quietRounds(quick ? QUICK_ROUNDS : ROUNDS, play);
  return { ...worstFigures(quietest), rounds: all.length, stolen };
}

async function framesOf(page: Page): Promise<Frames> {
  const frames = (await page.evaluate('stopWatching()')) as Frames;
  await page.context().close();
  return frames;
}
