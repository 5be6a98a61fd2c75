/** Drives a page through the content script, as the background worker does, and reads it as the server does. */
import { join } from 'node:path';
import { type Action, findElements, parseAction, parsePage, type Page as ReadPage } from '@parlance/copilot';
import type { Browser, Page } from 'playwright-core';
import {
  type ActionOutcome,
  type ContentAnswers,
  type ContentKind,
  type ContentReply,
  type ContentRequest,
  type Inspection,
  isPageAction,
  type Observations,
  type Snapshot,
} from '../src/messages.ts';

export type Done = ActionOutcome & { readonly seen: Observations };

let bundle: Promise<string> | null = null;

function script(): Promise<string> {
  bundle ??= Bun.build({
    entrypoints: [join(import.meta.dir, 'entry.ts')],
    target: 'browser',
    format: 'iife',
  }).then(({ outputs: [output] }) => output?.text() ?? '');
  return bundle;
}

export async function openPage(browser: Browser, url: string): Promise<Driver> {
  const page = await browser.newPage({ viewport: { width: 1_000, height: 700 } });
  await page.addInitScript(await script());
  await page.goto(url);
  const driver = new Driver(page);
  await driver.ask({ kind: 'attach' });
  return driver;
}

export class Driver {
  readonly page: Page;

  constructor(page: Page) {
    this.page = page;
  }

  async reply(request: ContentRequest): Promise<ContentReply> {
    type Content = { parlanceHandle(request: ContentRequest): Promise<ContentReply> };
    return await this.page.evaluate(
      (sent) => (globalThis as unknown as Content).parlanceHandle(sent),
      request,
    );
  }

  async ask<Kind extends ContentKind>(
    request: Extract<ContentRequest, { kind: Kind }>,
  ): Promise<ContentAnswers[Kind]> {
    const reply = await this.reply(request);
    if (!reply.ok) throw new Error(`${reply.error.code}: ${reply.error.message}`);
    return reply.value as ContentAnswers[Kind];
  }

  async snapshot(): Promise<Snapshot> {
    return await this.ask({ kind: 'snapshot' });
  }

  /** The page as the server understands it. */
  async read(): Promise<ReadPage> {
    const { dom, url, title } = await this.snapshot();
    return parsePage({ dom, url, title }, 1_000_000);
  }

  /** The number of the element that a description means. */
  async find(description: string): Promise<number> {
    const page = await this.read();
    const [best] = findElements(page, description);
    if (!best)
      throw new Error(
        `no ${description} in\n${page.elements.map(({ id, role, name }) => `${id} ${role} ${name}`).join('\n')}`,
      );
    return best.element.id;
  }

  /** An action of the grammar; `{a description}` in it becomes the number of that element. */
  async #action(written: string): Promise<Action> {
    let text = written;
    for (const [braced, description = ''] of written.matchAll(/\{([^}]+)\}/g))
      text = text.replace(braced, String(await this.find(description)));
    const action = parseAction(text);
    if (!action) throw new Error(`not an action: ${text}`);
    return action;
  }

  async inspect(written: string): Promise<Inspection> {
    return await this.ask({ kind: 'inspect', action: await this.#action(written) });
  }

  /** Executes an action and waits until the page has settled. */
  async act(written: string): Promise<Done> {
    const action = await this.#action(written);
    if (!isPageAction(action)) throw new Error(`not an action of the page: ${written}`);
    const outcome = await this.ask({ kind: 'act', action });
    const seen = await this.ask({ kind: 'settle' });
    return { ...outcome, seen };
  }

  /** Like `act`; throws if it failed. */
  async do(written: string): Promise<Done> {
    const done = await this.act(written);
    if (!done.success) throw new Error(`${written}: ${done.error?.code} ${done.error?.message}`);
    return done;
  }

  /** Milliseconds that the process of the page has computed meanwhile: other processes do not count. */
  async processorTime(work: () => Promise<void>): Promise<number> {
    const session = await this.page.context().browser()?.newBrowserCDPSession();
    const times = async (): Promise<number> => {
      const { processInfo = [] } = (await session?.send('SystemInfo.getProcessInfo')) ?? {};
      return Math.max(...processInfo.filter(({ type }) => type === 'renderer').map(({ cpuTime }) => cpuTime));
    };
    const before = await times();
    await work();
    return ((await times()) - before) * 1_000;
  }

  async status(): Promise<string> {
    return (await this.page.locator('#status').textContent()) ?? '';
  }

  async close(): Promise<void> {
    await this.page.close();
  }
}
