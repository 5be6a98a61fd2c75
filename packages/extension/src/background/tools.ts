/** Browser tools are offered while the extension is paired and the person has not turned them off. */

import { parsedObject } from '@parlance/protocol/json-text';
import type { PageTool } from '../messages.ts';
import { isOwnServer, OWN_SERVER } from '../shared/own-server.ts';
import type { Paired, ToolUse } from '../shared/records.ts';
import { siteName, siteOf } from '../shared/sites.ts';
import { allowedOnce, connection, toolsOn, toolUses } from '../shared/storage.ts';
import { allowOnce, askForAction, askForSite, siteVerdict } from './permission.ts';
import { checkPairing } from './server.ts';
import { askPage, ensureScripts, indicate, loaded, release, settle } from './tabs/page.ts';

/** How long a tool that was stopped may take to answer. */
const ANSWER_MS = 2_000;

let open: { readonly name: string; readonly socket: ToolSocket } | null = null;
let stopping = new AbortController();
const executions = new Set<Promise<void>>();

export const toolsBusy = (): boolean => executions.size > 0;

/** Opens or closes the socket, as the settings say. */
export async function offerTools(changed: () => void): Promise<void> {
  const [now, on] = await Promise.all([connection.get(), toolsOn.get()]);
  const name = now.status === 'paired' && on ? `${now.url} ${now.token}` : null;
  if (open?.name === name) return;
  open?.socket.close();
  open = null;
  if (now.status !== 'paired' || name === null) return;
  const socket = openToolSocket(now, {
    capabilities: CAPABILITIES,
    request(request, reply) {
      const execution = runTool(request, stopping.signal).then(reply);
      executions.add(execution);
      changed();
      void execution.finally(() => {
        executions.delete(execution);
        changed();
      });
    },
  });
  open = { name, socket };
}

/** Refuses running calls, and accepts no more until the user turns browser tools on again. */
export async function stopTools(): Promise<void> {
  if (executions.size === 0) return;
  stopping.abort(new Error('The browser tools were stopped.'));
  stopping = new AbortController();
  // Send the refusals to the agents before closing the socket.
  const answered = Promise.allSettled([...executions]);
  await Promise.race([answered, new Promise((resolve) => setTimeout(resolve, ANSWER_MS))]);
  await toolsOn.set(false);
}

// Runs a browser tool for an agent in another client: permission of the site, what always asks, and an entry for the panel.

// What agents in other clients can do in this browser.

type Parameters = Readonly<Record<string, unknown>>;

/** Where a tool works. `site` is the origin that needs a permission; null if it touches no site. */
type ToolTarget = { readonly tab: number | null; readonly site: string | null };

type BrowserTool = {
  readonly describe: (parameters: Parameters) => string;
  readonly target: (parameters: Parameters) => Promise<ToolTarget>;
  /** the tool of the content script, which knows what always asks */
  readonly page?: PageTool;
  readonly run: (target: ToolTarget, parameters: Parameters, mayShow: MayShow) => Promise<unknown>;
};

/** Whether a tab may be shown to agents without a question. */
type MayShow = (address: string | undefined) => Promise<boolean>;

const text = (value: unknown): string => (typeof value === 'string' ? value : '');

/** The tab that the person looks at: not the panel, where it is open as a tab. */
async function currentTab(): Promise<chrome.tabs.Tab | null> {
  const [active] = await chrome.tabs.query({ active: true, lastFocusedWindow: true });
  if (active && siteOf(active.url) !== null) return active;
  const tabs = (await chrome.tabs.query({})).filter(({ url }) => siteOf(url) !== null);
  return tabs.sort((one, other) => (other.lastAccessed ?? 0) - (one.lastAccessed ?? 0))[0] ?? null;
}

async function currentPage(): Promise<ToolTarget> {
  const tab = await currentTab();
  if (tab?.id === undefined) throw new Error('No website is open in the browser.');
  return { tab: tab.id, site: siteOf(tab.url) };
}

const pageTool = (page: PageTool, describe: BrowserTool['describe']): BrowserTool => ({
  describe,
  target: currentPage,
  page,
  async run({ tab }, parameters) {
    if (tab === null) throw new Error('No website is open in the browser.');
    await ensureScripts(tab);
    const result = await askPage(tab, { kind: 'tool', tool: page, parameters });
    if (page === 'dom_manipulation') await settle(tab).catch(() => null);
    return result;
  },
});

/** Opens the address in a tab of its own for the time of reading. */
const extract: BrowserTool = {
  ...pageTool('extract_page_content', ({ url }) => (url ? `Read ${text(url)}` : 'Read the page')),
  target: ({ url }) =>
    url === undefined ? currentPage() : Promise.resolve({ tab: null, site: siteOf(text(url)) }),
  async run({ tab }, { url, ...parameters }) {
    const id = tab ?? (await chrome.tabs.create({ url: text(url), active: false })).id;
    if (id === undefined) throw new Error('The tab was not opened.');
    try {
      await loaded(id, 8_000);
      await ensureScripts(id);
      await settle(id);
      return await askPage(id, { kind: 'tool', tool: 'extract_page_content', parameters });
    } finally {
      if (tab === null) await chrome.tabs.remove(id).catch(() => undefined);
    }
  },
};

const openUrl: BrowserTool = {
  describe: ({ url }) => `Open ${text(url)}`,
  target: async ({ url, newTab }) => ({
    tab: newTab === false ? ((await currentTab())?.id ?? null) : null,
    site: siteOf(text(url)),
  }),
  async run({ tab, site }, { url }) {
    if (site === null) throw new Error('Only http and https addresses can be opened.');
    const shown =
      tab === null
        ? await chrome.tabs.create({ url: text(url) })
        : await chrome.tabs.update(tab, { url: text(url) });
    if (shown?.id === undefined) throw new Error('The tab was not opened.');
    const { title, url: address } = await loaded(shown.id, 30_000);
    // A redirect of the site leads there.
    if (await isOwnServer(address)) throw new Error(OWN_SERVER);
    return { tabId: shown.id, title, url: address };
  },
};

const tabManagement: BrowserTool = {
  describe: ({ action, tabId, url }) => `Tabs: ${text(action)} ${text(url) || (tabId ?? '')}`.trim(),
  async target({ action, tabId, url }) {
    if (action === 'create') return { tab: null, site: siteOf(text(url)) };
    if (typeof tabId !== 'number') return { tab: null, site: null };
    const tab = await chrome.tabs.get(tabId).catch(() => null);
    if (!tab) throw new Error(`There is no tab ${tabId}.`);
    return { tab: tabId, site: siteOf(tab.url) };
  },
  async run({ tab, site }, { action, url }, mayShow) {
    if (action === 'create') return openUrl.run({ tab: null, site }, { url }, mayShow);
    if (action === 'list') return listed(mayShow);
    if (tab === null) throw new Error('tabId is needed.');
    if (action === 'close') await chrome.tabs.remove(tab);
    else await chrome.tabs.update(tab, { active: true });
    return { tabId: tab, done: true };
  },
};

/** Tabs on sites that the person has not allowed are counted and not named. */
async function listed(mayShow: MayShow): Promise<object> {
  const tabs: object[] = [];
  let hidden = 0;
  for (const { id, title, url, active } of await chrome.tabs.query({}))
    if (await mayShow(url)) tabs.push({ tabId: id, title, url, active });
    else hidden++;
  return { tabs, hidden };
}

const BROWSER_TOOLS: Readonly<Record<string, BrowserTool>> = {
  extract_page_content: extract,
  open_url: openUrl,
  get_selected_text: pageTool('get_selected_text', () => 'Read the selected text'),
  scroll_to_element: pageTool('scroll_to_element', ({ selector }) => `Scroll to ${text(selector)}`),
  dom_manipulation: pageTool(
    'dom_manipulation',
    ({ action, selector, value }) =>
      `${text(action)} ${text(selector)}${value === undefined ? '' : ` with “${text(value)}”`}`,
  ),
  tab_management: tabManagement,
};

const MAX_SHOWN = 50;
/** The answer must arrive before the server gives up. */
const MARGIN_MS = 1_000;

class NotAllowed extends Error {
  override readonly name = 'NotAllowed';
}

const CAPABILITIES: readonly string[] = Object.keys(BROWSER_TOOLS);

/** Never throws: the outcome is the content of the response. */
async function runTool(request: ToolRequest, stop: AbortSignal): Promise<object> {
  const { executionId, toolName, parameters } = request;
  const began = performance.now();
  const tool = Object.hasOwn(BROWSER_TOOLS, toolName) ? BROWSER_TOOLS[toolName] : undefined;
  const answer = (content: object) => ({
    executionId,
    executionTime: Math.round(performance.now() - began),
    ...content,
  });
  if (!tool) return answer(failure('validation', `There is no browser tool ${toolName.slice(0, 100)}.`));
  const limit = AbortSignal.timeout(Math.max(MARGIN_MS, request.timeout - MARGIN_MS));
  const signal = AbortSignal.any([stop, limit]);
  await note({ id: executionId, tool: toolName, description: tool.describe(parameters), state: 'asking' });
  try {
    const target = await tool.target(parameters);
    await update(executionId, { site: target.site, tab: target.tab });
    await allowed(request, { tool, target }, signal);
    await update(executionId, { state: 'running' });
    const result = await indicated(target.tab, toolName, () => tool.run(target, parameters, mayShow));
    await update(executionId, { state: 'done' });
    return answer({ success: true, result: result ?? null });
  } catch (thrown) {
    const message = stop.aborted ? 'The user stopped the browser tools.' : reason(thrown, limit);
    await update(executionId, { state: 'failed', message });
    const isDenied = thrown instanceof NotAllowed || stop.aborted || limit.aborted;
    return answer(failure(isDenied ? 'permission' : 'browser_api', message));
  }
}

const failure = (type: string, message: string): object => ({
  success: false,
  error: { type, message, recoverable: false },
});

function reason(thrown: unknown, limit: AbortSignal): string {
  if (limit.aborted)
    return 'The user has not answered in time. Ask them to open the side panel, then try again.';
  return thrown instanceof Error ? thrown.message : String(thrown);
}

const mayShow = async (address: string | undefined): Promise<boolean> => {
  const site = siteOf(address);
  return site !== null && (await siteVerdict(site, await allowedOnce.get())) === 'allowed';
};

type Chosen = { readonly tool: BrowserTool; readonly target: ToolTarget };

async function allowed(request: ToolRequest, chosen: Chosen, signal: AbortSignal): Promise<void> {
  const { executionId, parameters } = request;
  const { tool, target } = chosen;
  const { site, tab } = target;
  if (site === null) return;
  if (await isOwnServer(site)) throw new NotAllowed(OWN_SERVER);
  const ask = { id: executionId, tab: tab ?? -1, site, session: null };
  const verdict = await siteVerdict(site, await allowedOnce.get());
  if (verdict === 'denied') throw new NotAllowed(`The user does not allow ${siteName(site)} to be used.`);
  if (verdict === null) {
    const answer = await askForSite({ ...ask, purpose: tool.describe(parameters) }, signal);
    if (answer === 'never') throw new NotAllowed(`The user does not allow ${siteName(site)} to be used.`);
    if (answer === 'once') await allowOnce(site);
  }
  if (!tool.page || tab === null) return;
  await ensureScripts(tab);
  const inspection = await askPage(tab, { kind: 'inspect-tool', tool: tool.page, parameters });
  const { reasons, destination } = inspection;
  if (reasons.length === 0) return;
  const description = tool.describe(parameters);
  const given = await askForAction(
    { ...ask, id: `${executionId} action`, reasons, description, destination },
    signal,
  );
  if (given === 'denied') throw new NotAllowed('The user did not allow this action.');
}

async function indicated<Result>(
  tab: number | null,
  tool: string,
  work: () => Promise<Result>,
): Promise<Result> {
  if (tab === null) return work();
  await ensureScripts(tab).catch(() => undefined);
  await indicate(tab, `An agent uses this page: ${tool}`);
  try {
    return await work();
  } finally {
    await release(tab);
  }
}

const note = (use: Pick<ToolUse, 'id' | 'tool' | 'description' | 'state'>): Promise<unknown> =>
  toolUses.change((all) => [...all.slice(1 - MAX_SHOWN), { site: null, tab: null, at: Date.now(), ...use }]);

const update = (id: string, change: Partial<ToolUse>): Promise<unknown> =>
  toolUses.change((all) => all.map((use) => (use.id === id ? { ...use, ...change } : use)));

/** Uses that a suspended worker has left open. */
export const forgetOpenUses = (): Promise<unknown> =>
  toolUses.change((all) =>
    all.map((use) =>
      use.state === 'asking' || use.state === 'running'
        ? { ...use, state: 'failed', message: 'The extension was suspended before it could answer.' }
        : use,
    ),
  );

// The socket of the `extension` contract: agents in other clients reach the browser through it.

const RETRY_MS = [500, 1_000, 2_000, 5_000, 10_000, 30_000];
/** Also keeps the worker from being suspended. */
const PING_MS = 20_000;
/** A socket on which nothing came for so long is dead. */
const SILENCE_MS = 50_000;

type ToolRequest = {
  readonly executionId: string;
  readonly toolName: string;
  readonly parameters: Readonly<Record<string, unknown>>;
  readonly timeout: number;
};

type ToolSocketEvents = {
  readonly capabilities: readonly string[];
  readonly request: (request: ToolRequest, reply: (frame: object) => void) => void;
};

type ToolSocket = { close(): void };

const frameOf = (type: string, content: object): string => {
  const timestamp = Date.now();
  const id = `msg_${timestamp}_${crypto.randomUUID().replaceAll('-', '').slice(0, 9)}`;
  return JSON.stringify({ id, type, timestamp, ...content });
};

/** Connects again until it is closed. */
function openToolSocket({ url, token }: Paired, events: ToolSocketEvents): ToolSocket {
  let socket: WebSocket | null = null;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let failures = 0;
  let isClosed = false;

  function connect(): void {
    const opened = new WebSocket(`${url.replace('http', 'ws')}/extension?token=${encodeURIComponent(token)}`);
    socket = opened;
    let receivedAt = Date.now();
    const send = (type: string, content: object = {}) => {
      if (opened.readyState === WebSocket.OPEN) opened.send(frameOf(type, content));
    };
    const pulse = setInterval(() => {
      if (Date.now() - receivedAt > SILENCE_MS) opened.close();
      else send('ping');
    }, PING_MS);
    opened.onopen = () => {
      const metadata = { extensionVersion: chrome.runtime.getManifest().version };
      send('client_registration', {
        clientType: 'browser_extension',
        capabilities: events.capabilities,
        metadata,
      });
    };
    opened.onmessage = ({ data }) => {
      receivedAt = Date.now();
      const frame = parsedObject(String(data));
      if (frame?.type === 'registration_confirmed') failures = 0;
      if (frame?.type === 'tool_execution_request' && isRequest(frame))
        events.request(frame, (content) => send('tool_execution_response', content));
    };
    opened.onclose = ({ code }) => {
      clearInterval(pulse);
      if (isClosed) return;
      // A refused token closes with 1008; a refused origin never opens.
      if (code === 1008 || failures > 0) void checkPairing(url, token);
      timer = setTimeout(connect, RETRY_MS[Math.min(failures++, RETRY_MS.length - 1)]);
    };
  }

  connect();
  return {
    close() {
      isClosed = true;
      clearTimeout(timer);
      socket?.close(1000);
    },
  };
}

const isRequest = (frame: object): frame is ToolRequest =>
  'executionId' in frame &&
  typeof frame.executionId === 'string' &&
  'toolName' in frame &&
  typeof frame.toolName === 'string' &&
  'parameters' in frame &&
  typeof frame.parameters === 'object' &&
  frame.parameters !== null &&
  'timeout' in frame &&
  typeof frame.timeout === 'number';
