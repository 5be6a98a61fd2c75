/** Streams that start during a task, are interrupted and resumed, and tasks that are cancelled. */
import { afterEach, describe, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Task } from '@a2a-js/sdk';
import { dictatedModel } from '../scripted-model.ts';
import { durableOf, followed, postJson, startProcess } from '../server-process.ts';
import {
  cancelTask,
  connect,
  failure,
  getTask,
  lastText,
  messageOf,
  read,
  requestOf,
  type Shown,
  send,
  sendAtOnce,
  stateOf,
  stream,
  subscribe,
  textOf,
} from './client.ts';
import { answering, cleanUp, dictated, later } from './stage.ts';

afterEach(cleanUp);

const ended =
  (...types: string[]) =>
  (events: readonly { readonly type: string }[]) =>
    events.some(({ type }) => types.includes(type));

test('text is streamed while the model writes it', async () => {
  const { model, client } = await dictated();
  model.say('One ');
  const shown = await read(stream(client, 'count'), (_, piece) => {
    if (piece === 'One ') model.say('two ');
    if (piece !== 'two ') return;
    model.say('three');
    model.end();
  });
  expect([...shown.pieces.values()]).toEqual([['One ', 'two ', 'three', '']]);
  expect(shown.kinds).toEqual(['task', ...Array(4).fill('artifactUpdate'), 'TASK_STATE_COMPLETED']);
});

describe('a subscription', () => {
  test('starts with the text so far, followed by exactly the rest', async () => {
    const { model, client } = await dictated();
    model.say('One ');
    const late: Promise<Shown>[] = [];
    let count = 0;
    const follow = (id: string) =>
      late.push(read(subscribe(client, id), ({ kinds }) => kinds.length === 1 && next()));
    // Each piece is written after another client has subscribed.
    const next = () => {
      count++;
      if (count > 8) return model.end();
      model.say(`${count} `);
    };
    const first = await read(stream(client, 'count'), ({ task }, piece) => {
      if (piece !== null && piece !== '' && task) follow(task.id);
    });
    expect(lastText(first)).toBe('One 1 2 3 4 5 6 7 8 ');
    expect(late.length).toBeGreaterThan(5);
    for (const shown of await Promise.all(late)) {
      const before = shown.task ? textOf(shown.task) : '';
      expect(before).toStartWith('One ');
      expect(before + lastText(shown)).toBe(lastText(first));
      expect(shown.flags.every(([append]) => append)).toBeTrue();
      expect(shown.kinds[0]).toBe('task');
      expect(shown.kinds.at(-1)).toBe('TASK_STATE_COMPLETED');
    }
  });

  test('to a task whose text has several blocks has no gap either', async () => {
    const { model, client } = await dictated();
    model.say('Before. ');
    const task = await sendAtOnce(client, 'go');
    const shown = read(subscribe(client, task.id), ({ kinds }, piece) => {
      if (kinds.length === 1) {
        model.call('echo', { value: 'x' });
        model.say('After ');
      }
      if (piece?.endsWith('After ')) {
        model.say('that.');
        model.end();
      }
    });
    const { task: first, ...rest } = await shown;
    const whole = await getTask(client, task.id);
    expect(textOf(whole)).toBe('Before. \n\nAfter that.');
    expect((first ? textOf(first) : '') + lastText({ task: first, ...rest })).toBe(textOf(whole));
  });

  test('to a task that has ended is refused', async () => {
    const { client } = await answering({ say: 'Done.' });
    const { id } = await send(client, 'hello');
    expect(await failure(read(subscribe(client, id)))).toMatchObject({
      name: 'UnsupportedOperationError',
      envelopeCode: -32004,
    });
  });

  test('to a queued task shows its start', async () => {
    const { model, client } = await dictated();
    model.say('First');
    const first = await sendAtOnce(client, 'one', { contextId: 'queue' });
    const second = await sendAtOnce(client, 'two', { contextId: 'queue' });
    expect(stateOf(second)).toBe('TASK_STATE_SUBMITTED');
    const shown = await read(subscribe(client, second.id), ({ kinds }) => {
      if (kinds.length !== 1) return;
      model.end();
      model.say('Second');
      model.end();
    });
    expect(shown.task).toEqual(second);
    expect(shown.kinds.slice(0, 2)).toEqual(['task', 'TASK_STATE_WORKING']);
    expect(lastText(shown)).toBe('Second');
    expect(textOf(await getTask(client, first.id))).toBe('First');
  });
});

describe('a client that disconnects', () => {
  test('does not end the task, and can subscribe to the rest', async () => {
    const { model, server, client } = await dictated();
    model.say('One ');
    const left = await read(stream(client, 'count', { contextId: 'left' }), (_, piece) =>
      piece === 'One ' ? 'stop' : undefined,
    );
    const id = left.task?.id ?? '';
    model.say('two ');
    const shown = await read(subscribe(client, id), ({ kinds }) => {
      if (kinds.length !== 1) return;
      model.say('three');
      model.end();
    });
    expect((shown.task ? textOf(shown.task) : '') + lastText(shown)).toBe('One two three');
    expect((await durableOf(server, 'left')).map(({ type }) => type)).not.toContain('turn.cancelled');
  });

  test('while it waits for a task does not end it either', async () => {
    const { model, server, client } = await dictated();
    model.say('One ');
    const stop = new AbortController();
    const request = requestOf(messageOf('count', { contextId: 'left', messageId: 'mine' }));
    await postJson(`${server.http}/v1/sessions/left/commands`, { type: 'session.create' });
    const waits = failure(client.sendMessage(request, { signal: stop.signal }));
    await followed(server, 'left', ended('turn.started'));
    stop.abort();
    await waits;
    model.end();
    const again = (await client.sendMessage(request)) as Task;
    expect([stateOf(again), textOf(again)]).toEqual(['TASK_STATE_COMPLETED', 'One ']);
  });
});

describe('CancelTask', () => {
  test('ends the turn and the model request; the text so far is kept', async () => {
    const { model, client } = await answering({ say: 'Half an answer ', after: 'silence' });
    let cancelled: Task | null = null;
    const shown = await read(stream(client, 'hello'), async (so, piece) => {
      const isSaid = piece !== null && lastText(so) === 'Half an answer ';
      if (so.task && isSaid) cancelled ??= await cancelTask(client, so.task.id);
    });
    await model.aborted;
    expect(shown.kinds.at(-1)).toBe('TASK_STATE_CANCELED');
    const task = await getTask(client, shown.task?.id ?? '');
    expect(task).toEqual(cancelled as never);
    expect([stateOf(task), textOf(task)]).toEqual(['TASK_STATE_CANCELED', 'Half an answer ']);
    expect(await failure(cancelTask(client, task.id))).toMatchObject({
      name: 'TaskNotCancelableError',
      envelopeCode: -32002,
    });
  });

  test('of a queued task ends only that task', async () => {
    const { model, client } = await dictated();
    model.say('First');
    const first = await sendAtOnce(client, 'one', { contextId: 'queue' });
    const second = await sendAtOnce(client, 'two', { contextId: 'queue' });
    expect(stateOf(await cancelTask(client, second.id))).toBe('TASK_STATE_CANCELED');
    expect(stateOf(await getTask(client, first.id))).toBe('TASK_STATE_WORKING');
    model.end();
    await read(subscribe(client, first.id)).catch(() => undefined);
    expect(stateOf(await getTask(client, first.id))).toBe('TASK_STATE_COMPLETED');
    expect(stateOf(await getTask(client, second.id))).toBe('TASK_STATE_CANCELED');
  });

  test('of a task that waits for an approval ends it', async () => {
    const { client } = await answering({ call: 'shell', input: { command: ['touch', 'a.txt'] } });
    const { id } = await send(client, 'touch it');
    expect(stateOf(await cancelTask(client, id))).toBe('TASK_STATE_CANCELED');
    expect(await failure(send(client, 'yes', { taskId: id }))).toMatchObject({ envelopeCode: -32004 });
  });
});

test('an interrupted answer that is retried continues in a new artifact', async () => {
  const { client } = await answering({ say: 'One thing ', after: 'cut' }, { say: 'Another thing.' });
  const shown = await read(stream(client, 'hello'));
  expect([...shown.pieces.values()].map((pieces) => pieces.join(''))).toEqual([
    'One thing ',
    'Another thing.',
  ]);
  const task = await getTask(client, shown.task?.id ?? '');
  expect(textOf(task)).toBe('Another thing.');
  expect(task.artifacts[0]?.artifactId).toBe([...shown.pieces.keys()][1] ?? '');
});

test('a message that supersedes a task cancels it', async () => {
  const { model, server, client } = await dictated();
  model.say('First ');
  const shown = await read(stream(client, 'one', { contextId: 'replaced' }), async (_, piece) => {
    if (piece !== 'First ') return;
    const parts = [{ type: 'text', text: 'two' }];
    const command = { type: 'input.submit', mode: 'supersede', parts };
    await postJson(`${server.http}/v1/sessions/replaced/commands`, command);
  });
  expect(shown.kinds.at(-1)).toBe('TASK_STATE_CANCELED');
});

test('deleting a session ends the streams of its tasks, which are then not found', async () => {
  const { model, server, client } = await dictated();
  model.say('First ');
  const shown = await read(stream(client, 'one', { contextId: 'deleted' }), async (_, piece) => {
    if (piece === 'First ') await fetch(`${server.http}/v1/sessions/deleted`, { method: 'DELETE' });
  });
  expect(shown.kinds.at(-1)).toBe('TASK_STATE_CANCELED');
  expect(await failure(getTask(client, shown.task?.id ?? ''))).toMatchObject({ envelopeCode: -32001 });
});

test('after a kill the task continues under the same id', async () => {
  const model = dictatedModel();
  later(model.stop);
  const folder = mkdtempSync(join(tmpdir(), 'parlance-a2a-'));
  later(() => rmSync(folder, { recursive: true, force: true }));
  const before = await startProcess(folder, model.settings);
  const client = await connect(before.http);
  const done = await (async () => {
    model.say('Whole.');
    model.end();
    return send(client, 'first', { contextId: 'killed', messageId: 'm1' });
  })();
  model.say('Half ');
  let id = '';
  const broken = await failure(
    read(stream(client, 'second', { contextId: 'killed', messageId: 'm2' }), async ({ task }, piece) => {
      if (piece !== 'Half ') return;
      id = task?.id ?? '';
      await before.kill();
    }),
  );
  expect(broken === null || broken instanceof Error).toBeTrue();

  const after = await startProcess(folder, model.settings);
  later(() => after.kill());
  const again = await connect(after.http);
  expect(await getTask(again, done.id)).toEqual(done);
  const shown = await read(subscribe(again, id), ({ kinds }) => {
    if (kinds.length !== 1) return;
    model.say('A whole answer.');
    model.end();
  });
  expect(shown.kinds.at(-1)).toBe('TASK_STATE_COMPLETED');
  const task = await getTask(again, id);
  expect((shown.task ? textOf(shown.task) : '') + lastText(shown)).toBe(textOf(task));
  expect(textOf(task)).toBe('A whole answer.');
  expect(await send(again, 'second', { contextId: 'killed', messageId: 'm2' })).toEqual(task);
  const started = (await durableOf(after, 'killed')).filter(({ type }) => type === 'turn.started');
  expect(started).toHaveLength(2);
});

test('after a kill an approval is still pending, and can be answered', async () => {
  const { settings } = await answering(
    { call: 'shell', input: { command: ['touch', 'a.txt'] } },
    { say: 'Done.' },
  );
  const folder = mkdtempSync(join(tmpdir(), 'parlance-a2a-'));
  later(() => rmSync(folder, { recursive: true, force: true }));
  const before = await startProcess(folder, settings);
  const task = await send(await connect(before.http), 'touch it');
  await before.kill();
  const after = await startProcess(folder, settings);
  later(() => after.kill());
  const client = await connect(after.http);
  expect(await getTask(client, task.id)).toEqual(task);
  const finished = await send(client, 'yes', { taskId: task.id, contextId: task.contextId });
  expect([finished.id, stateOf(finished), textOf(finished)]).toEqual([
    task.id,
    'TASK_STATE_COMPLETED',
    'Done.',
  ]);
});
