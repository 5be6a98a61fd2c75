/** The turn of a run: streams, disconnects, watching it while it runs, and cancellation by other clients. */
import { afterEach, describe, expect, test } from 'bun:test';
import { until } from '../../packages/server/src/testing/until.ts';
import type { Answer } from '../scripted-model.ts';
import { durableOf, followed, type Target } from '../server-process.ts';
import { contentOf, distinct, type Event, failOnWarnings, httpAgent, run, user } from './client.ts';
import { answering, cancel, cleanUp, dictated, ends, seen } from './setup.ts';

failOnWarnings();
afterEach(cleanUp);

test('text is streamed while the model writes it', async () => {
  const { model, server } = await dictated();
  const pieces: string[] = [];
  model.say('One ');
  const { newMessages } = await run(httpAgent(server.http), 'count', {
    onEvent: ({ type, delta }) => {
      if (type !== 'TEXT_MESSAGE_CONTENT') return;
      pieces.push(String(delta));
      if (delta === 'One ') model.say('two ');
      if (delta !== 'two ') return;
      model.say('three');
      model.end();
    },
  });
  expect(pieces).toEqual(['One ', 'two ', 'three']);
  expect(contentOf(newMessages, 'assistant')).toEqual(['One two three']);
});

describe('abortRun', () => {
  test('while an answer is streamed ends the turn and the model request; the text so far is kept', async () => {
    const { model, server } = await answering(
      { say: 'Half an answer ', after: 'silence' },
      { say: 'Whole.' },
    );
    const agent = httpAgent(server.http);
    const { promise, onEvent } = seen('TEXT_MESSAGE_CONTENT');
    const ran = run(agent, 'hello', { onEvent });
    await promise;
    agent.abortRun();
    await ran;
    await model.aborted;
    const events = await followed(server, agent.threadId, ends('turn.cancelled'));
    expect(events.find(({ type }) => type === 'text.ended')).toMatchObject({ interrupted: true });
    // The thread continues, and the client and the log have the same messages.
    await run(agent, 'again');
    expect(contentOf(agent.messages, 'assistant')).toEqual(['Half an answer ', 'Whole.']);
    const before = structuredClone(agent.messages);
    await run(agent, null);
    expect(agent.messages).toEqual(before);
  });

  test('of a queued run withdraws its message', async () => {
    const { model, server } = await dictated();
    const first = httpAgent(server.http, { thread: 'shared' });
    const started = seen('TEXT_MESSAGE_CONTENT');
    model.say('One ');
    const ran = run(first, 'first', { onEvent: started.onEvent });
    await started.promise;
    const second = httpAgent(server.http, { thread: 'shared' });
    const waits = seen('RUN_STARTED');
    const waiting = run(second, 'second', { onEvent: waits.onEvent });
    await waits.promise;
    second.abortRun();
    await waiting;
    await followed(server, 'shared', ends('input.cancelled'));
    model.say('two.');
    model.end();
    expect((await ran).outcome).toEqual({ type: 'success' });
    const types = (await durableOf(server, 'shared')).map(({ type }) => type);
    expect(types.filter((type) => type === 'turn.started')).toHaveLength(1);
  });

  test('of a client without a message does not end the turn', async () => {
    const { model, server } = await dictated();
    const agent = httpAgent(server.http);
    const started = seen('TEXT_MESSAGE_CONTENT');
    model.say('One ');
    const ran = run(agent, 'hello', { onEvent: started.onEvent });
    await started.promise;
    const watcher = httpAgent(server.http, { thread: agent.threadId });
    const shown = seen('TEXT_MESSAGE_CONTENT');
    const looked = run(watcher, null, { onEvent: shown.onEvent });
    await shown.promise;
    watcher.abortRun();
    await looked;
    model.say('two.');
    model.end();
    expect((await ran).outcome).toEqual({ type: 'success' });
  });
});

describe('watching a thread while a turn runs', () => {
  test('shows the text so far, then the rest, and ends like the turn', async () => {
    const { model, server } = await dictated();
    const agent = httpAgent(server.http);
    const started = seen('TEXT_MESSAGE_CONTENT');
    model.think('Hm.');
    model.say('One ');
    const ran = run(agent, 'hello', { onEvent: started.onEvent });
    await started.promise;
    const watcher = httpAgent(server.http, { thread: agent.threadId });
    const shown = seen('TEXT_MESSAGE_CONTENT');
    const looked = run(watcher, null, { onEvent: shown.onEvent });
    expect(await shown.promise).toMatchObject({ delta: 'One ' });
    model.say('two.');
    model.end();
    const [first, second] = await Promise.all([ran, looked]);
    expect(distinct(second.types)).toEqual([
      'RUN_STARTED',
      'MESSAGES_SNAPSHOT',
      'TEXT_MESSAGE_START',
      'TEXT_MESSAGE_CONTENT',
      'TEXT_MESSAGE_END',
      'RUN_FINISHED',
    ]);
    expect(second.outcome).toEqual(first.outcome as never);
    expect(watcher.messages).toEqual(agent.messages);
  });
});

describe('a turn that another client cancels', () => {
  test('ends the run with the outcome cancelled, and everything closed', async () => {
    const { model, server } = await dictated();
    const agent = httpAgent(server.http);
    const started = seen('TEXT_MESSAGE_CONTENT');
    model.say('Half ');
    const ran = run(agent, 'hello', { onEvent: started.onEvent });
    await started.promise;
    await cancel(server, agent.threadId);
    const { outcome, types } = await ran;
    expect(outcome).toEqual({ type: 'cancelled' });
    expect(types.slice(-2)).toEqual(['TEXT_MESSAGE_END', 'RUN_FINISHED']);
    expect(types).not.toContain('RUN_ERROR');
  });

  test('while it waits for approval: a late resume shows that it was cancelled', async () => {
    const { server } = await answering({ call: 'shell', input: { command: ['touch', 'a.txt'] } });
    const agent = httpAgent(server.http);
    const { outcome } = await run(agent, 'go');
    await cancel(server, agent.threadId);
    const id = outcome?.interrupts?.[0]?.id ?? '';
    const late = await run(agent, null, {
      resume: [{ interruptId: id, status: 'resolved', payload: { approved: true } }],
    });
    expect(late.outcome).toEqual({ type: 'cancelled' });
    expect(contentOf(agent.messages, 'tool')).toEqual(['aborted']);
  });
});

describe('a client before 1.0, which declares no version', () => {
  const post = async (server: Target, input: object): Promise<Event[]> => {
    const response = await fetch(`${server.http}/agui`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ runId: 'r', ...input }),
    });
    const frames = (await response.text()).split('\n\n').filter((frame) => frame.startsWith('data: '));
    return frames.map((frame) => JSON.parse(frame.slice('data: '.length)));
  };

  test('receives no unknown outcomes or fields', async () => {
    const half: Answer = { say: 'Half ', after: 'silence' };
    const { server, model } = await answering({ call: 'weather', input: {} }, half);
    const tools = [{ name: 'weather', description: '' }];
    const called = await post(server, { threadId: 'old', messages: [user('go')], tools });
    expect(called.at(-1)).toMatchObject({ type: 'RUN_FINISHED', outcome: { type: 'success' } });
    expect(called.at(-1)?.outcome).toEqual({ type: 'success' });
    const asked = post(server, { threadId: 'cancelled', messages: [user('go')] });
    await until(() => model.requests.length >= 2);
    await cancel(server, 'cancelled');
    expect((await asked).at(-1)).toEqual({ type: 'RUN_FINISHED', threadId: 'cancelled', runId: 'r' });
  });
});

test('an erased session ends its run, once', async () => {
  const { model, server } = await dictated();
  const agent = httpAgent(server.http);
  const started = seen('TEXT_MESSAGE_CONTENT');
  model.say('Half ');
  const ran = run(agent, 'hello', { onEvent: started.onEvent });
  await started.promise;
  await fetch(`${server.http}/v1/sessions/${agent.threadId}`, { method: 'DELETE' });
  const { types } = await ran;
  // The turn is cancelled before the session is erased.
  expect(['RUN_ERROR', 'RUN_FINISHED']).toContain(String(types.at(-1)));
  expect(types.filter((type) => type.startsWith('RUN_'))).toHaveLength(2);
});
