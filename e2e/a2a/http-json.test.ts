/** The HTTP+JSON binding: with the official client, and its addresses and errors. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { ClientFactory, ClientFactoryOptions, RestTransportFactory } from '@a2a-js/sdk/client';
import { startTestServer, type TestServer } from '../../packages/server/src/testing/server.ts';
import { type ScriptedModel, scriptedModel } from '../scripted-model.ts';
import {
  cancelTask,
  failure,
  getTask,
  LIST,
  lastText,
  read,
  send,
  sendAtOnce,
  stateOf,
  stream,
  subscribe,
  textOf,
} from './client.ts';

let model: ScriptedModel;
let server: TestServer;

beforeAll(async () => {
  model = scriptedModel(({ messages }) =>
    String(messages.at(-1)?.content).includes('touch')
      ? { call: 'shell', input: { command: ['touch', 'file'] } }
      : { say: 'Fine, and well.' },
  );
  server = await startTestServer(model.settings);
});
afterAll(async () => {
  await server.stop();
  model.stop();
});

const connect = () =>
  new ClientFactory(
    ClientFactoryOptions.createFrom(ClientFactoryOptions.default, {
      transports: [new RestTransportFactory()],
      preferredTransports: ['HTTP+JSON'],
    }),
  ).createFromUrl(server.http);

test('the official client sends, streams, reads, lists, follows and cancels', async () => {
  const client = await connect();
  const task = await send(client, 'hello');
  expect([stateOf(task), textOf(task)]).toEqual(['TASK_STATE_COMPLETED', 'Fine, and well.']);
  expect(lastText(await read(stream(client, 'hello')))).toBe('Fine, and well.');
  expect((await getTask(client, task.id, 0)).history).toEqual([]);
  const { tasks, totalSize } = await client.listTasks({
    ...LIST,
    contextId: task.contextId,
    includeArtifacts: true,
  });
  expect([totalSize, tasks.map(textOf)]).toEqual([1, ['Fine, and well.']]);

  const waiting = await send(client, 'touch it');
  expect(stateOf(waiting)).toBe('TASK_STATE_INPUT_REQUIRED');
  const followed = Promise.withResolvers<void>();
  const following = read(subscribe(client, waiting.id), () => followed.resolve());
  await followed.promise;
  expect(stateOf(await cancelTask(client, waiting.id))).toBe('TASK_STATE_CANCELED');
  expect((await following).kinds.at(-1)).toBe('TASK_STATE_CANCELED');
  expect(await failure(getTask(client, 'nonsense'))).toMatchObject({ name: 'TaskNotFoundError' });
});

test('a task that is not waited for is answered at once', async () => {
  const { id } = await sendAtOnce(await connect(), 'hello');
  expect(id).toBeString();
});

const ask = (method: string, path: string, body?: object, headers: Record<string, string> = {}) =>
  fetch(`${server.http}/a2a${path}`, {
    method,
    headers: { ...(body && { 'content-type': 'application/json' }), ...headers },
    ...(body && { body: JSON.stringify(body) }),
  });

const hello = { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'hello' }] };

describe('errors have a status, a code and a reason', () => {
  test.each([
    ['GET', '/tasks/nonsense', undefined, 404, 'TASK_NOT_FOUND'],
    ['POST', '/tasks/nonsense:cancel', undefined, 404, 'TASK_NOT_FOUND'],
    ['POST', '/tasks/nonsense:subscribe', undefined, 404, 'TASK_NOT_FOUND'],
    ['POST', '/tasks/nonsense:wait', undefined, 404, undefined],
    ['POST', '/tasks/nonsense', undefined, 404, undefined],
    ['GET', '/tasks?pageSize=0', undefined, 400, undefined],
    ['GET', '/tasks?pageSize=many', undefined, 400, undefined],
    ['GET', '/tasks?includeArtifacts=maybe', undefined, 400, undefined],
    ['GET', '/tasks/x?historyLength=-1', undefined, 400, undefined],
    ['POST', '/message:send', {}, 400, undefined],
    ['POST', '/message:send', { message: { ...hello, role: undefined } }, 400, undefined],
    ['POST', '/message:stream', { message: { ...hello, parts: [] } }, 400, undefined],
    ['POST', '/message:sent', { message: hello }, 400, undefined],
    ['POST', '/tasks/x/pushNotificationConfigs', { url: 'http://x' }, 404, 'TASK_NOT_FOUND'],
    ['POST', '/tasks/x/pushNotificationConfigs', {}, 400, undefined],
    ['GET', '/tasks/x/pushNotificationConfigs', undefined, 404, 'TASK_NOT_FOUND'],
    ['DELETE', '/tasks/x/pushNotificationConfigs/y', undefined, 404, 'TASK_NOT_FOUND'],
    ['GET', '/nothing', undefined, 405, undefined],
    ['GET', '/tasks/x/y', undefined, 404, undefined],
    ['DELETE', '/tasks/x', undefined, 405, undefined],
  ])('%s %s %j', async (method, path, body, status, reason) => {
    const response = await ask(method, path, body);
    const { error } = (await response.json()) as { error: { code: number; details?: object[] } };
    expect([response.status, error.code]).toEqual([status, status]);
    expect(error).toMatchObject({ status: expect.any(String), message: expect.any(String) });
    if (reason !== undefined) expect(error.details).toEqual([expect.objectContaining({ reason })]);
  });

  test('a task that has ended cannot be cancelled or followed', async () => {
    const { id } = await send(await connect(), 'hello');
    expect((await ask('POST', `/tasks/${id}:cancel`)).status).toBe(409);
    expect((await ask('POST', `/tasks/${id}:subscribe`)).status).toBe(400);
  });

  test('another content type is 415, another version 400', async () => {
    const typed = await ask('POST', '/message:send', { message: hello }, { 'content-type': 'text/plain' });
    expect([typed.status, await typed.json()]).toMatchObject([
      415,
      { error: { details: [{ reason: 'CONTENT_TYPE_NOT_SUPPORTED' }] } },
    ]);
    const versioned = await ask('GET', '/tasks', undefined, { 'a2a-version': '2.0' });
    expect([versioned.status, await versioned.json()]).toMatchObject([
      400,
      { error: { details: [{ reason: 'VERSION_NOT_SUPPORTED' }] } },
    ]);
  });

  test('tasks of other users are not found', async () => {
    const { id } = await send(await connect(), 'secret of local');
    const authorization = `Bearer ${await server.login('ada', 'ada-password')}`;
    for (const [method, path] of [
      ['GET', id],
      ['POST', `${id}:cancel`],
      ['POST', `${id}:subscribe`],
    ] as const)
      expect((await ask(method, `/tasks/${path}`, undefined, { authorization })).status).toBe(404);
    const { tasks } = (await (await ask('GET', '/tasks', undefined, { authorization })).json()) as {
      tasks: object[];
    };
    expect(tasks).toEqual([]);
    const bad = await ask('GET', '/tasks', undefined, { authorization: 'Bearer nonsense' });
    expect([bad.status, await bad.json()]).toMatchObject([
      401,
      { error: { code: 401, status: 'UNAUTHENTICATED' } },
    ]);
  });
});
