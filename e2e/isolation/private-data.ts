/** Creates data of one principal that another must not reach, through the dialects, and returns its ids. */
import type { TestClient } from '../../packages/server/src/testing/client.ts';
import type { TestServer } from '../../packages/server/src/testing/server.ts';
import { until } from '../../packages/server/src/testing/until.ts';
import { isQuestion } from '../drivers.ts';
import { postJson } from '../server-process.ts';

/** A caller: with a token, or `local`. */
export type Person = { readonly name: string; readonly token: string | null };

export type Ids = {
  readonly owner: string;
  /** a session with history, a grant and a pending approval */
  readonly session: string;
  readonly turn: string;
  readonly approval: string;
  readonly hash: string;
  readonly call: string;
  readonly grant: string;
  /** the public part of an API key */
  readonly key: string;
  /** the public part of the token of a paired extension */
  readonly pairing: string;
  /** an unused pairing code */
  readonly code: string;
  readonly message: string;
  /** waits in a session of its own */
  readonly question: string;
  /** a response of the OpenAI API */
  readonly response: string;
  /** a session in which a browser task waits for its next step */
  readonly copilot: string;
  readonly task: string;
  readonly site: string;
  /** a session with a call that a connected browser executes */
  readonly browser: string;
  readonly execution: string;
};

export type PrivateData = {
  readonly ids: Ids;
  /** occurs in every message, approval, command and title */
  readonly marker: string;
  /** everything stored for the owner, for comparison */
  storedData(): Promise<string>;
  /** Sends a message; resolves when every allowed subscriber has received it. */
  sendMessage(): Promise<void>;
};

export const bearer = ({ token }: Person): Record<string, string> =>
  token === null ? {} : { authorization: `Bearer ${token}` };

/** Stands for a response that does not end. */
export const STREAM = 'a stream of events';

type Call = { readonly method?: string; readonly path: string; readonly body?: unknown };

export async function request(server: TestServer, person: Person, { method = 'GET', path, body }: Call) {
  const response = await fetch(server.http + path, {
    method,
    headers: { 'content-type': 'application/json', ...bearer(person) },
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  if (!response.headers.get('content-type')?.startsWith('text/event-stream'))
    return { status: response.status, text: await response.text() };
  await response.body?.cancel();
  return { status: response.status, text: STREAM };
}

async function json<Body>(server: TestServer, person: Person, path: string): Promise<Body> {
  const { status, text } = await request(server, person, { path });
  if (status !== 200) throw new Error(`${path}: ${status} ${text}`);
  return JSON.parse(text) as Body;
}

export const connected = (server: TestServer, { token }: Person, path: string): Promise<TestClient> => {
  const joint = path.includes('?') ? '&' : '?';
  return server.connect(token === null ? path : `${path}${joint}token=${token}`);
};

type Approvals = { approvals: { id: string; session: string; hash: string; call: string; turn: string }[] };

/** Creates everything. `local` has no browser tasks: that contract requires a token. */
export async function createPrivateData(server: TestServer, owner: Person): Promise<PrivateData> {
  const marker = `word${crypto.randomUUID().replaceAll('-', '')}`;
  const [session, browser] = [crypto.randomUUID(), crypto.randomUUID()];
  const copilot = owner.token ? crypto.randomUUID() : session;
  const site = `site${crypto.randomUUID().slice(0, 8)}.example`;
  const waiting = async () =>
    (await json<Approvals>(server, owner, '/v1/approvals')).approvals.find((one) => one.session === session);

  const chat = await connected(server, owner, '/broadcast');
  const send = (message: string) => chat.send({ type: 'chat', message, session_id: session });
  send(`echo ${marker}`);
  await chat.next('agent_message');
  send(`run touch ${marker}.txt`);
  await chat.next(isQuestion);
  await request(server, owner, {
    method: 'POST',
    path: `/v1/approvals/${(await waiting())?.id}`,
    body: { answer: 'always' },
  });
  await chat.next('agent_message');
  send(`run mkdir ${marker}`);
  await chat.next(isQuestion);
  const approval = await waiting();
  if (!approval) throw new Error('no approval is pending');
  const { grants } = await json<{ grants: string[] }>(server, owner, `/v1/sessions/${session}/grants`);

  const task = await startTask(server, owner, { sessionId: copilot, marker, site });
  const messages = owner.token
    ? await json<{ id: string }[]>(server, owner, `/v1/conversations/${session}/messages`)
    : [];
  const execution = await callAtBrowser(server, owner, { sessionId: browser, marker });
  const key = await createKey(server, owner, marker);
  const pairing = await createPairing(server, owner, marker);

  const response = await createResponse(server, owner, marker);

  const question = await askQuestion(server, owner, marker);

  const sessions = [session, copilot, browser];
  const label = { type: 'session.label', labels: { topic: marker } };
  for (const id of sessions)
    await request(server, owner, { method: 'POST', path: `/v1/sessions/${id}/commands`, body: label });
  return {
    marker,
    ids: {
      owner: owner.name,
      session,
      turn: approval.turn,
      approval: approval.id,
      hash: approval.hash,
      call: approval.call,
      grant: grants[0] ?? '',
      key,
      pairing,
      code: newCode(),
      message: messages[0]?.id ?? crypto.randomUUID(),
      question,
      response,
      copilot,
      task,
      site,
      browser,
      execution,
    },
    async storedData() {
      const events = sessions.map((id) =>
        request(server, owner, { path: `/v1/sessions/${id}/events?limit=1000` }),
      );
      const lists = [
        '/v1/sessions',
        '/v1/approvals',
        '/v1/questions',
        `/v1/sessions/${session}/grants`,
        ...(owner.token ? ['/v1/keys'] : []),
        '/api/v1/user/preferences',
        '/v1/pairings',
      ];
      const all = await Promise.all([...events, ...lists.map((path) => request(server, owner, { path }))]);
      return all.map(({ status, text }) => `${status} ${text}`).join('\n');
    },
    async sendMessage() {
      const other = crypto.randomUUID();
      chat.send({ type: 'chat', message: `echo ${marker} again`, session_id: other });
      await chat.next((frame) => frame.type === 'agent_message' && frame.session_id === other);
    },
  };
}

type MarkedSession = { readonly sessionId: string; readonly marker: string };

async function startTask(
  server: TestServer,
  owner: Person,
  { sessionId, marker, site }: MarkedSession & { readonly site: string },
) {
  if (!owner.token) return crypto.randomUUID();
  const { text } = await request(server, owner, {
    method: 'POST',
    path: '/api/agent/interact',
    body: {
      sessionId,
      query: `click the Submit button, ${marker}`,
      url: `http://${site}/`,
      dom: `<p>${marker}</p><button id="4">Submit</button>`,
    },
  });
  // The title of the session contains the word as well.
  await request(server, owner, {
    method: 'PATCH',
    path: `/api/session/${sessionId}`,
    body: { title: marker },
  });
  return String(JSON.parse(text).data.taskId);
}

async function askQuestion(server: TestServer, owner: Person, marker: string): Promise<string> {
  const questions = [{ header: 'Storage', question: marker, options: [{ label: 'PostgreSQL' }] }];
  const { text } = await request(server, owner, {
    method: 'POST',
    path: `/v1/sessions/${crypto.randomUUID()}/commands`,
    body: { type: 'input.submit', parts: [], call: { tool: 'ask_user', input: { questions } } },
  });
  const { session } = JSON.parse(text) as { session: string };
  return until(async () => {
    const { questions: waiting } = await json<{ questions: { id: string; session: string }[] }>(
      server,
      owner,
      '/v1/questions',
    );
    return waiting.find((one) => one.session === session)?.id;
  });
}

/** `local` has no API keys. */
async function createKey(server: TestServer, owner: Person, name: string): Promise<string> {
  if (!owner.token) return crypto.randomUUID().slice(0, 16);
  const { text } = await request(server, owner, { method: 'POST', path: '/v1/keys', body: { name } });
  return String(JSON.parse(text).id);
}

const EXTENSION = { origin: `chrome-extension://${'a'.repeat(32)}` };

/** An extension of the owner. */
async function createPairing(server: TestServer, owner: Person, name: string): Promise<string> {
  const asks = await postJson(`${server.http}/v1/pairings`, { name }, EXTENSION);
  const body = { code: asks.body.code, allow: true };
  const { text } = await request(server, owner, { method: 'POST', path: '/v1/pairings/answer', body });
  return String(JSON.parse(text).id);
}

const newCode = (): string => crypto.randomUUID().slice(0, 8);

async function createResponse(server: TestServer, owner: Person, marker: string): Promise<string> {
  const body = { model: 'parlance', input: `echo ${marker}` };
  const { text } = await request(server, owner, { method: 'POST', path: '/openai/v1/responses', body });
  return String(JSON.parse(text).id);
}

async function callAtBrowser(server: TestServer, owner: Person, { sessionId, marker }: MarkedSession) {
  const client = await server.connect('/extension');
  client.send({
    type: 'client_registration',
    capabilities: ['all_tools'],
    ...(owner.token ? { sessionToken: owner.token } : {}),
  });
  await client.next('registration_confirmed');
  client.send({ type: 'chat_message', content: `open https://example.com/${marker}`, sessionId });
  return String((await client.next('tool_execution_request')).executionId);
}

/** Unused ids of the same form. */
export const unusedIds = (): Ids => {
  const id = () => crypto.randomUUID();
  return {
    owner: `nobody-${id().slice(0, 8)}`,
    session: id(),
    turn: id(),
    approval: id(),
    hash: id(),
    call: `call_${id()}`,
    grant: `nothing ${id()}`,
    key: id().replaceAll('-', '').slice(0, 16),
    pairing: id().replaceAll('-', '').slice(0, 16),
    code: newCode(),
    message: id(),
    question: id(),
    response: `resp_2_${id().slice(0, 8)}_${id().replaceAll('-', '')}`,
    copilot: id(),
    task: id(),
    site: `site${id().slice(0, 8)}.example`,
    browser: id(),
    execution: `exec_${Date.now()}_${id().slice(0, 8)}0`,
  };
};

/** The text without variable parts: the requested ids, other ids, and times. */
export function plain(text: string, { owner, ...ids }: Ids): string {
  let shown = text.replaceAll(`"${owner}"`, '<owner>').replaceAll(`-user-${owner}`, '-user-<owner>');
  for (const id of Object.values(ids)) if (id !== '') shown = shown.replaceAll(id, '<id>');
  return shown
    .replace(/\b\d{1,15}\.\d{5,15}\b/g, '<socket>')
    .replace(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, '<uuid>')
    .replace(/\b(msg|socket|session|exec)_\d+_\w{9}/g, '<$1>')
    .replace(
      /\b(resp_[0-9a-z]+_[0-9a-f]{8}_\w+|conv_[0-9a-f]{32}|(?:msg|rs|fc|mcp)_<uuid>_[0-9a-f]{32})/g,
      '<id>',
    )
    .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '<time>')
    .replace(/"id":"[0-9A-Za-z]{16}"/g, '"id":"<key>"')
    .replace(/plk_\w+/g, '<key>')
    .replace(/\b\d{13}\b/g, '<ms>')
    .replace(/"(created|created_at|completed_at)":\d{10}\b/g, '"$1":<seconds>')
    .replace(/[0-9a-f]{64}/g, '<hash>')
    .replace(
      /"(durationMs|requestDuration|executionTimeMs|executionTime|duration_ms|retryAfter)":[\d.]+/g,
      '"$1":<number>',
    );
}
