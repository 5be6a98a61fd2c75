import { expect } from 'bun:test';
import type { Page } from 'playwright-core';
import type { Ended } from './browser.ts';

export type Task = {
  readonly page: string;
  readonly query: string;
  /** the answer to confirmations; denied by default */
  readonly allow?: boolean;
  /** also part of the quick run */
  readonly quick?: boolean;
  readonly check: (page: Page, ended: Ended) => Promise<void>;
};

/** The page shows the text in its status line. */
export const says =
  (text: string, selector = '#status') =>
  async (page: Page, { outcome, message }: Ended): Promise<void> => {
    expect([outcome, await page.locator(selector).textContent(), message]).toEqual([
      'completed',
      text,
      expect.any(String),
    ]);
  };

/** The page shows the text somewhere. */
export const shows =
  (text: string) =>
  async (page: Page, { outcome, message }: Ended): Promise<void> => {
    expect([outcome, message]).toEqual(['completed', expect.any(String)]);
    expect(await page.locator('body').innerText()).toContain(text);
  };
