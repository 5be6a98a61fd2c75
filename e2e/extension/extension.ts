/** The extension in a real Chromium with a real server. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type BrowserContext, chromium, type Page, type Worker } from 'playwright-core';
import { waitLimit } from '../../packages/server/src/testing/until.ts';
import { ARGUMENTS } from '../console/chromium.ts';
import { buildExtension, CHROMIUM, EXTENSION } from './build.ts';

export type Extension = {
  readonly context: BrowserContext;
  readonly id: string;
  /** The background worker; a new one after it was suspended. */
  worker(): Promise<Worker>;
  /** The panel as a tab, for the tab of `page`, by default the current one. */
  panel(page?: Page): Promise<Page>;
  /** A tab at the address. */
  open(address: string): Promise<Page>;
  /** The tab id in Chromium. */
  tabOf(page: Page): Promise<number>;
  /** Violations of policies, exceptions and console errors in the extension's own pages since the last call. */
  problems(): string[];
  close(): Promise<void>;
};

/** `profile` is of a browser that was closed, and stays. */
export async function openExtension(profile?: string): Promise<Extension> {
  await buildExtension();
  const folder = profile ?? mkdtempSync(join(tmpdir(), 'parlance-profile-'));
  const context = await chromium.launchPersistentContext(folder, {
    executablePath: CHROMIUM,
    headless: false,
    viewport: null,
    timeout: waitLimit(),
    args: [
      '--headless=new',
      ...ARGUMENTS,
      `--disable-extensions-except=${EXTENSION}`,
      `--load-extension=${EXTENSION}`,
    ],
  });
  context.setDefaultTimeout(waitLimit());
  let problems: string[] = [];
  const worker = async (): Promise<Worker> =>
    context.serviceWorkers()[0] ?? (await context.waitForEvent('serviceworker'));
  const id = new URL((await worker()).url()).host;
  // Not the state after installation: a server of the developer may run at the default address.
  if (profile === undefined)
    await (await worker()).evaluate(
      `chrome.storage.local.set({ connection: { status: 'none', url: 'http://127.0.0.1:9' } })`,
    );

  const tabOf = async (page: Page): Promise<number> => {
    const url = JSON.stringify(page.url());
    // As text: the types of the extension API are not available here.
    return (await worker()).evaluate(
      `chrome.tabs.query({}).then((tabs) => tabs.findLast((tab) => tab.url === ${url}).id)`,
    );
  };

  return {
    context,
    id,
    worker,
    tabOf,
    async panel(page) {
      const query = page === undefined ? '' : `?tab=${await tabOf(page)}`;
      const panel = await context.newPage();
      panel.on('console', (message) => message.type() === 'error' && problems.push(message.text()));
      panel.on('pageerror', (error) => problems.push(String(error)));
      await panel.setViewportSize({ width: 400, height: 760 });
      await panel.goto(`chrome-extension://${id}/sidepanel.html${query}`);
      return panel;
    },
    async open(address) {
      const page = await context.newPage();
      await page.goto(address);
      return page;
    },
    problems() {
      const found = problems;
      problems = [];
      return found;
    },
    async close() {
      await context.close();
      if (profile === undefined) rmSync(folder, { recursive: true, force: true });
    },
  };
}
