/** One browser and one site for the tests of a file. */
import { afterAll, afterEach, beforeAll } from 'bun:test';
import type { Browser } from 'playwright-core';
import { launchBrowser } from '../../../e2e/console/chromium.ts';
import { type Driver, openPage } from './driver.ts';
import { type Site, serveSite } from './site.ts';

export { NO_BROWSER } from '../../../e2e/console/chromium.ts';

/** Opens test pages; each is closed after its test. */
export function testPages() {
  let browser: Browser;
  let site: Site;
  const opened: Driver[] = [];
  beforeAll(async () => {
    site = serveSite();
    browser = await launchBrowser();
  });
  afterEach(async () => {
    for (const driver of opened.splice(0)) await driver.close();
  });
  afterAll(async () => {
    await browser.close();
    site.stop();
  });
  return {
    async open(name: string): Promise<Driver> {
      const driver = await openPage(browser, `${site.url}/${name}`);
      opened.push(driver);
      return driver;
    },
    events: () => site.events,
  };
}
