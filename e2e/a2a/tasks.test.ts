/** Messages, tasks and contexts, driven by the official client. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { type Message, TaskState } from '@a2a-js/sdk';
import type { Client } from '@a2a-js/sdk/client';
import { startTestServer, type TestServer } from '../../packages/server/src/testing/server.ts';
import { type ScriptedModel, scriptedModel } from '../scripted-model.ts';
import { durableOf, followed, getJson, submit } from '../server-process.ts';
import {
  connect,
  dataOf,
  getTask,
  LIST,
  lastText,
  messageOf,
  read,
  requestOf,
  send,
  sendAtOnce,
  stateOf,
  stream,
  textOf,
  wordsOfMessage,
} from './client.ts';

let model: ScriptedModel;
let server: TestServer;
let client: Client;

beforeAll(async () => {
  model = scriptedModel(({ messages }) => {
    const last = messages.at(-1);
    if (last?.role === 'tool') return { say: 'Echoed.' };
    const text = JSON.stringify(last?.content);
    if (text.includes('ask me')) return { call: 'shell', input: { command: ['touch', 'a.txt'] } };
    if (text.includes('use a tool')) return { call: 'echo', input: { value: 'seen' } };
    return text.includes('refuse this') ? { status: 400 } : { say: `re: ${text}` };
  });
  server = await startTestServer({ OPENAI_BASE_URL: model.url, OPENAI_API_KEY: 'key', MODEL: 'fake' });
  client = await connect(server.http);
});
afterAll(async () => {
  await server.stop();
  model.stop();
});

const list = (params: Partial<Parameters<Client['listTasks']>[0]> = {}) =>
  client.listTasks({ ...LIST, ...params });

const turnsOf = async (session: string): Promise<number> =>
  (await durableOf(server, session)).filter(({ type }) => type === 'turn.started').length;

describe('a message', () => {
  test('is answered with the task: the text is one artifact, the user’s message is its history', async () => {
    const task = await send(client, 'hello', { messageId: 'first', contextId: 'greetings' });
    expect(stateOf(task)).toBe('TASK_STATE_COMPLETED');
    expect(textOf(task)).toBe('re: "hello"');
    expect(task).toMatchObject({ contextId: 'greetings', artifacts: [{}] });
    expect(task.history.map(({ messageId }) => messageId)).toEqual(['first']);
    expect(wordsOfMessage(task.history[0])).toBe('hello');
    expect(Date.parse(task.status?.timestamp ?? '')).toBeGreaterThan(Date.now() - 60_000);
    expect(await getTask(client, task.id)).toEqual(task);
  });

  test('is streamed: the task, its text in pieces, and the end', async () => {
    const shown = await read(stream(client, 'one two', { contextId: 'streamed' }));
    expect(shown.kinds[0]).toBe('task');
    expect(stateOf(shown.task ?? { status: undefined })).toBe('TASK_STATE_WORKING');
    expect(shown.kinds.at(-1)).toBe('TASK_STATE_COMPLETED');
    expect(lastText(shown)).toBe('re: "one two"');
    expect(shown.pieces.size).toBe(1);
    expect(shown.flags.map(([append]) => append)).toEqual(shown.flags.map((_, at) => at > 0));
    expect(shown.flags.map(([, last]) => last)).toEqual(
      shown.flags.map((_, at) => at === shown.flags.length - 1),
    );
    const task = await getTask(client, shown.task?.id ?? '');
    expect(textOf(task)).toBe(lastText(shown));
    expect([...shown.pieces.keys()]).toEqual(task.artifacts.map(({ artifactId }) => artifactId));
  });

  test('without a context creates one; with it the conversation continues', async () => {
    const first = await send(client, 'remember the sea');
    const second = await send(client, 'what was it?', { contextId: first.contextId });
    expect(second.contextId).toBe(first.contextId);
    expect(second.id).not.toBe(first.id);
    expect(JSON.stringify(model.requests.at(-1)?.messages)).toContain('remember the sea');
    expect((await send(client, 'hi')).contextId).not.toBe(first.contextId);
  });

  test('whose model fails is a failed task with an error message', async () => {
    const task = await send(client, 'refuse this');
    expect(stateOf(task)).toBe('TASK_STATE_FAILED');
    expect(wordsOfMessage(task.status?.message)).toMatch(/\w+ .+/);
    expect(await getTask(client, task.id)).toEqual(task);
  });

  test('with tools of the agent has only the answer', async () => {
    const task = await send(client, 'use a tool', { contextId: 'tools' });
    expect(textOf(task)).toBe('Echoed.');
    expect((await durableOf(server, 'tools')).map(({ type }) => type)).toContain('tool.ended');
  });

  test('may have data, files and URLs, which the history shows as they were sent', async () => {
    const message: Message = messageOf('look at these', { contextId: 'parts' });
    const [text] = message.parts;
    if (!text) throw new Error('no part');
    message.parts.push(
      { ...text, content: dataOf({ answer: 42 }) },
      { ...text, content: { $case: 'url', value: 'https://example.com/a.txt' } },
    );
    await client.sendMessage(requestOf(message));
    const prompt = JSON.stringify(model.requests.at(-1)?.messages);
    expect(prompt).toContain('42');
    expect(prompt).toContain('https://example.com/a.txt');
    const { tasks } = await list({ contextId: 'parts' });
    expect(tasks[0]?.history[0]?.parts).toEqual(message.parts);
    const image = { ...text, content: { $case: 'raw', value: Buffer.from('GIF89a') } as const };
    const sent = messageOf('an image', { contextId: 'image' });
    sent.parts.push({ ...image, mediaType: 'image/gif' });
    await client.sendMessage(requestOf(sent));
    expect(JSON.stringify(model.requests.at(-1)?.messages)).toContain('image/gif');
    const [task] = (await list({ contextId: 'image' })).tasks;
    expect(task?.history[0]?.parts).toEqual(sent.parts);
  });

  test('with a skill is answered by that agent', async () => {
    const { skills } = await client.getAgentCard();
    const skill = skills.find(({ id }) => id !== 'coder')?.id ?? '';
    const request = { ...requestOf(messageOf('hi', { contextId: 'skilled' })), metadata: { skillId: skill } };
    await client.sendMessage(request);
    const started = (await durableOf(server, 'skilled')).find(({ type }) => type === 'turn.started');
    expect(started).toMatchObject({ agent: { id: skill } });
  });
});

describe('a repeated message', () => {
  test.each([{ contextId: 'again' }, {}])('is the same task, without another turn (%p)', async (about) => {
    const messageId = crypto.randomUUID();
    const first = await send(client, 'only once', { messageId, ...about });
    const asked = model.requests.length;
    expect(await send(client, 'only once', { messageId, ...about })).toEqual(first);
    const shown = await read(stream(client, 'only once', { messageId, ...about }));
    expect(shown.kinds).toEqual(['task']);
    expect(shown.task).toEqual(first);
    expect(model.requests).toHaveLength(asked);
    expect(await turnsOf(first.contextId)).toBe(1);
  });

  test('at the same time is the same task as well', async () => {
    const about = { messageId: crypto.randomUUID(), contextId: 'at-once' };
    const tasks = await Promise.all([1, 2, 3, 4].map(() => send(client, 'only once', about)));
    for (const task of tasks) expect(task).toEqual(tasks[0] as never);
    expect(await turnsOf('at-once')).toBe(1);
  });

  test('of two users is one task each', async () => {
    const about = { messageId: 'common', contextId: 'common' };
    const ids = await Promise.all(
      ['dev', 'uma', 'ada'].map(async (name) => {
        const Authorization = `Bearer ${await server.login(name, `${name}-password`)}`;
        const task = await client.sendMessage(requestOf(messageOf(`I am ${name}`, about)), {
          serviceParameters: { Authorization },
        });
        return 'id' in task ? task.id : '';
      }),
    );
    expect(new Set(ids).size).toBe(3);
  });
});

test('returnImmediately is answered before the task has ended', async () => {
  const task = await sendAtOnce(client, 'hello', { contextId: 'immediate' });
  expect(['TASK_STATE_WORKING', 'TASK_STATE_COMPLETED']).toContain(stateOf(task));
  await followed(server, 'immediate', (events) => events.some(({ type }) => type === 'turn.ended'));
  expect(textOf(await getTask(client, task.id))).toBe('re: "hello"');
});

test('historyLength limits the history, and 0 leaves it out', async () => {
  const task = await send(client, 'hello');
  expect((await getTask(client, task.id, 0)).history).toEqual([]);
  expect((await getTask(client, task.id, 1)).history).toEqual(task.history);
  expect((await getTask(client, task.id, 10)).history).toEqual(task.history);
  const sent = await client.sendMessage(requestOf(messageOf('hi'), { historyLength: 0 }));
  expect('history' in sent && sent.history).toEqual([]);
});

describe('turns of other dialects', () => {
  test('are tasks in the same context, and answers here are messages there', async () => {
    const session = 'shared-session';
    const done = (count: number) =>
      followed(
        server,
        session,
        (events) => events.filter(({ type }) => type === 'turn.ended').length >= count,
      );
    await submit(server, session, 'said natively');
    await done(1);
    const task = await send(client, 'said in a2a', { contextId: session });
    expect(JSON.stringify(model.requests.at(-1)?.messages)).toContain('said natively');
    await submit(server, session, 'natively again');
    await done(3);
    expect(JSON.stringify(model.requests.at(-1)?.messages)).toContain('said in a2a');
    const { tasks, totalSize } = await list({ contextId: session, includeArtifacts: true });
    expect(totalSize).toBe(3);
    expect(tasks.map(textOf)).toEqual(['re: "natively again"', 're: "said in a2a"', 're: "said natively"']);
    const started = (await durableOf(server, session)).filter(({ type }) => type === 'turn.started');
    expect(tasks.map(({ id }) => id).reverse()).toEqual(
      started.map((event) => ('turn' in event ? String(event.turn) : '')),
    );
    expect(tasks[1]?.id).toBe(task.id);

    const headers = { authorization: `Bearer ${await server.login('ada', 'ada-password')}` };
    const messages = await getJson<{ content: string }[]>(
      `${server.http}/v1/conversations/${session}/messages`,
      headers,
    );
    expect(messages.map(({ content }) => content)).toEqual([
      'said natively',
      're: "said natively"',
      'said in a2a',
      're: "said in a2a"',
      'natively again',
      're: "natively again"',
    ]);
  });

  test('a conversation from conversations continues here, and back there', async () => {
    const token = await server.login('dev', 'dev-password');
    const socket = await server.connect(`/conversations?token=${token}`);
    const say = async (conversationId: string, content: string) => {
      socket.send({ type: 'send_message', conversationId, payload: { content } });
      return socket.next('message_complete');
    };
    socket.send({ type: 'start_conversation', payload: { domainId: 'software_development' } });
    const { payload } = (await socket.next('conversation_started')) as {
      payload?: { conversationId?: string };
    };
    const id = payload?.conversationId ?? '';
    await say(id, 'begun there');
    const options = { serviceParameters: { Authorization: `Bearer ${token}` } };
    const task = await client.sendMessage(requestOf(messageOf('goes on here', { contextId: id })), options);
    expect(JSON.stringify(model.requests.at(-1)?.messages)).toContain('begun there');
    expect('artifacts' in task && textOf(task)).toBe('re: "goes on here"');
    await say(id, 'and back');
    expect(JSON.stringify(model.requests.at(-1)?.messages)).toContain('goes on here');
  });
});

describe('ListTasks', () => {
  const names = Array.from({ length: 7 }, (_, number) => `listed ${number}`);
  beforeAll(async () => {
    for (const [number, name] of names.entries())
      await send(client, name, { contextId: `list-${number % 3}` });
    await send(client, 'refuse this', { contextId: 'list-0' });
  });

  test('pages through all tasks, last changed first', async () => {
    const all = await list({ pageSize: 100 });
    const found: string[] = [];
    let pageToken = '';
    let pages = 0;
    do {
      const page = await list({ pageSize: 3, pageToken });
      expect(page).toMatchObject({ pageSize: 3, totalSize: all.totalSize });
      expect(page.tasks.length).toBeLessThanOrEqual(3);
      found.push(...page.tasks.map(({ id }) => id));
      pageToken = page.nextPageToken;
      pages++;
    } while (pageToken !== '');
    expect(pages).toBe(Math.ceil(all.totalSize / 3));
    expect(found).toEqual(all.tasks.map(({ id }) => id));
    expect(new Set(found).size).toBe(all.totalSize);
    const times = all.tasks.map(({ status }) => status?.timestamp ?? '');
    expect(times).toEqual([...times].sort().reverse());
  });

  test('is limited to a context, a state and a time', async () => {
    const inContext = await list({ contextId: 'list-0' });
    expect(inContext.totalSize).toBe(4);
    expect(inContext.tasks.every(({ contextId }) => contextId === 'list-0')).toBeTrue();
    const failed = await list({ contextId: 'list-0', status: TaskState.TASK_STATE_FAILED });
    expect(failed.tasks.map(stateOf)).toEqual(['TASK_STATE_FAILED']);
    expect(failed.totalSize).toBe(1);
    const completed = await list({ contextId: 'list-0', status: TaskState.TASK_STATE_COMPLETED });
    expect(completed.totalSize).toBe(3);
    const statusTimestampAfter = completed.tasks[0]?.status?.timestamp;
    const later = await list({ contextId: 'list-0', statusTimestampAfter });
    expect(later.tasks.map(({ id }) => id)).toEqual(failed.tasks.map(({ id }) => id));
    expect(await list({ contextId: 'nowhere' })).toMatchObject({
      tasks: [],
      totalSize: 0,
      nextPageToken: '',
    });
  });

  test('finds waiting tasks in waiting sessions', async () => {
    const status = TaskState.TASK_STATE_INPUT_REQUIRED;
    expect(await list({ status })).toMatchObject({ tasks: [], totalSize: 0 });
    const task = await send(client, 'ask me', { contextId: 'list-waiting' });
    expect((await list({ status })).tasks.map(({ id }) => id)).toEqual([task.id]);
    await send(client, 'no', { taskId: task.id });
    expect(await list({ status })).toMatchObject({ totalSize: 0 });
  });

  test('has artifacts only if they are requested', async () => {
    expect((await list({ contextId: 'list-1' })).tasks.map(textOf)).toEqual(['', '']);
    const { tasks } = await list({ contextId: 'list-1', includeArtifacts: true, historyLength: 0 });
    expect(tasks.map(textOf)).toEqual(['re: "listed 4"', 're: "listed 1"']);
    expect(tasks.flatMap(({ history }) => history)).toEqual([]);
  });

  test('has only the tasks of the caller, even for an admin', async () => {
    for (const name of ['uma', 'ada']) {
      const Authorization = `Bearer ${await server.login(name, `${name}-password`)}`;
      const own = await client.listTasks(
        { ...LIST, contextId: 'list-0' },
        { serviceParameters: { Authorization } },
      );
      expect(own).toMatchObject({ tasks: [], totalSize: 0 });
    }
  });
});

test('fifty concurrent tasks do not mix', async () => {
  const numbers = Array.from({ length: 50 }, (_, number) => number);
  const shown = await Promise.all(
    numbers.map((number) => read(stream(client, `number ${number}!`, { contextId: `many-${number}` }))),
  );
  for (const number of numbers) {
    const one = shown[number];
    expect(one && lastText(one)).toBe(`re: "number ${number}!"`);
    expect(one?.task?.contextId).toBe(`many-${number}`);
  }
  expect(new Set(shown.map(({ task }) => task?.id)).size).toBe(50);
});
