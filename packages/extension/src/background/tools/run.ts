/** Runs a browser tool for an agent in another client: permission of the site, what always asks, and an entry for the panel. */

import { isOwnServer, OWN_SERVER } from '../../shared/own-server.ts';
import { siteName, siteOf } from '../../shared/sites.ts';
import { allowedOnce, toolUses } from '../../shared/storage.ts';
import type { ToolUse } from '../../shared/tool-use.ts';
import { allowOnce, askForAction, askForSite, siteVerdict } from '../permission.ts';
import { askPage, ensureScripts } from '../tabs/content.ts';
import { indicate, release } from '../tabs/page.ts';
import { BROWSER_TOOLS, type BrowserTool, type ToolTarget } from './browser-tools.ts';
import type { ToolRequest } from './socket.ts';

const MAX_SHOWN = 50;
/** The answer must arrive before the server gives up. */
const MARGIN_MS = 1_000;

class NotAllowed extends Error {
  override readonly name = 'NotAllowed';
}

export const CAPABILITIES: readonly string[] = Object.keys(BROWSER_TOOLS);

/** Never throws: the outcome is the content of the response. */
export async function runTool(request: ToolRequest, stop: AbortSignal): Promise<object> {
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
