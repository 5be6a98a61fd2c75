/** Responses over a WebSocket, with the official client and with raw frames. */
import { describe, expect, test } from 'bun:test';
import type OpenAI from 'openai';
import { ResponsesWS } from 'openai/resources/responses/ws';
import type { AnyFrame, TestClient } from '../../packages/server/src/testing/client.ts';
import { until } from '../../packages/server/src/testing/until.ts';
import { testServers } from '../model-server.ts';
import { durableOf, getJson } from '../server-process.ts';
import { openaiClient } from './client.ts';
import { type Event, finalOf, responsesServer, textOf, WEATHER } from './responses-setup.ts';

const { server, client, model, turnsOf, promptText } = await responsesServer();
const { dictated } = testServers();

const PATH = '/openai/v1/responses';
const LAST = /^(?:response\.(?:completed|failed|incomplete)|error)$/;

/** Sends a message, and returns its events up to the last. */
async function create(socket: TestClient, body: object): Promise<AnyFrame[]> {
  socket.send({ type: 'response.create', model: 'fake', ...body });
  return socket.until(({ type }) => LAST.test(type));
}
const responseOf = (events: readonly AnyFrame[]) => finalOf(events as readonly unknown[] as Event[]);

test('the official client streams responses and continues them', async () => {
  const socket = new ResponsesWS(client);
  const say = async (input: string, previous?: string): Promise<OpenAI.Responses.Response> => {
    const { promise, resolve, reject } = Promise.withResolvers<OpenAI.Responses.Response>();
    socket.on('response.completed', ({ response }) => resolve(response));
    socket.on('error', reject);
    socket.send({ type: 'response.create', model: 'fake', input, previous_response_id: previous });
    return promise;
  };
  const first = await say('hello');
  expect(textOf(first)).toBe('You said hello.');
  const second = await say('again', first.id);
  expect(second.previous_response_id).toBe(first.id);
  expect(promptText()).toContain('You said hello.');
  socket.close();
  // It is the same object over HTTP, apart from what the SDK adds.
  expect(await client.responses.retrieve(second.id)).toMatchObject({ ...second });
});

test('the events are those of a stream over HTTP', async () => {
  const socket = await server.connect(PATH);
  const sent = await create(socket, { input: 'the same' });
  const stream = await client.responses.create({ model: 'fake', input: 'the same', stream: true });
  const streamed: Event[] = [];
  for await (const event of stream) streamed.push(event);
  expect(sent.map(({ type }) => type)).toEqual(streamed.map(({ type }) => type));
  expect(sent.map((event) => event.sequence_number)).toEqual(sent.map((_, at) => at));
  expect(sent.map((event) => Object.keys(event).sort())).toEqual(
    streamed.map((event) => Object.keys(event).sort()),
  );
});

test('messages are processed one after another, each with its stream_id', async () => {
  const socket = await server.connect(PATH);
  for (const name of ['one', 'two'])
    socket.send({ type: 'response.create', model: 'fake', input: name, stream_id: name });
  const first = await socket.until('response.completed');
  const second = await socket.until('response.completed');
  expect(new Set(first.map((event) => event.stream_id))).toEqual(new Set(['one']));
  expect(new Set(second.map((event) => event.stream_id))).toEqual(new Set(['two']));
  expect([first, second].map((events) => textOf(responseOf(events)))).toEqual([
    'You said one.',
    'You said two.',
  ]);
});

describe('with store: false', () => {
  test('a response is continued on its connection, with results of its calls', async () => {
    const socket = await server.connect(PATH);
    const asked = responseOf(await create(socket, { input: 'weather', store: false, tools: [WEATHER] }));
    const call = asked.output.find((item) => item.type === 'function_call');
    const output = { type: 'function_call_output', call_id: call?.call_id, output: 'sunny' };
    const next = await create(socket, { input: [output], store: false, previous_response_id: asked.id });
    expect(textOf(responseOf(next))).toBe('It is sunny.');
  });

  test('and on no other one, while the new connection can start afresh', async () => {
    const first = await server.connect(PATH);
    const { id } = responseOf(await create(first, { input: 'copper', store: false }));
    const other = await server.connect(PATH);
    const [refused] = await create(other, { input: 'more', store: false, previous_response_id: id });
    expect(refused).toMatchObject({
      type: 'error',
      status: 400,
      error: {
        type: 'invalid_request_error',
        code: 'previous_response_not_found',
        param: 'previous_response_id',
      },
    });
    expect(textOf(responseOf(await create(other, { input: 'fresh', store: false })))).toBe('You said fresh.');
  });

  test('nor after an attempt that failed', async () => {
    const socket = await server.connect(PATH);
    const { id } = responseOf(await create(socket, { input: 'ember', store: false }));
    const output = { type: 'function_call_output', call_id: 'call_unknown', output: 'nothing' };
    const [failed] = await create(socket, { input: [output], store: false, previous_response_id: id });
    expect(failed).toMatchObject({ type: 'error', status: 400, error: { param: 'input' } });
    const [late] = await create(socket, { input: 'stale', store: false, previous_response_id: id });
    expect(late).toMatchObject({ error: { code: 'previous_response_not_found' } });
  });
});

test('a stored response is continued after a reconnect, even if an attempt failed', async () => {
  const first = await server.connect(PATH);
  const { id } = responseOf(await create(first, { input: 'kept' }));
  first.close();
  const second = await server.connect(PATH);
  const output = { type: 'function_call_output', call_id: 'call_unknown', output: 'nothing' };
  const [failed] = await create(second, { input: [output], previous_response_id: id });
  expect(failed?.type).toBe('error');
  expect(textOf(responseOf(await create(second, { input: 'next', previous_response_id: id })))).toBe(
    'You said next.',
  );
});

test('generate: false prepares the input of the next message without a model', async () => {
  const socket = await server.connect(PATH);
  const before = model.requests.length;
  const input = [{ type: 'message', role: 'user', content: 'prepared' }];
  const events = await create(socket, { input, generate: false });
  expect(events.map(({ type }) => type)).toEqual([
    'response.created',
    'response.in_progress',
    'response.completed',
  ]);
  const { id, output, status } = responseOf(events);
  expect({ output, status }).toEqual({ output: [], status: 'completed' });
  expect(model.requests.length).toBe(before);
  const next = await create(socket, { input: [{ role: 'user', content: 'sent' }], previous_response_id: id });
  expect(next.at(-1)?.type).toBe('response.completed');
  expect(promptText()).toContain('prepared');
  expect(promptText()).toContain('sent');
});

test('headers of the handshake name the session, and the ids of coding terminals are labels', async () => {
  const headers = { 'X-Parlance-Session': 'by header', 'session-id': 'codex-1' };
  const socket = await server.connect(PATH, headers);
  await create(socket, { input: 'hello' });
  expect(await turnsOf('by header')).toBe(1);
  const labels = (await durableOf(server, 'by header')).flatMap((event) =>
    event.type === 'session.labelled' ? [event.labels] : [],
  );
  expect(Object.assign({}, ...labels)).toMatchObject({ 'client.session-id': 'codex-1' });
});

describe('errors', () => {
  test.each([
    ['no object', [], { error: { message: 'The message must be a JSON object.' } }],
    ['another type', { type: 'response.steer' }, { error: { param: 'type' } }],
    ['no model', { type: 'response.create', input: 'x' }, { error: { param: 'model' } }],
    [
      'the background',
      { type: 'response.create', model: 'fake', input: 'x', background: true },
      { error: { param: 'background' } },
    ],
  ])('%s is refused, and the connection stays open', async (_, frame, error) => {
    const socket = await server.connect(PATH);
    socket.send(frame);
    expect(await socket.next('error')).toMatchObject({ status: 400, ...error });
    expect((await create(socket, { input: 'after' })).at(-1)?.type).toBe('response.completed');
  });

  test('what is not JSON, and an unknown model, have a code', async () => {
    const socket = await server.connect(PATH);
    socket.socket.send('{');
    expect(await socket.next('error')).toMatchObject({
      status: 400,
      error: { code: 'invalid_request_error' },
    });
    const [unknown] = await create(socket, { model: 'nobody', input: 'x' });
    expect(unknown).toMatchObject({ status: 404, error: { code: 'model_not_found', param: 'model' } });
  });

  test('an invalid token is told before the connection is closed', async () => {
    const socket = await server.connect(PATH, { authorization: 'Bearer plk_wrong' });
    expect(await socket.next('error')).toMatchObject({ status: 401, error: { code: 'invalid_api_key' } });
    expect((await socket.closed).code).toBe(1008);
  });

  test('any word is accepted as a key in open mode, and a token is the caller', async () => {
    const anyone = await server.connect(PATH, { authorization: 'Bearer none' });
    expect((await create(anyone, { input: 'hi' })).at(-1)?.type).toBe('response.completed');
    const token = await server.login('uma', 'uma-password');
    const uma = await server.connect(PATH, { authorization: `Bearer ${token}` });
    const { id } = responseOf(await create(uma, { input: 'mine' }));
    expect(textOf(await openaiClient(server.http, { key: token }).responses.retrieve(id))).toContain('mine');
    const [other] = await create(anyone, { input: 'theirs', previous_response_id: id });
    expect(other).toMatchObject({ error: { code: 'previous_response_not_found' } });
  });
});

test('a client that disconnects cancels the turn of its response', async () => {
  const { model: spoken, server: own } = await dictated();
  const socket = await own.connect(PATH);
  socket.send({ type: 'response.create', model: 'fake', input: 'long', store: false });
  await spoken.say('once upon ');
  await socket.next('response.output_text.delta');
  socket.close();
  const [session] = (await getJson<{ sessions: { id: string }[] }>(`${own.http}/v1/sessions`)).sessions;
  await until(async () =>
    (await durableOf(own, session?.id ?? '')).some(({ type }) => type === 'turn.cancelled'),
  );
});

test('it is served at /v1/responses too', async () => {
  const socket = await server.connect('/v1/responses');
  expect((await create(socket, { input: 'there' })).at(-1)?.type).toBe('response.completed');
});
