/** A simulated browser: pages that react to actions, driven by a client of the copilot contract. */

import { readAction } from '../packages/copilot/src/testing/deployed-client.ts';
import type { Target } from './server-process.ts';

export type PageState = {
  url: string;
  readonly values: Record<number, string>;
  readonly checked: Record<number, boolean>;
  /** state of the site */
  readonly notes: Record<string, string>;
};

export type Site = {
  readonly url: string;
  html(state: PageState): string;
  click?(id: number, state: PageState): void;
  /** intentional failures: a message if the browser reports one, null if nothing happens */
  breaks?(action: string, count: number, state: PageState): string | null | undefined;
};

type Body = Record<string, unknown> & { data: Record<string, unknown> };
export type Run = {
  readonly actions: string[];
  readonly last: Body;
  readonly bodies: Body[];
  readonly state: PageState;
  readonly sessionId: string;
};

const MAX_CALLS = 60;

/**
 * Sends requests until the task has ended or asks a question. Every action must be readable by deployed
 * clients.
 */
export async function browse(
  server: Target,
  token: string,
  {
    site,
    query,
    answers = [],
    sessionId,
  }: { site: Site; query: string; answers?: string[]; sessionId?: string },
): Promise<Run> {
  const state: PageState = { url: site.url, values: {}, checked: {}, notes: {} };
  const actions: string[] = [];
  const bodies: Body[] = [];
  let report: object = {};
  let says = query;
  for (let call = 0; call < MAX_CALLS; call++) {
    const page = { url: state.url, dom: site.html(state) };
    const request = { query: says, sessionId, ...page, ...ids(bodies), ...report };
    const body = await post(server, token, request);
    bodies.push(body);
    const { data } = body;
    const answer = data.status === 'needs_user_input' ? answers.shift() : undefined;
    if (answer !== undefined) {
      says = answer;
      report = {};
      continue;
    }
    const action = String(data.action ?? '');
    if (data.status === 'needs_user_input' || action === 'finish()' || action === 'fail()') {
      if (action) actions.push(action);
      return { actions, last: body, bodies, state, sessionId: String(data.sessionId) };
    }
    readAction(action);
    actions.push(action);
    report = perform(site, action, { count: actions.length, state });
  }
  throw new Error(`no end after ${MAX_CALLS} calls: ${actions.join(', ')}`);
}

const ids = (bodies: readonly Body[]): object => {
  const data = bodies.at(-1)?.data;
  return data ? { taskId: data.taskId, sessionId: data.sessionId } : {};
};

export async function post(server: Target, token: string, request: object): Promise<Body> {
  const response = await fetch(`${server.http}/api/agent/interact`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
    body: JSON.stringify(request),
  });
  const body = (await response.json()) as Body;
  if (response.status !== 200) throw new Error(`${response.status} ${JSON.stringify(body)}`);
  return body;
}

/** Executes the action, or fails intentionally; returns the client's report. */
export function perform(
  site: Site,
  written: string,
  { count, state }: { count: number; state: PageState },
): object {
  const previousUrl = state.url;
  const broken = site.breaks?.(written, count, state);
  if (typeof broken === 'string') {
    const lastActionError = { message: broken, code: 'ELEMENT_NOT_FOUND', action: written };
    return { lastActionStatus: 'failure', lastActionError, previousUrl };
  }
  if (broken === undefined) carryOut(site, written, state);
  return {
    lastActionStatus: 'success',
    previousUrl,
    clientVerification: { elementFound: true, urlChanged: previousUrl !== state.url },
  };
}

function carryOut(site: Site, written: string, state: PageState): void {
  const { name, args } = readAction(written);
  const id = Number(args[0]);
  switch (name) {
    case 'setValue':
    case 'selectDropdown':
      state.values[id] = String(args[1]);
      break;
    case 'check':
    case 'uncheck':
      state.checked[id] = name === 'check';
      break;
    case 'click':
      site.click?.(id, state);
      break;
    case 'navigate':
      state.url = String(args[0]);
      break;
    default:
      break;
  }
}
