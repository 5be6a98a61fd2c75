/** One run: a number of messages from one seed, to a server that must answer as before afterwards. */
import type { Described } from '../../packages/server/src/describe/descriptions.ts';
import { getJson, postJson } from '../server-process.ts';
import { problemIn, residentMiB } from './checker.ts';
import { FuzzSocket } from './fuzz-socket.ts';
import { type Hostile, hostile } from './hostile.ts';
import { PINNED } from './pinned.ts';
import { RandomSource } from './random.ts';
import { type HttpTarget, httpTargets, queryParameters, socketTargets } from './targets.ts';

export type Fuzzed = {
  readonly sent: number;
  readonly problems: readonly string[];
  readonly statuses: Readonly<Record<string, number>>;
  readonly memoryBefore: number;
  readonly memoryAfter: number;
};

export type Run = {
  readonly http: string;
  readonly pid: number;
  readonly token: string;
  readonly seed: number;
  readonly count: number;
  /** the targets */
  readonly descriptions: readonly Described[];
  readonly report?: (line: string) => void;
};

/** Concurrent frames per socket; the server refuses a thousand waiting ones. */
const BATCH = 50;
const AT_ONCE = 12;

export async function fuzz({ http, pid, token, seed, count, descriptions, report }: Run): Promise<Fuzzed> {
  const chance = new RandomSource(seed);
  const problems: string[] = [];
  const statuses: Record<string, number> = {};
  const targets: Targets = { http: httpTargets(descriptions), parameters: queryParameters(descriptions) };
  const sockets = socketTargets(descriptions, token).map(
    (target) => new FuzzSocket(http.replace('http', 'ws'), target),
  );
  const memoryBefore = await residentMiB(pid);

  async function post({ method, path }: HttpTarget, body: Hostile | undefined): Promise<void> {
    const asked = fetch(http + path, {
      method,
      headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
      ...(method === 'GET' || body === undefined ? {} : { body }),
    });
    const response = await unlessUnanswered(asked, () => resolvePending(http, token));
    if (!response) return void problems.push(`${method} ${path.slice(0, 200)}: no answer to ${shown(body)}`);
    const kind = String(response.status);
    statuses[kind] = (statuses[kind] ?? 0) + 1;
    if (response.headers.get('content-type')?.startsWith('text/event-stream')) return response.body?.cancel();
    const text = await response.text();
    // 503 is the response of a limit, and of a missing console build.
    const wrong = response.status === 500 ? '500' : problemIn(text);
    if (wrong)
      problems.push(`${method} ${path.slice(0, 200)}: ${wrong} for ${shown(body)}: ${text.slice(0, 200)}`);
  }

  async function atSocket(socket: FuzzSocket, messages: readonly Hostile[]): Promise<void> {
    const before = socket.problems.length;
    await socket.send(messages, chance);
    if (socket.problems.length > before) {
      problems.push(
        ...socket.problems.slice(before),
        ...messages.map((message) => `  one of: ${shown(message)}`),
      );
    }
  }

  for (const { to, sent } of PINNED) {
    const socket = sockets.find(({ target }) => target.name === to);
    const [method = '', path] = to.split(' ');
    if (socket) await atSocket(socket, [sent]);
    else if (path !== undefined) await post({ method, path, examples: [] }, sent);
  }

  let sent = 0;
  while (sent < count) {
    for (const socket of sockets) {
      const { examples } = socket.target;
      const messages = Array.from({ length: BATCH }, () =>
        hostile(examples[chance.below(examples.length)], chance),
      );
      await atSocket(socket, messages);
      sent += BATCH;
    }
    const requests = Array.from({ length: AT_ONCE * 4 }, () => request(targets, chance));
    for (let first = 0; first < requests.length; first += AT_ONCE)
      await Promise.all(requests.slice(first, first + AT_ONCE).map(([target, body]) => post(target, body)));
    sent += requests.length;
    if (
      report &&
      Math.floor(sent / 10_000) > Math.floor((sent - BATCH * sockets.length - requests.length) / 10_000)
    )
      report(`${sent} sent, ${problems.length} problems, ${await residentMiB(pid)} MiB`);
  }
  for (const socket of sockets) socket.close();
  return { sent, problems, statuses, memoryBefore, memoryAfter: await residentMiB(pid) };
}

const PATIENCE_MS = 1_000;
const MAX_ATTEMPTS = 60;

/**
 * Some requests wait for an answer of another client. Null if one is not answered although nothing is pending.
 */
async function unlessUnanswered(
  asked: Promise<Response>,
  resolvePending: () => Promise<void>,
): Promise<Response | null> {
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    const response = await Promise.race([asked, Bun.sleep(PATIENCE_MS).then(() => null)]);
    if (response) return response;
    await resolvePending();
  }
  asked.then(({ body }) => body?.cancel()).catch(() => undefined);
  return null;
}

/**
 * Denies approvals. If there are none, stops turns that wait for a client, such as for the answer to a question
 * of the copilot.
 */
async function resolvePending(http: string, token: string): Promise<void> {
  const headers = { authorization: `Bearer ${token}` };
  const { approvals } = await getJson<{ approvals: { id: string }[] }>(`${http}/v1/approvals`, headers);
  const deny = ({ id }: { id: string }) =>
    postJson(`${http}/v1/approvals/${encodeURIComponent(id)}`, { answer: 'deny' }, headers);
  await Promise.all(approvals.map(deny));
  if (approvals.length > 0) return;
  type Listed = { readonly id: string; readonly status: string };
  const { sessions } = await getJson<{ sessions: Listed[] }>(`${http}/v1/sessions?limit=500`, headers);
  const stop = ({ id }: Listed) =>
    postJson(`${http}/v1/sessions/${encodeURIComponent(id)}/commands`, { type: 'turn.cancel' }, headers);
  await Promise.all(sessions.filter(({ status }) => status === 'waiting').map(stop));
}

const VALUES = [
  '',
  '-1',
  '1e999',
  'NaN',
  '%00',
  '%ff',
  '%F0%9F%98%80',
  '__proto__',
  '[object Object]',
  '9'.repeat(400),
] as const;

type Targets = {
  readonly http: readonly HttpTarget[];
  readonly parameters: readonly [string, ...string[]];
};

/** A request with a hostile body and, sometimes, a hostile address. */
function request({ http, parameters }: Targets, chance: RandomSource): [HttpTarget, Hostile | undefined] {
  const target = http[chance.below(http.length)] ?? {
    method: 'GET',
    path: '/',
    examples: [],
  };
  const { examples } = target;
  const body = examples.length === 0 ? undefined : hostile(examples[chance.below(examples.length)], chance);
  const query = `${chance.pick(parameters)}=${chance.pick(VALUES)}`;
  const joint = target.path.includes('?') ? '&' : '?';
  const path = chance.below(3) === 0 ? `${target.path}${joint}${query}` : target.path;
  return [{ ...target, path }, body];
}

const shown = (message: Hostile | undefined): string =>
  message === undefined
    ? 'no body'
    : typeof message === 'string'
      ? JSON.stringify(
          message.length > 400 ? `${message.slice(0, 300)} … ${message.length} characters` : message,
        )
      : `bytes ${Buffer.from(message).toString('hex').slice(0, 400)}`;
