/** The console in a real browser with a real server. Collects errors of every page. */
import type { Browser, BrowserContext, BrowserContextOptions, Locator, Page } from 'playwright-core';
import { startTestServer, type TestServer } from '../../packages/server/src/testing/server.ts';
import { until, waitLimit } from '../../packages/server/src/testing/until.ts';
import { postJson } from '../server-process.ts';
import { buildConsole, launchBrowser } from './chromium.ts';
import { type Screen, screenFor } from './screen.ts';

export type Console = {
  readonly server: TestServer;
  readonly browser: Browser;
  /** of every page, unless its options differ */
  readonly screen: Screen;
  /**
   * A new tab at `/#` and the path; `at` is another address of the same server. Its service worker, which stores all
   * files of the console, is not installed unless `serviceWorkers` is `allow`.
   */
  open(path?: string, how?: BrowserContextOptions & { at?: string }): Promise<Page>;
  /** Another tab of the same browser window. */
  openBeside(page: Page, path: string): Promise<Page>;
  /**
   * Problems since the last call: violations of the content security policy, exceptions, console errors, and
   * requests to other hosts.
   */
  problems(): string[];
  stop(): Promise<void>;
};

export async function openConsole(
  settings: Record<string, string> = {},
  launch = launchBrowser,
): Promise<Console> {
  await buildConsole();
  const [server, browser] = await Promise.all([startTestServer(settings), launch()]);
  const screen = screenFor(Bun.main);
  let problems: string[] = [];
  const note = (text: string) => void problems.push(text);

  async function open(context: BrowserContext, address: string): Promise<Page> {
    const page = await context.newPage();
    page.on('console', (message) => message.type() === 'error' && note(message.text()));
    page.on('pageerror', (error) => note(String(error)));
    page.on('request', (request) => {
      const url = new URL(request.url());
      if (url.hostname !== '127.0.0.1' && url.protocol.startsWith('http')) note(`asked for ${url}`);
    });
    const goto = page.goto.bind(page);
    page.goto = async (...to) => {
      const response = await goto(...to);
      // The page of another hash is shown by an event that may follow the new address.
      await page.evaluate('new Promise((resolve) => setTimeout(resolve))');
      return response;
    };
    await page.goto(address);
    return page;
  }

  return {
    server,
    browser,
    screen,
    async open(path = '/', { at = server.http, ...how } = {}) {
      const context = await browser.newContext({ ...screen, serviceWorkers: 'block', ...how });
      await context.addInitScript(REPORT_VIOLATIONS);
      return open(context, `${at}/#${path}`);
    },
    openBeside: (page, path) => open(page.context(), `${new URL(page.url()).origin}/#${path}`),
    problems() {
      const found = problems;
      problems = [];
      return found;
    },
    async stop() {
      await browser.close();
      await server.stop();
    },
  };
}

const REPORT_VIOLATIONS = `document.addEventListener('securitypolicyviolation', (event) =>
  console.error('policy: ' + event.violatedDirective + ' ' + event.blockedURI))`;

type Caller = { readonly http: string; readonly token?: string };

/** Submits an input to a session, which it creates. Durable when it resolves. */
export async function submitInput({ http, token }: Caller, session: string, text: string): Promise<void> {
  const command = { type: 'input.submit', parts: [{ type: 'text', text }] };
  const headers: Record<string, string> = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const { status } = await postJson(`${http}/v1/sessions/${session}/commands`, command, headers);
  if (status !== 200) throw new Error(`“${text}” was refused with ${status}`);
}

/** Signs the browser in, unless it is, and loads the page again. */
export async function signInAs(page: Page, name: string): Promise<void> {
  const body = JSON.stringify({ name, password: `${name}-password` });
  const changed = await page.evaluate(`(async () => {
    if (localStorage.getItem('parlance.sign-in')) return false;
    const headers = { 'content-type': 'application/json' };
    const answer = await fetch('/v1/auth/sign-in', { method: 'POST', headers, body: ${JSON.stringify(body)} });
    localStorage.setItem('parlance.sign-in', (await answer.json()).key);
    return true;
  })()`);
  if (changed) await page.reload();
}

export const visible = (locator: Locator): Promise<void> => locator.waitFor({ state: 'visible' });
export const removed = (locator: Locator): Promise<void> => locator.waitFor({ state: 'detached' });

/** Opens the sidebar where it is a drawer, as on a phone; navigation closes it again. */
export async function openSidebar(page: Page): Promise<void> {
  const sidebar = page.getByRole('complementary', { name: 'Navigation' });
  const button = page.getByRole('button', { name: 'Open menu' });
  await visible(sidebar.or(button).first());
  if (await button.isVisible()) await button.click();
  await visible(sidebar);
}

/** Closes the sidebar where it is a drawer, which covers the page. */
export async function closeSidebar(page: Page): Promise<void> {
  const button = page.getByRole('button', { name: 'Close menu' });
  if (await button.isVisible()) await button.click();
  await button.waitFor({ state: 'detached' });
}

/** Waits until an expression is true in the page, whose policy forbids `waitForFunction`. */
export const holds = (page: Page, expression: string): Promise<void> =>
  page.evaluate(`(async () => {
    const deadline = Date.now() + ${waitLimit()};
    while (!(${expression})) {
      if (Date.now() > deadline) throw new Error(${JSON.stringify(expression)});
      await new Promise((resolve) => setTimeout(resolve, 25));
    }
  })()`);

/** Why the browser does not submit the form of a field. */
export const validationMessageOf = (field: Locator): Promise<string> =>
  field.evaluate((element) => ('validationMessage' in element ? String(element.validationMessage) : ''));

/** Of `HTMLSelectElement`. */
type OptionList = {
  readonly options: Iterable<{ readonly value: string; readonly label: string }>;
  selectedIndex: number;
  readonly dataset: { chosen?: string };
  addEventListener(type: 'input', listener: () => void, options: { once: true }): void;
};

/**
 * Chooses an option by its value or label with a key: `selectOption` of Playwright sends events of a script, which the console
 * ignores.
 */
export async function chooseOption(select: Locator, wanted: string): Promise<void> {
  await until(async () => {
    const found = await select.evaluate((list: OptionList, name) => {
      const at = [...list.options].findIndex(({ value, label }) => value === name || label === name);
      if (at < 0) return null;
      list.dataset.chosen = '';
      list.addEventListener('input', () => Object.assign(list.dataset, { chosen: list.selectedIndex }), {
        once: true,
      });
      list.selectedIndex = at === 0 ? 1 : at - 1;
      return { at: String(at), key: at === 0 ? 'ArrowUp' : 'ArrowDown' };
    }, wanted);
    if (!found) return false;
    await select.press(found.key);
    // If the page rendered before the key, what was selected before was restored, and the key has chosen another option.
    return (await select.evaluate(({ dataset }: OptionList) => dataset.chosen)) === found.at;
  });
}

/** Stops the clock of a page on which one is installed. */
export async function pauseClock(page: Page): Promise<void> {
  await until(async () => {
    const now = (await page.evaluate('Date.now()')) as number;
    // It fails on a machine that needs longer to ask for it.
    return page.clock.pauseAt(now + 1_000).then(
      () => true,
      () => false,
    );
  });
}

export const titled = (page: Page, title: string): Promise<void> =>
  page.locator(`xpath=/html/head/title[.="${title}"]`).waitFor({ state: 'attached' });

/** Opens the picker with that label below the message field and chooses an option by the beginning of its text. */
export async function pickOption(page: Page, label: string, wanted: string): Promise<void> {
  await page.getByRole('button', { name: new RegExp(`^${label}: `) }).click();
  await page.getByRole('menuitemradio', { name: new RegExp(`^${wanted}`) }).click();
}
