/** Clients that use sessions, forms, states and event ids of another user. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { startTestServer, type TestServer } from '../../packages/server/src/testing/server.ts';
import { until } from '../../packages/server/src/testing/until.ts';
import { type ScriptedModel, scriptedModel } from '../scripted-model.ts';
import { durableOf, getJson } from '../server-process.ts';
import { modern, postTo, request } from './raw.ts';

let model: ScriptedModel;
let server: TestServer;
let owner: { authorization: string };
let stranger: { authorization: string };
let approval: string;
let turn: string;

beforeAll(async () => {
  model = scriptedModel(() => ({ call: 'shell', input: { command: ['touch', 'canary-file'] } }));
  server = await startTestServer({ PARLANCE_AUTH: 'required', OPENAI_BASE_URL: model.url, MODEL: 'fake' });
  owner = { authorization: `Bearer ${await server.login('dev', 'dev-password')}` };
  stranger = { authorization: `Bearer ${await server.login('uma', 'uma-password')}` };
  const call = { name: 'send_message', arguments: { text: 'canary', session: 'theirs' } };
  await postTo(server.http, request('tools/call', call), { ...owner, accept: 'application/json' });
  const waiting = await until(
    async () =>
      (await getJson<{ approvals: { id: string }[] }>(`${server.http}/v1/approvals`, owner)).approvals[0],
  );
  approval = waiting.id;
  const events = await durableOf({ http: server.http, headers: owner }, 'theirs');
  turn = events.find((event) => event.type === 'turn.started')?.turn ?? '';
});
afterAll(async () => {
  await server.stop();
  model.stop();
});

const stateOf = (more: object = {}) =>
  Buffer.from(JSON.stringify({ session: 'theirs', turn, after: 0, ...more })).toString('base64url');
const accepted = { action: 'accept', content: { answer: 'once' } };
const SESSION = { 'mcp-session-id': '2025-11-25.forms.theirs', accept: 'application/json' };
const tool = (name: string, args: object, more: object = {}) => ({ name, arguments: args, ...more });

test.each<[string, () => Promise<Response>, number]>([
  [
    'the answer to a form',
    () =>
      postTo(
        server.http,
        { jsonrpc: '2.0', id: `${approval}/1`, result: accepted },
        { ...stranger, ...SESSION },
      ),
    202,
  ],
  [
    'an error for a form',
    () =>
      postTo(
        server.http,
        { jsonrpc: '2.0', id: `${approval}/1`, error: { code: 1, message: 'no' } },
        { ...stranger, ...SESSION },
      ),
    202,
  ],
  [
    'a cancellation',
    () =>
      postTo(
        server.http,
        { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 7 } },
        { ...stranger, ...SESSION },
      ),
    202,
  ],
  [
    'the end of a session',
    () => fetch(`${server.http}/mcp`, { method: 'DELETE', headers: { ...stranger, ...SESSION } }),
    204,
  ],
  [
    'answer_approval',
    () =>
      postTo(server.http, request('tools/call', tool('answer_approval', { approval, answer: 'once' })), {
        ...stranger,
        ...SESSION,
      }),
    200,
  ],
  [
    'a forged state',
    () =>
      postTo(
        server.http,
        modern(
          'tools/call',
          tool(
            'send_message',
            { text: 'x' },
            { requestState: stateOf(), inputResponses: { [approval]: accepted } },
          ),
        ),
        { ...stranger, accept: 'application/json' },
      ),
    200,
  ],
  [
    'an answer with a state of nothing',
    () =>
      postTo(
        server.http,
        modern('tools/call', tool('answer_approval', { approval, answer: 'once' }, { requestState: 'e30' })),
        { ...stranger, accept: 'application/json' },
      ),
    200,
  ],
  [
    'a task',
    () => postTo(server.http, request('tasks/result', { taskId: turn }), { ...stranger, ...SESSION }),
    200,
  ],
  [
    'a resource',
    () =>
      postTo(server.http, request('resources/read', { uri: 'parlance://sessions/theirs' }), {
        ...stranger,
        ...SESSION,
      }),
    200,
  ],
  [
    'a mixed batch',
    () =>
      postTo(
        server.http,
        [
          request('tools/call', tool('answer_approval', { approval, answer: 'once' })),
          { jsonrpc: '2.0', id: `${approval}/2`, result: accepted },
        ],
        { ...stranger, ...SESSION },
      ),
    200,
  ],
])('%s of another user changes and shows nothing', async (_, send, status) => {
  const response = await send();
  expect(response.status).toBe(status);
  expect(await response.text()).not.toContain('canary');
  const events = await durableOf({ http: server.http, headers: owner }, 'theirs');
  expect(events.filter(({ type }) => /answered|cancelled|tool.ended/.test(type))).toEqual([]);
});

test('an event id of another user resumes nothing', async () => {
  const abort = new AbortController();
  const id = stateOf({ request: 7, until: Date.now() + 600_000 });
  const headers = { ...stranger, ...SESSION, accept: 'text/event-stream', 'last-event-id': id };
  const response = await fetch(`${server.http}/mcp`, { headers, signal: abort.signal });
  const first = await response.body?.getReader().read();
  expect(new TextDecoder().decode(first?.value)).not.toContain('canary');
  abort.abort();
});

test('the owner still answers', async () => {
  const denied = tool('answer_approval', { approval, answer: 'deny' });
  void postTo(server.http, request('tools/call', denied), { ...owner, ...SESSION }).catch(() => undefined);
  await until(async () =>
    (await durableOf({ http: server.http, headers: owner }, 'theirs')).some(
      ({ type }) => type === 'approval.answered',
    ),
  );
});
