/** Calls of the agent that need an approval: the task requires input. */
import { afterEach, describe, expect, test } from 'bun:test';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Task } from '@a2a-js/sdk';
import { durableOf, getJson, postJson } from '../server-process.ts';
import {
  dataOf,
  failure,
  getTask,
  lastText,
  messageOf,
  read,
  requestOf,
  send,
  stateOf,
  stream,
  subscribe,
  textOf,
  wordsOfMessage,
} from './client.ts';
import { answering, cleanUp } from './stage.ts';

afterEach(cleanUp);

const touch = (name: string) => ({ call: 'shell', input: { command: ['touch', name] } });
const asking = () => answering(touch('a.txt'), { say: 'Done.' });

type Approval = { id: string; tool: string; input: object; description: string };

function askedOf({ status }: Task): { approval: Approval; answers: string[] } {
  const content = status?.message?.parts[1]?.content;
  if (content?.$case !== 'data') throw new Error('no data part');
  return content.value as { approval: Approval; answers: string[] };
}

test('the task waits with a description of the call, for users and for programs', async () => {
  const { server, client } = await asking();
  const task = await send(client, 'touch it');
  expect(stateOf(task)).toBe('TASK_STATE_INPUT_REQUIRED');
  expect(wordsOfMessage(task.status?.message)).toContain('touch a.txt');
  const { approval, answers } = askedOf(task);
  expect(approval).toMatchObject({ tool: 'shell', input: { command: ['touch', 'a.txt'] } });
  expect(approval.description).not.toBe('');
  expect(answers).toEqual(['once', 'always', 'deny']);
  const { approvals } = await getJson<{ approvals: { id: string }[] }>(`${server.http}/v1/approvals`);
  expect(approvals.map(({ id }) => id)).toEqual([approval.id]);
  expect(await getTask(client, task.id)).toEqual(task);
  expect(existsSync(join(server.root, 'a.txt'))).toBe(false);
});

test('a stream ends when the task waits', async () => {
  const { client } = await asking();
  const shown = await read(stream(client, 'touch it'));
  expect(shown.kinds.at(-1)).toBe('TASK_STATE_INPUT_REQUIRED');
  expect(shown.kinds.filter((kind) => kind === 'TASK_STATE_INPUT_REQUIRED')).toHaveLength(1);
});

describe('is answered on the same task', () => {
  test('with data', async () => {
    const { server, client } = await asking();
    const task = await send(client, 'touch it');
    const { id, contextId } = task;
    const answer = dataOf({ approval: askedOf(task).approval.id, answer: 'once' });
    const done = await send(client, answer, { taskId: id, contextId });
    expect([done.id, stateOf(done), textOf(done)]).toEqual([id, 'TASK_STATE_COMPLETED', 'Done.']);
    expect(existsSync(join(server.root, 'a.txt'))).toBe(true);
    expect(done.history).toHaveLength(3);
  });

  test('with data as a stream: the task, the rest of its text and the end', async () => {
    const { client } = await asking();
    const task = await send(client, 'touch it');
    const answer = dataOf({ approval: askedOf(task).approval.id, answer: 'once' });
    const shown = await read(stream(client, answer, { taskId: task.id, messageId: 'the answer' }));
    expect(shown.kinds[0]).toBe('task');
    expect(shown.task && stateOf(shown.task)).toBe('TASK_STATE_WORKING');
    expect(lastText(shown)).toBe('Done.');
    expect(shown.kinds.at(-1)).toBe('TASK_STATE_COMPLETED');
    expect((await getTask(client, task.id)).history).toEqual(shown.task?.history as never);
  });

  test.each(['yes', 'Yes.', 'ok', 'always'])('with text: %p', async (words) => {
    const { server, client } = await asking();
    const { id } = await send(client, 'touch it');
    const done = await send(client, words, { taskId: id });
    expect([stateOf(done), textOf(done)]).toEqual(['TASK_STATE_COMPLETED', 'Done.']);
    expect(existsSync(join(server.root, 'a.txt'))).toBe(true);
    expect(wordsOfMessage(done.history.at(-1))).toBe(words);
    const answered = (await durableOf(server, done.contextId)).find(
      ({ type }) => type === 'approval.answered',
    );
    expect(answered).toMatchObject({ answer: words === 'always' ? 'always' : 'once', dialect: 'a2a' });
  });

  test.each([
    ['no', undefined],
    ['rather use mv', 'rather use mv'],
  ])('with a denial: %p', async (words, reason) => {
    const { server, client, model } = await answering(touch('a.txt'), { say: 'Then not.' });
    const { id } = await send(client, 'touch it');
    const done = await send(client, words, { taskId: id });
    expect([stateOf(done), textOf(done)]).toEqual(['TASK_STATE_COMPLETED', 'Then not.']);
    expect(existsSync(join(server.root, 'a.txt'))).toBe(false);
    if (reason) expect(JSON.stringify(model.requests.at(-1)?.messages)).toContain(reason);
  });

  test('with data that denies, and a reason', async () => {
    const { client, model } = await answering(touch('a.txt'), { say: 'Then not.' });
    const task = await send(client, 'touch it');
    const { id } = askedOf(task).approval;
    const answer = dataOf({ approval: id, answer: 'deny', reason: 'not on a Friday' });
    expect(textOf(await send(client, answer, { taskId: task.id }))).toBe('Then not.');
    expect(JSON.stringify(model.requests.at(-1)?.messages)).toContain('not on a Friday');
  });

  test('once for each of several calls', async () => {
    const both = {
      calls: [['shell', touch('a.txt').input] as const, ['shell', touch('b.txt').input] as const],
    };
    const { server, client } = await answering(both, { say: 'Both.' });
    const first = await send(client, 'touch both');
    const second = await send(client, 'yes', { taskId: first.id });
    expect(stateOf(second)).toBe('TASK_STATE_INPUT_REQUIRED');
    expect(askedOf(second).approval.id).not.toBe(askedOf(first).approval.id);
    const third = await send(client, 'yes', { taskId: first.id });
    expect([stateOf(third), textOf(third)]).toEqual(['TASK_STATE_COMPLETED', 'Both.']);
    for (const name of ['a.txt', 'b.txt']) expect(existsSync(join(server.root, name))).toBe(true);
  });
});

test('after an answer elsewhere the task continues, and its subscribers receive the rest', async () => {
  const { server, client } = await asking();
  const task = await send(client, 'touch it');
  const { id } = askedOf(task).approval;
  const shown = await read(subscribe(client, task.id), async ({ kinds }) => {
    if (kinds.length === 1) await postJson(`${server.http}/v1/approvals/${id}`, { answer: 'once' });
  });
  expect(shown.task).toEqual(task);
  expect(shown.kinds.slice(0, 2)).toEqual(['task', 'TASK_STATE_WORKING']);
  expect(shown.kinds.at(-1)).toBe('TASK_STATE_COMPLETED');
  expect(lastText(shown)).toBe('Done.');
});

test('a late answer is refused, and nothing runs twice', async () => {
  const { server, client } = await answering(touch('a.txt'), touch('b.txt'), { say: 'Done.' });
  const task = await send(client, 'touch it');
  const { id } = askedOf(task).approval;
  const { kinds } = await read(subscribe(client, task.id), async (shown) => {
    if (shown.kinds.length === 1) await postJson(`${server.http}/v1/approvals/${id}`, { answer: 'once' });
  });
  expect(kinds.at(-1)).toBe('TASK_STATE_INPUT_REQUIRED');
  const late = dataOf({ approval: id, answer: 'deny' });
  expect(await failure(send(client, late, { taskId: task.id }))).toMatchObject({
    name: 'UnsupportedOperationError',
    envelopeCode: -32004,
  });
  expect(stateOf(await getTask(client, task.id))).toBe('TASK_STATE_INPUT_REQUIRED');
  await send(client, 'yes', { taskId: task.id });
  const events = await durableOf(server, task.contextId);
  expect(events.filter(({ type }) => type === 'approval.answered')).toHaveLength(2);
  expect(events.filter(({ type }) => type === 'tool.started')).toHaveLength(2);
  expect(await failure(send(client, 'yes', { taskId: task.id }))).toMatchObject({ envelopeCode: -32004 });
});

test('one of two concurrent answers is accepted, and the other is refused', async () => {
  const { server, client } = await asking();
  const task = await send(client, 'touch it');
  const { id } = askedOf(task).approval;
  const answer = (verdict: string) =>
    send(client, dataOf({ approval: id, answer: verdict }), { taskId: task.id });
  const answers = await Promise.allSettled([answer('once'), answer('deny')]);
  const events = await durableOf(server, task.contextId);
  const counted = events.flatMap((event) => (event.type === 'approval.answered' ? [event.answer] : []));
  expect(counted).toHaveLength(1);
  const [first, second] = answers.map(({ status }) => status === 'fulfilled');
  expect([first, second]).toEqual(counted[0] === 'once' ? [true, false] : [false, true]);
  const refused = answers.find(({ status }) => status === 'rejected');
  expect(refused).toMatchObject({ reason: { envelopeCode: -32004 } });
  expect(existsSync(join(server.root, 'a.txt'))).toBe(counted[0] === 'once');
});

test('the same answer again is the same task', async () => {
  const { server, client } = await asking();
  const task = await send(client, 'touch it');
  const about = { taskId: task.id, messageId: 'my answer' };
  const first = await send(client, 'yes', about);
  expect(await send(client, 'yes', about)).toEqual(first);
  const answered = (await durableOf(server, task.contextId)).filter(
    ({ type }) => type === 'approval.answered',
  );
  expect(answered).toHaveLength(1);
});

test('an invalid answer is refused, and the task still waits', async () => {
  const { client } = await asking();
  const task = await send(client, 'touch it');
  const wrong = [
    dataOf({ approval: 'another', answer: 'once' }),
    dataOf({ approval: askedOf(task).approval.id, answer: 'perhaps' }),
    dataOf(['once']),
    '   ',
  ];
  for (const content of wrong)
    expect(await failure(send(client, content, { taskId: task.id }))).toMatchObject({ envelopeCode: -32602 });
  expect(await getTask(client, task.id)).toEqual(task);
});

test('a message with only the context is a new task, which is queued', async () => {
  const { client } = await answering(touch('a.txt'), { say: 'Done.' }, { say: 'Later.' });
  const task = await send(client, 'touch it');
  const shown = read(stream(client, 'and then?', { contextId: task.contextId }), async ({ kinds }) => {
    if (kinds.length === 1) await send(client, 'yes', { taskId: task.id });
  });
  const { kinds, task: queued, ...rest } = await shown;
  expect(queued && stateOf(queued)).toBe('TASK_STATE_SUBMITTED');
  expect(kinds.slice(0, 2)).toEqual(['task', 'TASK_STATE_WORKING']);
  expect(lastText({ kinds, task: queued, ...rest })).toBe('Later.');
});

test('a user without the permission cannot approve', async () => {
  const { server, client } = await asking();
  const Authorization = `Bearer ${await server.login('uma', 'uma-password')}`;
  const options = { serviceParameters: { Authorization } };
  const task = (await client.sendMessage(requestOf(messageOf('touch it')), options)) as Task;
  expect(stateOf(task)).toBe('TASK_STATE_INPUT_REQUIRED');
  const answer = requestOf(messageOf('yes', { taskId: task.id }));
  expect(await failure(client.sendMessage(answer, options))).toMatchObject({ envelopeCode: -32000 });
});
