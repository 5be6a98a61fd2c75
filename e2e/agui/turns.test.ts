/** What happens to the turn behind a run: streams, hang-ups, looks while it runs, answers that break off, and kills. */
import { afterEach, beforeAll, describe, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Message } from '@ag-ui/client';
import { startTestServer, type TestServer } from '../../packages/server/src/testing/server.ts';
import { dictatedModel } from '../dictated-model.ts';
import { type Answer, fakeModel } from '../fake-model.ts';
import { durableOf, followed, postJson, startProcess, type Where } from '../server-process.ts';
import {
  contentOf,
  distinct,
  type Event,
  expectNoComplaints,
  httpAgent,
  run,
  user,
  watchComplaints,
} from './client.ts';

const cleanups: (() => unknown)[] = [];
beforeAll(watchComplaints);
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
  expectNoComplaints();
});

async function serverOf(settings: Record<string, string>): Promise<TestServer> {
  const server = await startTestServer(settings);
  cleanups.push(() => server.stop());
  return server;
}

/** A server with a model that gives these answers, one after another. */
async function answering(...answers: Answer[]) {
  const model = fakeModel((_, count) => answers[count - 1] ?? { say: 'No more.' });
  cleanups.push(model.stop);
  const settings = { OPENAI_BASE_URL: model.url, OPENAI_API_KEY: 'key', MODEL: 'fake' };
  return { model, settings, server: await serverOf(settings) };
}

async function dictated() {
  const model = dictatedModel();
  cleanups.push(model.stop);
  return { model, server: await serverOf(model.settings) };
}

const ends =
  (...types: string[]) =>
  (events: readonly { readonly type: string }[]) =>
    events.some(({ type }) => types.includes(type));

const cancel = (server: Where, session: string) =>
  postJson(`${server.http}/v1/sessions/${session}/commands`, { type: 'turn.cancel' });

/** Resolves with the first event of that type. */
function seen(type: string): { readonly promise: Promise<Event>; readonly onEvent: (event: Event) => void } {
  const { promise, resolve } = Promise.withResolvers<Event>();
  return { promise, onEvent: (event) => event.type === type && resolve(event) };
}

test('text is streamed piece by piece, as the model speaks', async () => {
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
  test('while an answer is streamed ends the turn and the request to the model; what was said is kept', async () => {
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
    // The thread goes on, and the client and the log agree on what was said.
    await run(agent, 'again');
    expect(contentOf(agent.messages, 'assistant')).toEqual(['Half an answer ', 'Whole.']);
    const before = structuredClone(agent.messages);
    await run(agent, null);
    expect(agent.messages).toEqual(before);
  });

  test('while arguments of a call are written leaves nothing that the next run stumbles over', async () => {
    const { model, server } = await dictated();
    const agent = httpAgent(server.http);
    const { promise, onEvent } = seen('REASONING_MESSAGE_CONTENT');
    model.think('Hm ');
    const ran = run(agent, 'hello', { onEvent });
    await promise;
    agent.abortRun();
    await ran;
    await followed(server, agent.threadId, ends('turn.cancelled'));
    model.say('Done.');
    model.end();
    expect(contentOf((await run(agent, 'again')).newMessages, 'assistant')).toEqual(['Done.']);
  });

  test('of a run that waits for another takes its message back', async () => {
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

  test('of a look ends nothing', async () => {
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

describe('a look while a turn runs', () => {
  test('shows what was said so far, then what follows, and ends as the turn does', async () => {
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
  const post = async (server: Where, input: object): Promise<Event[]> => {
    const response = await fetch(`${server.http}/agui`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ runId: 'r', ...input }),
    });
    const frames = (await response.text()).split('\n\n').filter((frame) => frame.startsWith('data: '));
    return frames.map((frame) => JSON.parse(frame.slice('data: '.length)));
  };

  test('is sent no outcome and no field that it does not know', async () => {
    const half: Answer = { say: 'Half ', after: 'silence' };
    const { server, model } = await answering({ call: 'weather', input: {} }, half);
    const tools = [{ name: 'weather', description: '' }];
    const called = await post(server, { threadId: 'old', messages: [user('go')], tools });
    expect(called.at(-1)).toMatchObject({ type: 'RUN_FINISHED', outcome: { type: 'success' } });
    expect(called.at(-1)?.outcome).toEqual({ type: 'success' });
    const asked = post(server, { threadId: 'cancelled', messages: [user('go')] });
    while (model.requests.length < 2) await Bun.sleep(20);
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
  // The turn is cancelled before the session is gone.
  expect(['RUN_ERROR', 'RUN_FINISHED']).toContain(String(types.at(-1)));
  expect(types.filter((type) => type.startsWith('RUN_'))).toHaveLength(2);
});

test('an answer that breaks off is taken back by a snapshot, and the new one has another id', async () => {
  const { server } = await answering(
    { say: 'First.' },
    { say: 'One thing ', after: 'cut' },
    { say: 'Another thing.' },
  );
  const agent = httpAgent(server.http, { messages: [{ id: 's', role: 'system', content: 'Be brief.' }] });
  await run(agent, 'hello');
  const { events, newMessages } = await run(agent, 'again');
  const shown = events.filter(({ type }) => type === 'TEXT_MESSAGE_START').map(({ messageId }) => messageId);
  expect(new Set(shown).size).toBe(shown.length);
  // Whether the broken one was shown before it broke off depends on the moment: if so, it was taken back.
  const snapshots = events.filter(({ type }) => type === 'MESSAGES_SNAPSHOT');
  expect(snapshots).toHaveLength(shown.length - 1);
  expect(contentOf(newMessages, 'assistant')).toEqual(['Another thing.']);
  expect(agent.messages.map(({ role }) => role)).toEqual([
    'system',
    'user',
    'assistant',
    'user',
    'assistant',
  ]);
});

/** The message of the assistant as far as its first piece. */
async function firstPiece(server: Where, input: object): Promise<Message> {
  const response = await fetch(`${server.http}/agui`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(input),
  });
  const decoder = new TextDecoder();
  let text = '';
  for await (const chunk of response.body ?? []) {
    text += decoder.decode(chunk, { stream: true });
    const [, id, content] = text.match(/_CONTENT","messageId":"([^"]+)","delta":"([^"]+)"/) ?? [];
    if (id !== undefined && content !== undefined) return { id, role: 'assistant', content };
  }
  throw new Error(`no text came: ${text}`);
}

describe('after a kill of the server', () => {
  async function folderOf(settings: Record<string, string>) {
    const folder = mkdtempSync(join(tmpdir(), 'parlance-agui-'));
    cleanups.push(() => rmSync(folder, { recursive: true, force: true }));
    return () => startProcess(folder, settings);
  }

  test('the interrupt still waits, under the same id; a look and a resume go on from there', async () => {
    const model = fakeModel(({ messages }) =>
      messages.at(-1)?.role === 'tool'
        ? { say: 'Done.' }
        : { call: 'shell', input: { command: ['touch', 'a.txt'] } },
    );
    cleanups.push(model.stop);
    const start = await folderOf({ OPENAI_BASE_URL: model.url, OPENAI_API_KEY: 'key', MODEL: 'fake' });
    const first = await start();
    const agent = httpAgent(first.http);
    const { outcome } = await run(agent, 'go');
    await first.kill();

    const second = await start();
    cleanups.push(() => second.kill());
    const fresh = httpAgent(second.http, { thread: agent.threadId });
    const looked = await run(fresh, null);
    expect(looked.outcome).toEqual(outcome as never);
    expect(fresh.messages).toEqual(agent.messages);
    agent.url = `${second.http}/agui`;
    const id = outcome?.interrupts?.[0]?.id ?? '';
    const resume = [{ interruptId: id, status: 'resolved' as const, payload: { approved: true } }];
    expect((await run(agent, null, { resume })).outcome).toEqual({ type: 'success' });
    expect(contentOf(agent.messages, 'assistant').at(-1)).toBe('Done.');
    await run(httpAgent(second.http, { thread: agent.threadId }), null);
  }, 60_000);

  test('in the middle of an answer: the same message again is the same turn, and nothing is doubled', async () => {
    const answers: Answer[] = [{ say: 'Half an answer ', after: 'silence' }, { say: 'A whole answer.' }];
    const model = fakeModel((_, count) => answers[count - 1] ?? { say: 'No more.' });
    cleanups.push(model.stop);
    const start = await folderOf({ OPENAI_BASE_URL: model.url, OPENAI_API_KEY: 'key', MODEL: 'fake' });
    const first = await start();
    const message = user('hello', 'the-message');
    const half = await firstPiece(first, { threadId: 'killed', runId: 'r', messages: [message] });
    await first.kill();

    const second = await start();
    cleanups.push(() => second.kill());
    const retried = httpAgent(second.http, { thread: 'killed', messages: [message] });
    expect((await run(retried, null)).outcome).toEqual({ type: 'success' });
    expect(contentOf(retried.messages, 'assistant')).toEqual(['A whole answer.']);
    // The client that still has half an answer is put right by a look.
    const agent = httpAgent(second.http, { thread: 'killed', messages: [message, half] });
    await run(agent, null);
    expect(agent.messages).toEqual(retried.messages);
    const types = (await durableOf(second, 'killed')).map(({ type }) => type);
    expect(types.filter((type) => type === 'turn.started')).toHaveLength(1);
  }, 60_000);
});
