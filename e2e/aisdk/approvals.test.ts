/** Approvals of tools of the server. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { startTestServer, type TestServer } from '../../packages/server/src/testing/server.ts';
import { until } from '../../packages/server/src/testing/until.ts';
import { type ScriptedModel, scriptedModel } from '../scripted-model.ts';
import { durableOf, followed, getJson, postJson } from '../server-process.ts';
import { callsOf, isComplete, ready, says, transport } from './calling-model.ts';
import {
  chatWith,
  chunksOf,
  historyOf,
  idOf,
  post,
  serverCalls,
  shown,
  stateTypes,
  textOf,
  typesOf,
  userMessage,
} from './client.ts';

let model: ScriptedModel;
let server: TestServer;
let count = 0;
let id: string;

beforeAll(async () => {
  model = scriptedModel(callsOf);
  server = await startTestServer({
    OPENAI_BASE_URL: model.url,
    OPENAI_API_KEY: 'key',
    MODEL: 'fake',
    PARLANCE_API_REQUESTS_PER_MINUTE: '100000',
  });
});
afterAll(async () => {
  await server.stop();
  model.stop();
});
beforeEach(() => {
  id = `approval-${++count}`;
});

const eventsOf = (session: string, type: string) =>
  durableOf(server, session).then((events) => events.filter((event) => event.type === type));

describe('an approval', () => {
  const asking = async (text: string, more: Partial<Parameters<typeof chatWith>[0]> = {}) => {
    const chat = chatWith({ server, id, sendAutomaticallyWhen: isComplete, ...more });
    await chat.sendMessage({ text });
    const approvals = serverCalls(chat).flatMap(({ approval }) => (approval ? [approval.id] : []));
    return { chat, approvals };
  };

  test('is requested in the stream, and its answer continues the same message', async () => {
    const { chat, approvals } = await asking('touch');
    expect(serverCalls(chat)).toMatchObject([
      {
        state: 'approval-requested',
        providerExecuted: true,
        approval: { requestReason: expect.stringContaining('touch a.txt') },
      },
    ]);
    const { approvals: waiting } = await getJson<{ approvals: { id: string }[] }>(
      `${server.http}/v1/approvals`,
    );
    expect(waiting.map((one) => one.id)).toContain(approvals[0] ?? '');
    expect((await fetch(`${server.http}/api/chat/${id}/stream`)).status).toBe(204);
    expect(shown(await historyOf(server.http, id))).toEqual(shown(chat.messages));
    await chat.addToolApprovalResponse({ id: approvals[0] ?? '', approved: true });
    await says(chat, 'Then');
    expect(existsSync(join(server.root, 'a.txt'))).toBeTrue();
    expect(stateTypes(chat.lastMessage)).toEqual([
      'step-start',
      'dynamic-tool output-available',
      'step-start',
      'text done',
    ]);
    expect(chat.messages).toHaveLength(2);
    expect(shown(await historyOf(server.http, id))).toEqual(shown(chat.messages));
  });

  test('has the chunks of the contract', async () => {
    const asked = userMessage('touch');
    const first = await chunksOf(await post(server.http, { id, messages: [asked] }));
    expect(typesOf(first).slice(-4)).toEqual([
      'tool-input-available',
      'tool-approval-request',
      'finish-step',
      'finish',
    ]);
    expect(first.at(-1)).toEqual({ type: 'finish', finishReason: 'tool-calls' });
    const marked = first.find((chunk) => chunk.type === 'tool-input-available');
    expect(marked).toMatchObject({ providerExecuted: true, dynamic: true });
    const request = first.find((chunk) => chunk.type === 'tool-approval-request');
    const same = await chunksOf(await post(server.http, { id, messages: [asked] }));
    expect(same.find((chunk) => chunk.type === 'tool-approval-request')).toEqual(request);
    expect(same.at(-1)).toEqual({ type: 'finish', finishReason: 'tool-calls' });
    const part = {
      type: 'dynamic-tool',
      toolName: 'shell',
      toolCallId: request?.toolCallId,
      state: 'approval-responded',
      input: {},
      approval: { id: request?.approvalId, approved: true },
    };
    const messages = [asked, { id: idOf(first), role: 'assistant', parts: [part] }];
    const next = await chunksOf(await post(server.http, { id, messages }));
    expect(idOf(next)).toBe(idOf(first) ?? 'none');
    expect(typesOf(next).slice(0, 4)).toEqual(['start', 'tool-output-available', 'start-step', 'text-start']);
    expect(next[1]).toMatchObject({ toolCallId: request?.toolCallId, providerExecuted: true, dynamic: true });
  });

  test('that is denied is shown as denied, and the model continues', async () => {
    const { chat, approvals } = await asking('touch');
    await chat.addToolApprovalResponse({ id: approvals[0] ?? '', approved: false, reason: 'not now' });
    await says(chat, 'Then');
    expect(textOf(chat.lastMessage)).toContain('not now');
    expect(serverCalls(chat)).toMatchObject([{ state: 'output-denied', approval: { approved: false } }]);
    expect(shown(await historyOf(server.http, id))).toEqual(shown(chat.messages));
  });

  test.each(['once', 'deny'])(
    'that was answered elsewhere (%s) shows the rest of the turn to a late answer',
    async (answer) => {
      const { chat, approvals } = await asking('touch');
      const url = `${server.http}/v1/approvals/${approvals[0]}`;
      expect((await postJson(url, { answer })).status).toBe(200);
      await followed(server, id, (events) => events.some(({ type }) => type === 'turn.ended'));
      await chat.addToolApprovalResponse({ id: approvals[0] ?? '', approved: true });
      await says(chat, 'Then');
      const state = answer === 'once' ? 'output-available' : 'output-denied';
      expect(serverCalls(chat)).toMatchObject([{ state, approval: { approved: answer === 'once' } }]);
      expect(await eventsOf(id, 'approval.answered')).toHaveLength(1);
      expect(await eventsOf(id, 'turn.started')).toHaveLength(1);
      expect(shown(await historyOf(server.http, id))).toEqual(shown(chat.messages));
    },
  );

  test('in two tabs is decided by the first answer, and both show the same', async () => {
    const { chat, approvals } = await asking('touch');
    const other = chatWith({
      server,
      id,
      messages: await historyOf(server.http, id),
      sendAutomaticallyWhen: isComplete,
    });
    await Promise.all([
      chat.addToolApprovalResponse({ id: approvals[0] ?? '', approved: true }),
      other.addToolApprovalResponse({ id: approvals[0] ?? '', approved: false }),
    ]);
    await Promise.all([says(chat, 'Then'), says(other, 'Then')]);
    expect(shown(other.messages)).toEqual(shown(chat.messages));
    expect(await eventsOf(id, 'approval.answered')).toHaveLength(1);
    expect(await eventsOf(id, 'tool.ended')).toHaveLength(1);
  });

  test('can be answered together with others or one after another', async () => {
    const { chat, approvals } = await asking('both', { sendAutomaticallyWhen: undefined });
    expect(approvals).toHaveLength(2);
    await chat.addToolApprovalResponse({ id: approvals[0] ?? '', approved: true });
    await chat.sendMessage();
    await ready(chat);
    expect(serverCalls(chat).map(({ state }) => state)).toEqual(['output-available', 'approval-requested']);
    await chat.addToolApprovalResponse({ id: approvals[1] ?? '', approved: false });
    await chat.sendMessage();
    await says(chat, 'Then');
    expect(serverCalls(chat).map(({ state }) => state)).toEqual(['output-available', 'output-denied']);
    expect(shown(await historyOf(server.http, id))).toEqual(shown(chat.messages));
  });

  test('beside a call of the page: the turn continues when both are answered', async () => {
    const { chat, approvals } = await asking('mixed', { transport });
    await chat.addToolApprovalResponse({ id: approvals[0] ?? '', approved: true });
    expect(chat.status).toBe('ready');
    const call = chat.lastMessage?.parts.find((part) => part.type === 'tool-locate');
    if (!call || !('toolCallId' in call)) throw new Error('no call');
    await chat.addToolOutput({ tool: 'locate', toolCallId: call.toolCallId, output: 'Rome' });
    await says(chat, 'Then');
    expect(textOf(chat.lastMessage)).toContain('Rome');
    expect(shown(await historyOf(server.http, id))).toEqual(shown(chat.messages));
  });

  test('stays pending if the page answers its own call first, and the client does not repeat requests forever', async () => {
    const { chat, approvals } = await asking('mixed', { transport });
    const call = chat.lastMessage?.parts.find((part) => part.type === 'tool-locate');
    if (!call || !('toolCallId' in call)) throw new Error('no call');
    await chat.addToolOutput({ tool: 'locate', toolCallId: call.toolCallId, output: 'Rome' });
    await until(() => chat.status === 'error');
    expect(chat.error?.message).toBe('The chat waits for an approval that has not been answered.');
    await chat.addToolApprovalResponse({ id: approvals[0] ?? '', approved: true });
    await says(chat, 'Then');
    expect(await eventsOf(id, 'tool.ended')).toHaveLength(2);
    expect(shown(await historyOf(server.http, id))).toEqual(shown(chat.messages));
  });

  test('of a stopped turn is closed, and the history can still be loaded', async () => {
    const { approvals, chat } = await asking('touch');
    expect((await fetch(`${server.http}/api/chat/${id}/stop`, { method: 'POST' })).status).toBe(204);
    const [, answer] = await historyOf(server.http, id);
    expect(stateTypes(answer)).toEqual(['step-start', 'dynamic-tool output-error']);
    await chat.addToolApprovalResponse({ id: approvals[0] ?? '', approved: true });
    await ready(chat);
    expect(serverCalls(chat)).toMatchObject([{ state: 'output-error' }]);
    expect(await eventsOf(id, 'approval.answered')).toEqual([]);
  });

  test('can be answered while a message is queued behind it', async () => {
    const { chat, approvals } = await asking('touch');
    const waiting = chat.sendMessage({ text: 'and then?' });
    const isQueued = (events: readonly { readonly type: string }[]) =>
      events.filter(({ type }) => type === 'input.accepted').length === 2;
    await followed(server, id, isQueued);
    await chat.addToolApprovalResponse({ id: approvals[0] ?? '', approved: true });
    await chat.sendMessage();
    await waiting;
    expect(chat.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'user', 'assistant']);
    expect(textOf(chat.messages[1])).toContain('Then');
    expect(textOf(chat.messages[3])).toBe('You said and then?.');
    expect(shown(await historyOf(server.http, id))).toEqual(shown(chat.messages));
  });
});
