/** Push notifications: updates of tasks that the server sends to a receiver of the client. */
import { afterAll, afterEach, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { ClientFactory, ClientFactoryOptions } from '@a2a-js/sdk/client';
import { until } from '../../packages/server/src/testing/until.ts';
import { scriptedModel } from '../scripted-model.ts';
import { startProcess } from '../server-process.ts';
import { failure, getTask, messageOf, requestOf, send, stateOf } from './client.ts';
import { cleanUp, later, serverOf } from './stage.ts';

afterEach(cleanUp);

const root = mkdtempSync(join(tmpdir(), 'parlance-push-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

type Update = {
  task?: { id: string; status: { state: string } };
  artifactUpdate?: { append: boolean; artifact: { parts: { text?: string }[] } };
  statusUpdate?: { taskId: string; status: { state: string } };
};
type Received = { readonly headers: Headers; readonly body: Update & Record<string, unknown> };

/** What the client listens with. It answers with the given status. */
function receiver(status: (received: readonly Received[]) => number = () => 200) {
  const received: Received[] = [];
  const attempts: number[] = [];
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      const body = (await request.json()) as Received['body'];
      const code = status(received);
      attempts.push(code);
      if (code === 200) received.push({ headers: request.headers, body });
      return new Response(null, { status: code, headers: code === 302 ? { location: '/moved' } : {} });
    },
  });
  later(() => server.stop(true));
  const states = () => received.flatMap(({ body }) => kindOf(body) ?? []);
  return { url: `http://127.0.0.1:${server.port}/hook`, received, attempts, states };
}

const kindOf = (body: Update): string | undefined =>
  body.task?.status.state ?? body.statusUpdate?.status.state ?? (body.artifactUpdate && 'artifact');

const model = scriptedModel(({ messages }) =>
  messages.at(-1)?.role === 'user' && String(messages.at(-1)?.content).includes('touch')
    ? { call: 'shell', input: { command: ['touch', 'file'] } }
    : { say: 'Fine, and well.' },
);
afterAll(() => model.stop());
const ANY = { ...model.settings, PARLANCE_PUSH_NOTIFICATIONS: 'any' };

const bindings = { 'JSON-RPC': 'JSONRPC', 'HTTP+JSON': 'HTTP+JSON' } as const;
const connect = (http: string, binding: string) =>
  new ClientFactory(
    ClientFactoryOptions.createFrom(ClientFactoryOptions.default, {
      preferredTransports: [binding],
    }),
  ).createFromUrl(http);

const configOf = (url: string, about: object = {}) => ({
  ...{ tenant: '', id: '', taskId: '', url, token: '', authentication: undefined },
  ...about,
});

const sendWith = (config: object, text: string) => {
  const request = requestOf(messageOf(text), { returnImmediately: true });
  return { ...request, configuration: { ...request.configuration, taskPushNotificationConfig: config } };
};

test.each(Object.entries(bindings))(
  '%s: the updates of a task are sent in order, with the token and credentials of its configuration',
  async (_, binding) => {
    const server = await serverOf(ANY);
    const client = await connect(server.http, binding);
    expect((await client.getAgentCard()).capabilities?.pushNotifications).toBe(true);
    const { url, received, states } = receiver();
    const config = configOf(url, {
      token: 'of this task',
      authentication: { scheme: 'Bearer', credentials: 'secret' },
    });
    const task = await client.sendMessage(sendWith(config, 'hello') as never);
    await until(() => states().includes('TASK_STATE_COMPLETED'));
    expect(states().slice(-2)).toEqual(['artifact', 'TASK_STATE_COMPLETED']);
    expect(received[0]?.body.task?.id).toBe((task as { id: string }).id);
    const artifact = received.find(({ body }) => body.artifactUpdate)?.body.artifactUpdate;
    expect(artifact).toMatchObject({ append: false, artifact: { parts: [{ text: 'Fine, and well.' }] } });
    for (const { headers } of received) {
      expect(headers.get('authorization')).toBe('Bearer secret');
      expect(headers.get('x-a2a-notification-token')).toBe('of this task');
      expect(headers.get('content-type')).toBe('application/a2a+json');
    }
  },
);

test.each(Object.entries(bindings))(
  '%s: configurations are created, read, listed, replaced and deleted',
  async (_, binding) => {
    const server = await serverOf(ANY);
    const client = await connect(server.http, binding);
    const waiting = await send(client, 'touch it');
    expect(stateOf(waiting)).toBe('TASK_STATE_INPUT_REQUIRED');
    const [one, other] = [receiver(), receiver()];
    const named = { tenant: '', taskId: waiting.id, id: 'mine' };
    const authentication = { scheme: 'Basic', credentials: 'c2VjcmV0' };
    const made = await client.createTaskPushNotificationConfig(
      configOf(one.url, { ...named, authentication }),
    );
    expect(made).toMatchObject({ ...named, url: one.url });
    expect(JSON.stringify(made)).not.toContain('c2VjcmV0');
    await client.createTaskPushNotificationConfig(configOf(other.url, { taskId: waiting.id }));
    const list = { tenant: '', taskId: waiting.id, pageSize: 0, pageToken: '' };
    const ids = async () => (await client.listTaskPushNotificationConfig(list)).configs.map(({ id }) => id);
    expect(await ids()).toEqual(['mine', waiting.id]);
    expect((await client.getTaskPushNotificationConfig(named)).url).toBe(one.url);
    await client.createTaskPushNotificationConfig(configOf(`${one.url}/2`, named));
    expect((await client.getTaskPushNotificationConfig(named)).url).toBe(`${one.url}/2`);
    await client.deleteTaskPushNotificationConfig(named);
    await client.deleteTaskPushNotificationConfig(named);
    expect(await failure(client.getTaskPushNotificationConfig(named))).toMatchObject({
      name: 'TaskNotFoundError',
    });
    expect(await ids()).toEqual([waiting.id]);

    const ended = await send(client, 'no', { taskId: waiting.id, contextId: waiting.contextId });
    expect(stateOf(ended)).toMatch(/COMPLETED|CANCELED/);
    await until(() => other.states().at(-1) === stateOf(ended));
    // What came before the configuration is not sent.
    expect(other.states()[0]).toBe('TASK_STATE_WORKING');
    expect(one.received).toEqual([]);
  },
);

test('a task that waits for an answer is sent as such, and goes on', async () => {
  const server = await serverOf(ANY);
  const client = await connect(server.http, 'JSONRPC');
  const { url, states } = receiver();
  const task = await client.sendMessage(sendWith(configOf(url), 'touch it') as never);
  await until(() => states().at(-1) === 'TASK_STATE_INPUT_REQUIRED');
  await send(client, 'yes', { taskId: (task as { id: string }).id });
  await until(() => states().at(-1) === 'TASK_STATE_COMPLETED');
  expect(states().slice(-3)).toEqual(['TASK_STATE_WORKING', 'artifact', 'TASK_STATE_COMPLETED']);
});

test('a receiver that fails is sent the same update again, and none twice after it was received', async () => {
  const server = await serverOf(ANY);
  const client = await connect(server.http, 'JSONRPC');
  const answers = [200, 500, 302, 200];
  const { url, received, attempts, states } = receiver(() => answers.shift() ?? 200);
  await client.sendMessage(sendWith(configOf(url), 'hello') as never);
  await until(() => states().includes('TASK_STATE_COMPLETED'));
  expect(attempts.slice(0, 4)).toEqual([200, 500, 302, 200]);
  expect(attempts.length).toBe(received.length + 2);
  expect(new Set(received.map(({ body }) => JSON.stringify(body))).size).toBe(received.length);
});

test('a receiver that is gone is sent nothing more', async () => {
  const server = await serverOf(ANY);
  const client = await connect(server.http, 'JSONRPC');
  const { url, attempts } = receiver(() => 410);
  const task = await client.sendMessage(sendWith(configOf(url), 'touch it') as never);
  await until(() => attempts.length > 0);
  const other = receiver();
  const { id: taskId } = task as { id: string };
  await client.createTaskPushNotificationConfig(configOf(other.url, { taskId, id: 'other' }));
  await until(async () => stateOf(await getTask(client, taskId)) === 'TASK_STATE_INPUT_REQUIRED');
  await send(client, 'yes', { taskId });
  await until(() => other.states().at(-1) === 'TASK_STATE_COMPLETED');
  expect(attempts).toEqual([410]);
});

test('a request that is repeated starts nothing again', async () => {
  const server = await serverOf(ANY);
  const client = await connect(server.http, 'JSONRPC');
  const { url, states } = receiver();
  const request = sendWith(configOf(url), 'hello');
  const task = await client.sendMessage(request as never);
  await until(() => states().at(-1) === 'TASK_STATE_COMPLETED');
  const sent = states().length;
  expect(await client.sendMessage(request as never)).toMatchObject({ id: (task as { id: string }).id });
  const other = receiver();
  await client.sendMessage(sendWith(configOf(other.url), 'hello') as never);
  await until(() => other.states().at(-1) === 'TASK_STATE_COMPLETED');
  expect(states().length).toBe(sent);
});

const rpc = async (http: string, method: string, params: object) => {
  const response = await fetch(`${http}/a2a`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  });
  return (await response.json()) as {
    result?: { id: string } & Record<string, unknown>;
    error?: { code: number; message: string };
  };
};

test('clients of 0.3 are sent the task in its form', async () => {
  const server = await serverOf(ANY);
  const { url, received } = receiver();
  const message = {
    ...{ kind: 'message', messageId: 'm', role: 'user' },
    parts: [{ kind: 'text', text: 'touch it' }],
  };
  const { result } = await rpc(server.http, 'message/send', {
    message,
    configuration: {
      blocking: false,
      pushNotificationConfig: {
        url,
        token: 'of 0.3',
        authentication: { schemes: ['Bearer'], credentials: 'secret' },
      },
    },
  });
  const id = String(result?.id);
  const last = () => received.at(-1)?.body as { status?: { state: string } } | undefined;
  await until(() => last()?.status?.state === 'input-required');
  expect(received[0]?.body).toMatchObject({ kind: 'task', id });
  expect(received[0]?.headers.get('authorization')).toBe('Bearer secret');
  expect(received[0]?.headers.get('content-type')).toBe('application/json');
  const stored = { taskId: id, pushNotificationConfig: { id, url, token: 'of 0.3' } };
  const call = (name: string, params: object) =>
    rpc(server.http, `tasks/pushNotificationConfig/${name}`, params);
  expect((await call('get', { id })).result).toMatchObject(stored);
  const second = { id: 'second', url: `${url}/2` };
  expect((await call('set', { taskId: id, pushNotificationConfig: second })).result).toEqual({
    taskId: id,
    pushNotificationConfig: second,
  } as never);
  expect((await call('list', { id })).result).toHaveLength(2);
  const name = { id, pushNotificationConfigId: 'second' };
  expect((await call('delete', name)).result).toBeNull();
  expect((await call('get', name)).error?.code).toBe(-32001);
  await rpc(server.http, 'tasks/cancel', { id });
  await until(() => last()?.status?.state === 'canceled');
});

test('addresses of private networks and odd values are refused', async () => {
  const server = await serverOf(model.settings);
  const client = await connect(server.http, 'JSONRPC');
  const { id: taskId } = await send(client, 'hello');
  const refusal = async (config: object) =>
    (await rpc(server.http, 'CreateTaskPushNotificationConfig', { taskId, ...config })).error;
  for (const url of [
    ...[
      'http://127.0.0.1/',
      'http://localhost:8080/',
      'http://[::1]/',
      'http://10.1.2.3/',
      'http://2130706433/',
    ],
    ...['http://169.254.169.254/latest', 'http://[::ffff:10.0.0.1]/', 'ftp://example.com/', 'nonsense', ''],
    'https://user:password@example.com/',
  ])
    expect([url, (await refusal({ url }))?.code]).toEqual([url, -32602]);
  const url = 'https://example.com/';
  expect((await refusal({ url, token: 'a\r\nx: y' }))?.code).toBe(-32602);
  expect((await refusal({ url, authentication: { scheme: 'a b' } }))?.code).toBe(-32602);
  expect((await refusal({ url, taskId: 'nonsense' }))?.code).toBe(-32001);
  for (let number = 0; number < 10; number++)
    expect(await refusal({ url, id: String(number) })).toBeUndefined();
  expect((await refusal({ url, id: 'one more' }))?.message).toContain('too many');
});

test('a name with a private address is not connected to', async () => {
  let attempts = 0;
  const listening = Bun.serve({
    port: 0,
    hostname: '0.0.0.0',
    fetch: () => new Response(String(++attempts)),
  });
  later(() => listening.stop(true));
  const server = await serverOf(model.settings);
  const client = await connect(server.http, 'JSONRPC');
  const config = configOf(`http://${hostname()}:${listening.port}/`);
  await client.sendMessage(sendWith(config, 'hello') as never);
  await send(client, 'hello');
  expect(attempts).toBe(0);
});

test('without the capability, the methods are refused', async () => {
  const server = await serverOf({ ...model.settings, PARLANCE_PUSH_NOTIFICATIONS: 'off' });
  const client = await connect(server.http, 'JSONRPC');
  expect((await client.getAgentCard()).capabilities?.pushNotifications).toBe(false);
  const { id: taskId } = await send(client, 'hello');
  const config = { taskId, id: 'x', url: 'https://example.com/' };
  for (const method of ['Create', 'Get', 'Delete'])
    expect((await rpc(server.http, `${method}TaskPushNotificationConfig`, config)).error?.code).toBe(-32003);
  expect((await rpc(server.http, 'ListTaskPushNotificationConfigs', { taskId })).error?.code).toBe(-32003);
});

test('updates that were not received before a kill are sent after it', async () => {
  let isUp = false;
  const { url, attempts, received, states } = receiver(() => (isUp ? 200 : 503));
  const folder = mkdtempSync(join(root, 'killed-'));
  const first = await startProcess(folder, ANY);
  const client = await connect(first.http, 'JSONRPC');
  const task = await client.sendMessage(sendWith(configOf(url), 'touch it') as never);
  await until(() => attempts.length > 0);
  await first.kill();
  isUp = true;
  await using second = await startProcess(folder, ANY);
  await until(() => states().at(-1) === 'TASK_STATE_INPUT_REQUIRED');
  expect(received[0]?.body.task).toMatchObject({ id: (task as { id: string }).id });
  const again = await connect(second.http, 'JSONRPC');
  await send(again, 'yes', { taskId: (task as { id: string }).id });
  await until(() => states().at(-1) === 'TASK_STATE_COMPLETED');
});

test('updates of a task that goes on after a kill are sent once received', async () => {
  const { url, states, received } = receiver();
  const folder = mkdtempSync(join(root, 'goes-on-'));
  const first = await startProcess(folder, ANY);
  const client = await connect(first.http, 'JSONRPC');
  const task = await client.sendMessage(sendWith(configOf(url), 'touch it') as never);
  await until(() => states().at(-1) === 'TASK_STATE_INPUT_REQUIRED');
  await first.kill();
  const before = received.length;
  await using second = await startProcess(folder, ANY);
  const again = await connect(second.http, 'JSONRPC');
  await send(again, 'yes', { taskId: (task as { id: string }).id });
  await until(() => states().at(-1) === 'TASK_STATE_COMPLETED');
  // The kill may have come between the receipt and its record.
  const repeated = received.slice(before).map(({ body }) => JSON.stringify(body));
  const known = new Set(received.slice(0, before).map(({ body }) => JSON.stringify(body)));
  expect(repeated.filter((body) => known.has(body)).length).toBeLessThanOrEqual(2);
});
