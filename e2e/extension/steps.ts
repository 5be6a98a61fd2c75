/** Steps of a user in the panel. */
import type { Page } from 'playwright-core';
import { postJson } from '../server-process.ts';

type Where = { readonly http: string };

/** Requests pairing, and returns the shown code. */
export async function askToPair(panel: Page, { http }: Where): Promise<string> {
  await panel.getByLabel('Server').fill(http);
  await panel.getByRole('button', { name: 'Connect' }).click();
  return (await panel.locator('.pair-code').textContent()) ?? '';
}

export const isPaired = (panel: Page): Promise<void> =>
  panel.getByRole('heading', { name: 'What can I do for you?' }).waitFor();

/** Approves the pairing like a user in the console. */
export async function pair(panel: Page, server: Where): Promise<void> {
  const code = await askToPair(panel, server);
  await postJson(`${server.http}/v1/pairings/answer`, { code, allow: true });
  await isPaired(panel);
}

export async function send(panel: Page, text: string): Promise<void> {
  await panel.getByLabel('Message', { exact: true }).fill(text);
  await panel.keyboard.press('Enter');
}

export const press = (panel: Page, name: string): Promise<void> =>
  panel.getByRole('button', { name, exact: true }).click();

/** The chip with the outcome of the task. */
export const ended = (panel: Page, word: 'Completed' | 'Failed' | 'Stopped'): Promise<void> =>
  panel.locator('.task-status .chip', { hasText: word }).waitFor();

/** The button of the indicator, whose shadow root is closed to scripts. */
export async function pressStop(page: Page): Promise<void> {
  await page.locator('[data-parlance-indicator]').waitFor({ state: 'attached' });
  await page.bringToFront();
  const session = await page.context().newCDPSession(page);
  await session.send('DOM.enable');
  const { nodes } = await session.send('DOM.getFlattenedDocument', { depth: -1, pierce: true });
  const button = nodes.findLast(({ localName }) => localName === 'button');
  const { model } = await session.send('DOM.getBoxModel', { nodeId: button?.nodeId });
  const [left = 0, top = 0] = model.content;
  await page.mouse.click(left + model.width / 4, top + model.height / 4);
  await session.detach();
}
