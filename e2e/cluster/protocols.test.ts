/**
 * Clients of `openai`, `anthropic`, `aisdk`, `agui` and `a2a` on three nodes: a turn of one node is streamed on
 * another, resumed on a third, and approved and cancelled on any of them. The test controls the model.
 */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type OpenAI from 'openai';
import * as a2a from '../a2a/client.ts';
import * as agui from '../agui/client.ts';
import { isComplete, says } from '../aisdk/calling-model.ts';
import { chatWith, historyOf, serverCalls, textOf, textsOf } from '../aisdk/client.ts';
import { shows, stop } from '../aisdk/turns.ts';
import { anthropicClient, failure, sessionOf, textIn } from '../anthropic/client.ts';
import { openaiClient } from '../openai/client.ts';
import { type DictatedModel, dictatedModel } from '../scripted-model.ts';
import { durableOf, followed, getJson, postJson } from '../server-process.ts';
import { type Cluster, LONG_LEASE, missing, startCluster, type ThreeNodes } from './nodes.ts';

const has =
  (type: string) =>
  (events: readonly { readonly type: string }[]): boolean =>
    events.some((event) => event.type === type);

describe.skipIf(missing !== null)(`three nodes${missing ? ` (not here: ${missing})` : ''}`, () => {
  let cluster: Cluster;
  let model: DictatedModel;
  let nodes: ThreeNodes;
  let [one, two, three] = ['', '', ''];
  agui.failOnWarnings();
  beforeAll(async () => {
    model = dictatedModel();
    cluster = await startCluster({ ...LONG_LEASE, ...model.settings });
    nodes = await cluster.startThree();
    [one = '', two = '', three = ''] = nodes.map(({ http }) => http);
  });
  afterEach(() => model.idle());
  afterAll(async () => {
    model?.stop();
    await cluster?.stop();
  });

  const touch = (file: string) => model.call('shell', { command: ['touch', file] });
  const exists = (file: string) => existsSync(join(cluster.folder, file));
  const ran = async (session: string, type: string): Promise<number> =>
    (await durableOf(nodes[1], session)).filter((event) => event.type === type).length;
  const cancelAt = (http: string, session: string) =>
    postJson(`${http}/v1/sessions/${session}/commands`, { type: 'turn.cancel' });
  const finish = (text: string) => {
    model.say(text);
    model.end();
  };

  describe('openai', () => {
    const hello = { model: 'parlance', input: 'hello' };
    type Event = OpenAI.Responses.ResponseStreamEvent;
    const deltasIn = (events: readonly Event[]): string =>
      events.flatMap((event) => (event.type === 'response.output_text.delta' ? [event.delta] : [])).join('');

    test('a response started on one node is read on another, and continued on a third', async () => {
      const begun = await openaiClient(one).responses.create({ ...hello, background: true });
      model.say('One two ');
      const seen: Event[] = [];
      const stream = await openaiClient(two).responses.retrieve(begun.id, { stream: true });
      for await (const event of stream) {
        seen.push(event);
        if (deltasIn(seen) === 'One two ') break;
      }
      const after = { stream: true, starting_after: seen.at(-1)?.sequence_number ?? 0 } as const;
      const rest = await openaiClient(three).responses.retrieve(begun.id, after);
      finish('three');
      for await (const event of rest) seen.push(event);
      expect(seen.map(({ sequence_number }) => sequence_number)).toEqual(seen.map((_, index) => index));
      expect(deltasIn(seen)).toBe('One two three');
      expect((await openaiClient(two).responses.retrieve(begun.id)).output_text).toBe('One two three');
    });

    test('a response is cancelled on another node, and its reader on a third is notified', async () => {
      const begun = await openaiClient(one).responses.create({ ...hello, background: true });
      model.say('Half ');
      const stream = await openaiClient(two).responses.retrieve(begun.id, { stream: true });
      const seen: Event[] = [];
      for await (const event of stream) {
        seen.push(event);
        if (event.type !== 'response.output_text.delta') continue;
        expect(await openaiClient(three).responses.cancel(begun.id)).toMatchObject({ status: 'cancelled' });
      }
      expect(deltasIn(seen)).toBe('Half ');
      expect((await openaiClient(one).responses.retrieve(begun.id)).status).toBe('cancelled');
    });

    test('an approval requested on one node is answered on another, once', async () => {
      touch('openai.txt');
      const asked = await openaiClient(one).responses.create(hello);
      const request = asked.output.at(-1);
      if (request?.type !== 'mcp_approval_request') throw new Error(`the last item is ${request?.type}`);
      const reply = {
        type: 'mcp_approval_response',
        approval_request_id: request.id,
        approve: true,
      } as const;
      const more = { ...hello, previous_response_id: asked.id, input: [reply] };
      finish('Done.');
      const done = await openaiClient(two).responses.create(more);
      expect(done.output_text).toBe('Done.');
      expect(exists('openai.txt')).toBeTrue();
      expect(await failure(openaiClient(three).responses.create(more))).toMatchObject({ status: 400 });
    });

    test('a chat continues on another node in the same session', async () => {
      const session = 'openai-chat';
      const ask = (http: string, messages: OpenAI.ChatCompletionMessageParam[]) =>
        openaiClient(http, { session }).chat.completions.create({ model: 'parlance', messages });
      finish('Yes.');
      const { choices } = await ask(one, [{ role: 'user', content: 'hello' }]);
      const answer = { role: 'assistant', content: choices[0]?.message.content ?? '' } as const;
      finish('Again.');
      await ask(two, [{ role: 'user', content: 'hello' }, answer, { role: 'user', content: 'more' }]);
      expect(await ran(session, 'turn.started')).toBe(2);
      expect(await ran(session, 'history.imported')).toBe(0);
    });
  });

  describe('anthropic', () => {
    const PARAMS = { model: 'parlance', max_tokens: 100, betas: ['message-threads-2026-08-12'] };
    const user = (content: string) => ({ role: 'user' as const, content });
    const create = (http: string, content: string) =>
      anthropicClient(http)
        .beta.messages.create({ ...PARAMS, messages: [user(content)], thread: { type: 'create' } })
        .withResponse();
    const continueFrom = (http: string, previous: string, content: string) => {
      const thread = { type: 'continue', previous_message_id: previous } as const;
      return anthropicClient(http)
        .beta.messages.create({ ...PARAMS, messages: [user(content)], thread })
        .withResponse();
    };

    test('a stream on one node is visible on another, and ends when it is cancelled on a third', async () => {
      const session = 'anthropic-stream';
      const stream = anthropicClient(one, { session }).beta.messages.stream({
        ...PARAMS,
        messages: [user('hello')],
      });
      const ended = stream.done().catch(() => undefined);
      model.say('Half ');
      await new Promise((resolve) => stream.on('text', resolve));
      const watched = followed(nodes[1], session, has('turn.cancelled'));
      await cancelAt(three, session);
      await ended;
      expect((await watched).find(({ type }) => type === 'text.ended')).toMatchObject({
        text: 'Half ',
        interrupted: true,
      });
    });

    test('a thread continues on another node', async () => {
      finish('Yes.');
      const { data, response } = await create(one, 'hello');
      finish('More.');
      const next = await continueFrom(two, data.id, 'more');
      expect(textIn(next.data)).toBe('More.');
      expect(sessionOf(next.response)).toBe(sessionOf(response));
      const late = await failure(continueFrom(three, data.id, 'late'));
      expect(late).toMatchObject({ errorCode: 'thread_already_continued' });
    });

    test('one of two requests that continue the same answer on two nodes is refused', async () => {
      finish('Yes.');
      const { data, response } = await create(one, 'hello');
      const both = [two, three].map((http) => failure(continueFrom(http, data.id, 'more')));
      finish('More.');
      const refused = (await Promise.all(both)).filter((outcome) => outcome !== null);
      expect(refused).toHaveLength(1);
      expect(await ran(sessionOf(response), 'turn.started')).toBe(2);
    });
  });

  describe('aisdk', () => {
    test('a stream on one node is resumed on another, and stopped on a third', async () => {
      const id = 'aisdk-stream';
      const chat = chatWith({ server: { http: one }, id });
      const sent = chat.sendMessage({ text: 'hello' });
      model.say('One ');
      await shows(chat, 'One ');
      const reloaded = chatWith({ server: { http: two }, id, messages: await historyOf(two, id) });
      const resumed = reloaded.resumeStream();
      model.say('two ');
      await Promise.all([shows(chat, 'One two '), shows(reloaded, 'One two ')]);
      expect((await stop(three, id)).ok).toBeTrue();
      await Promise.all([sent, resumed]);
      expect(textsOf({ messages: await historyOf(two, id) })).toEqual(['user: hello', 'assistant: One two ']);
    });

    test('an approval requested on one node is answered on another', async () => {
      const id = 'aisdk-approval';
      touch('aisdk.txt');
      await chatWith({ server: { http: one }, id }).sendMessage({ text: 'make it' });
      const messages = await historyOf(two, id);
      const chat = chatWith({ server: { http: two }, id, messages, sendAutomaticallyWhen: isComplete });
      finish('Done.');
      await chat.addToolApprovalResponse({ id: serverCalls(chat)[0]?.approval?.id ?? '', approved: true });
      await says(chat, 'Done.');
      expect(exists('aisdk.txt')).toBeTrue();
      expect(textOf((await historyOf(three, id)).at(-1))).toBe('Done.');
    });
  });

  describe('agui', () => {
    test('a message sent to two nodes is one turn on both, until a third cancels it', async () => {
      const messages = [agui.user('hello', 'the-message')];
      const runs = [one, two].map((http) => {
        const agent = agui.httpAgent(http, { thread: 'agui-stream', messages: [...messages] });
        const begun = Promise.withResolvers<void>();
        const onEvent = ({ type }: agui.Event) => type === 'TEXT_MESSAGE_CONTENT' && begun.resolve();
        return { agent, begun: begun.promise, ran: agui.run(agent, null, { onEvent }) };
      });
      model.say('Half ');
      await Promise.all(runs.map(({ begun }) => begun));
      await cancelAt(three, 'agui-stream');
      for (const { agent, ran: run } of runs) {
        expect((await run).outcome).toEqual({ type: 'cancelled' });
        expect(agui.contentOf(agent.messages, 'assistant')).toEqual(['Half ']);
      }
      expect(await ran('agui-stream', 'turn.started')).toBe(1);
    });

    test('an interrupt of one node is resolved on another', async () => {
      const thread = 'agui-approval';
      touch('agui.txt');
      const { outcome } = await agui.run(agui.httpAgent(one, { thread }), 'make it');
      const interruptId = outcome?.interrupts?.[0]?.id ?? '';
      const payload = { approved: true };
      const agent = agui.httpAgent(two, { thread });
      finish('Done.');
      await agui.run(agent, null, { resume: [{ interruptId, status: 'resolved', payload }] });
      expect(agui.contentOf(agent.messages, 'assistant').at(-1)).toBe('Done.');
      expect(exists('agui.txt')).toBeTrue();
      const third = agui.httpAgent(three, { thread });
      await agui.run(third, null);
      // The second client has not received the message of the first.
      expect(third.messages.slice(1)).toEqual(agent.messages);
    });
  });

  describe('a2a', () => {
    test('a task of one node is followed on another, and cancelled on a third', async () => {
      const [client, follower, other] = await Promise.all([one, two, three].map((http) => a2a.connect(http)));
      if (!client || !follower || !other) throw new Error('no clients');
      const task = await a2a.sendAtOnce(client, 'hello');
      model.say('One ');
      const textIn = (so: a2a.Shown) => (so.task ? a2a.textOf(so.task) : '') + a2a.lastText(so);
      const shown = await a2a.read(a2a.subscribe(follower, task.id), async (so, piece) => {
        if (so.kinds.length === 1) model.say('two ');
        if (piece === 'two ') await a2a.cancelTask(other, task.id);
      });
      expect(shown.kinds.at(-1)).toBe('TASK_STATE_CANCELED');
      expect(textIn(shown)).toBe('One two ');
      expect(a2a.textOf(await a2a.getTask(other, task.id))).toBe('One two ');
    });

    test('a task that waits on one node is answered on another', async () => {
      const [client, other] = await Promise.all([one, two].map((http) => a2a.connect(http)));
      if (!client || !other) throw new Error('no clients');
      touch('a2a.txt');
      const task = await a2a.send(client, 'make it');
      expect(a2a.stateOf(task)).toBe('TASK_STATE_INPUT_REQUIRED');
      const { approvals } = await getJson<{ approvals: unknown[] }>(`${three}/v1/approvals`);
      expect(approvals).toHaveLength(1);
      finish('Done.');
      const done = await a2a.send(other, 'yes', { taskId: task.id });
      expect([a2a.stateOf(done), a2a.textOf(done)]).toEqual(['TASK_STATE_COMPLETED', 'Done.']);
      expect(exists('a2a.txt')).toBeTrue();
    });
  });
});
