/** The server as a separate process that a test can kill. */
import { join } from 'node:path';
import { spawnParlance, spawnScript } from '../packages/cli/src/testing/run-parlance.ts';
import type { DurableEvent } from '../packages/protocol/src/index.ts';
import { TestClient } from '../packages/server/src/testing/client.ts';
import { freePort } from '../packages/server/src/testing/free-port.ts';
import { outputOf } from './output.ts';

export type ServerProcess = AsyncDisposable & {
  readonly http: string;
  readonly pid: number;
  connect(path: string): Promise<TestClient>;
  /** Like a power failure: no signal handler runs. Resolves when the process has exited. */
  kill(): Promise<void>;
  /** Like a supervisor: sends SIGTERM and resolves with the exit code. */
  terminate(): Promise<number>;
  /** all of its output; resolves when the process has exited */
  stderr(): Promise<string>;
  /** resolves when its log contains this text */
  logged(words: string): Promise<void>;
};

/** The address of a server, and the headers of each request. */
export type Target = { readonly http: string; readonly headers?: Readonly<Record<string, string>> };

const LISTENING = 'parlance listening on ';

/** A started server that may not listen yet. */
export type StartingProcess = {
  /** rejects if the process exits before it listens */
  readonly listening: Promise<ServerProcess>;
  kill(): Promise<void>;
};

/** Instead of `parlance serve`: a script that prints the same line, or the command line of another checkout. */
export type Program = string | { readonly checkout: string };

/**
 * Data and working directory are in `folder`, so that the server can be restarted; `settings` are environment
 * variables.
 */
export function spawnProcess(
  folder: string,
  settings: Record<string, string> = {},
  program?: Program,
): StartingProcess {
  const options = {
    cwd: folder,
    env: {
      // For tests that restart it on the same port.
      PORT: String(freePort()),
      PARLANCE_DATA: join(folder, 'data'),
      WORKING_DIRECTORY: folder,
      AUTH_USERS: 'dev:dev-password:developer',
      PARLANCE_OFFLINE_DELAY: '5',
      LOG_LEVEL: 'silent',
      PARLANCE_TITLES: 'input',
      PARLANCE_FULL_AUTO_AS_ROOT: 'on',
      // The default is refused if a login is required.
      ...(settings.PARLANCE_AUTH === 'required' && { SOCKUDO_APP_SECRET: 'secret of the tests' }),
      ...settings,
    },
  };
  const child =
    typeof program === 'string'
      ? spawnScript(program, options)
      : spawnParlance(['serve'], { ...options, checkout: program?.checkout });
  const errors = outputOf(child.stderr);
  const kill = async () => {
    child.kill('SIGKILL');
    await child.exited;
  };
  async function listening(): Promise<ServerProcess> {
    const line = await firstLine(child.stdout);
    if (!line?.startsWith(LISTENING)) {
      await kill();
      throw new Error(`the server did not start: ${line ?? ''}${await errors.all()}`);
    }
    const http = line.slice(LISTENING.length);
    return {
      http,
      pid: child.pid,
      stderr: errors.all,
      logged: errors.written,
      connect: (path) => TestClient.connect(http.replace('http', 'ws') + path),
      kill,
      terminate: () => {
        child.kill('SIGTERM');
        return child.exited;
      },
      [Symbol.asyncDispose]: kill,
    };
  }
  return { listening: listening(), kill };
}

/** Resolves when the server listens. */
export const startProcess = (
  folder: string,
  settings?: Record<string, string>,
  program?: Program,
): Promise<ServerProcess> => spawnProcess(folder, settings, program).listening;

/** The stream stays open: closing it would fail the child's next write. Null if it ends before a line. */
async function firstLine(stream: ReadableStream<Uint8Array>): Promise<string | null> {
  const reader = stream.getReader();
  const decoder = new TextDecoder();
  let text = '';
  while (!text.includes('\n')) {
    const { done, value } = await reader.read();
    if (done) return null;
    text += decoder.decode(value, { stream: true });
  }
  reader.releaseLock();
  return text.slice(0, text.indexOf('\n'));
}

export async function postJson(url: string, body: object, headers: Record<string, string> = {}) {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

/** A token of that user. */
export async function login(server: Target, username: string, password: string): Promise<string> {
  const { status, body } = await postJson(`${server.http}/v1/auth/login`, { username, password });
  if (status !== 200) throw new Error(`login of ${username} failed: ${status}`);
  return String(body.access_token);
}

export const getJson = async <Body>(url: string, headers: Target['headers'] = {}): Promise<Body> =>
  (await fetch(url, { headers })).json() as Promise<Body>;

/** Resolves with true when the input is accepted and stored. */
export const submit = (server: Target, session: string, text: string): Promise<boolean> =>
  submitKeyed(server, session, { text });

/** With an idempotency key. */
export async function submitKeyed(
  server: Target,
  session: string,
  { text, key }: { text: string; key?: string },
): Promise<boolean> {
  const command = { type: 'input.submit', parts: [{ type: 'text', text }] };
  const headers: Record<string, string> = key === undefined ? {} : { 'idempotency-key': key };
  return (await postJson(`${server.http}/v1/sessions/${session}/commands`, command, headers)).status === 200;
}

/** All events of the session, page by page from the native API. */
export async function durableOf(server: Target, session: string): Promise<DurableEvent[]> {
  const durableEvents: DurableEvent[] = [];
  for (let after: number | null = 0; after !== null; ) {
    const url: string = `${server.http}/v1/sessions/${session}/events?limit=100&after=${after}`;
    const page: { events: DurableEvent[]; next: number | null } = await getJson(url, server.headers);
    durableEvents.push(...page.events);
    after = page.next;
  }
  return durableEvents;
}

/** Follows the session until `done` returns true for the events so far. */
export async function followed(
  server: Target,
  session: string,
  done: (events: readonly DurableEvent[]) => boolean,
): Promise<DurableEvent[]> {
  const stop = new AbortController();
  const response = await fetch(`${server.http}/v1/sessions/${session}/events`, {
    headers: { accept: 'text/event-stream', ...server.headers },
    signal: stop.signal,
  });
  const events: DurableEvent[] = [];
  const decoder = new TextDecoder();
  let text = '';
  for await (const chunk of response.body ?? []) {
    text += decoder.decode(chunk, { stream: true });
    const messages = text.split('\n\n');
    text = messages.pop() ?? '';
    for (const message of messages) {
      const data = message.match(/^data: (.*)$/m)?.[1];
      if (message.startsWith('id: ') && data) events.push(JSON.parse(data));
    }
    if (done(events)) break;
  }
  stop.abort();
  if (!done(events)) throw new Error(`the stream ended after ${events.map(({ type }) => type)}`);
  return events;
}
