/** Runs tasks in the extension like its panel, without the panel's own pages. */
import type { Page } from 'playwright-core';
import type { Ask, TaskRecord } from '../../../packages/extension/src/shared/records.ts';
import { waitLimit } from '../../../packages/server/src/testing/until.ts';
import { type Extension, openExtension } from '../extension.ts';
import { pair } from '../steps.ts';

/**
 * The part of the extension API that is used in the panel. The types of Chromium would add the DOM to every
 * test.
 */
declare const chrome: {
  readonly storage: {
    readonly local: { set(values: object): Promise<void> };
    readonly session: { get(names: readonly string[]): Promise<unknown> };
  };
  readonly runtime: { sendMessage(message: object): Promise<unknown> };
};

export type Ended = {
  readonly outcome: string;
  readonly message: string;
  /** tab in which the task ended */
  readonly tab: number;
  /** reasons for confirmations that were requested */
  readonly asked: readonly string[];
};

export type TaskBrowser = {
  readonly extension: Extension;
  open(address: string): Promise<Page>;
  /** `allow` is how the user answers confirmations. */
  run(page: Page, query: string, allow?: boolean): Promise<Ended>;
  /** Starts a task; the result resolves when it has ended. */
  begin(page: Page, query: string, allow?: boolean): Promise<{ readonly ended: Promise<Ended> }>;
  close(): Promise<void>;
};

/** Paired with the server, and allowed to use `sites`. */
export async function taskBrowser(server: { http: string }, sites: readonly string[]): Promise<TaskBrowser> {
  const extension = await openExtension();
  const control = await extension.panel();
  await pair(control, server);
  const allowed = Object.fromEntries(sites.map((site) => [site, 'allow']));
  await control.evaluate((permissions) => chrome.storage.local.set({ sites: permissions }), allowed);

  async function begin(page: Page, query: string, allow = false) {
    const tab = await extension.tabOf(page);
    const session = crypto.randomUUID();
    await control.evaluate((task) => chrome.runtime.sendMessage(task), { kind: 'task', session, tab, query });
    return {
      ended: control.evaluate(untilEnded, {
        session,
        answer: allow ? 'allow' : 'deny',
        limitMs: 2 * waitLimit(),
      }),
    };
  }

  return {
    extension,
    open: (address) => extension.open(address),
    begin,
    run: async (page, query, allow) => (await begin(page, query, allow)).ended,
    close: () => extension.close(),
  };
}

type Watched = { readonly session: string; readonly answer: string; readonly limitMs: number };

/** In the panel: answers confirmations until the task has ended. */
async function untilEnded({ session, answer, limitMs }: Watched): Promise<Ended> {
  const asked: string[] = [];
  const answered = new Set<string>();
  for (const deadline = Date.now() + limitMs; Date.now() < deadline; ) {
    const { tasks = {}, asks = [] } = (await chrome.storage.session.get(['tasks', 'asks'])) as {
      tasks?: Record<string, TaskRecord>;
      asks?: Ask[];
    };
    for (const ask of asks) {
      if (ask.session !== session || answered.has(ask.id)) continue;
      answered.add(ask.id);
      if (ask.kind === 'action') asked.push(...ask.reasons);
      const given = ask.kind === 'action' ? answer : 'never';
      await chrome.runtime.sendMessage({ kind: 'answer', id: ask.id, answer: given });
    }
    const task = tasks[session];
    if (task?.state.phase === 'ended') return { ...task.state, tab: task.tab, asked };
    if (task?.state.phase === 'question')
      return { outcome: 'question', message: task.state.question, tab: task.tab, asked };
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error('the task did not end');
}
