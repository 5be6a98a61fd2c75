/** Calls of the agent that need an approval: interrupts, and their answers from any client. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { HttpAgent, ResumeEntry } from '@ag-ui/client';
import { startTestServer, type TestServer } from '../../packages/server/src/testing/server.ts';
import { type Answer, type ChatRequest, type ScriptedModel, scriptedModel } from '../scripted-model.ts';
import { durableOf, getJson, postJson } from '../server-process.ts';
import { contentOf, distinct, failOnWarnings, httpAgent, type RunResult, run } from './client.ts';

const touch = (file: string): readonly [string, object] => ['shell', { command: ['touch', file] }];

/** Touches the files named in the message, then reports the result of the last call. */
function answerTo({ messages }: ChatRequest): Answer {
  const last = messages.at(-1);
  const text = String(last?.content ?? '');
  if (last?.role === 'tool') return { say: `Result: ${text}` };
  const files = text.match(/\w+\.txt/g) ?? [];
  const calls = files.map(touch);
  if (text.includes('weather')) calls.push(['weather', { city: 'Rome' }]);
  return calls.length > 0 ? { calls } : { say: `You said ${text}.` };
}

let model: ScriptedModel;
let server: TestServer;

failOnWarnings();
beforeAll(async () => {
  model = scriptedModel((request) => answerTo(request));
  server = await startTestServer({ OPENAI_BASE_URL: model.url, OPENAI_API_KEY: 'key', MODEL: 'fake' });
});
afterAll(async () => {
  await server.stop();
  model.stop();
});

const exists = (file: string) => existsSync(join(server.root, file));

const resolved = (id: string, payload: object): ResumeEntry => ({
  interruptId: id,
  status: 'resolved',
  payload,
});

const interruptsOf = ({ outcome }: RunResult) => outcome?.interrupts ?? [];

/** Runs until an interrupt, and returns its id. */
async function asked(agent: HttpAgent, text: string): Promise<string> {
  const [interrupt] = interruptsOf(await run(agent, text));
  return interrupt?.id ?? '';
}

const failure = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => null,
    (error: unknown) => error,
  );

describe('an approval', () => {
  test('ends the run with an interrupt that describes the call and the expected answer', async () => {
    const agent = httpAgent(server.http);
    const ran = await run(agent, 'make a.txt');
    expect(distinct(ran.types)).toEqual([
      'RUN_STARTED',
      'TOOL_CALL_START',
      'TOOL_CALL_ARGS',
      'TOOL_CALL_END',
      'RUN_FINISHED',
    ]);
    const start = ran.events.find(({ type }) => type === 'TOOL_CALL_START');
    const { approvals } = await getJson<{ approvals: { id: string; session: string }[] }>(
      `${server.http}/v1/approvals`,
    );
    expect(interruptsOf(ran)).toEqual([
      {
        id: approvals.find(({ session }) => session === agent.threadId)?.id ?? '',
        reason: 'tool_call',
        message: expect.stringContaining('touch a.txt'),
        toolCallId: String(start?.toolCallId),
        responseSchema: expect.objectContaining({ type: 'object', required: ['approved'] }),
      },
    ]);
    expect(ran.events.at(-1)).toMatchObject({ usage: [{ totalTokens: 105 }] });
    expect(exists('a.txt')).toBeFalse();
    // The client itself refuses to continue without an answer.
    expect(await failure(run(agent, null))).toMatchObject({
      message: expect.stringContaining('pending interrupt'),
    });
  });

  test('is answered with resume, followed by the result and the rest', async () => {
    const agent = httpAgent(server.http);
    const id = await asked(agent, 'make b.txt');
    const { types, outcome, events } = await run(agent, null, { resume: [resolved(id, { approved: true })] });
    expect(distinct(types)).toEqual([
      'RUN_STARTED',
      'TOOL_CALL_RESULT',
      'TEXT_MESSAGE_START',
      'TEXT_MESSAGE_CONTENT',
      'TEXT_MESSAGE_END',
      'RUN_FINISHED',
    ]);
    expect(outcome).toEqual({ type: 'success' });
    expect(events.at(-1)).toMatchObject({ usage: [{ totalTokens: 105 }] });
    expect(agent.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'assistant']);
    expect(agent.pendingInterrupts).toEqual([]);
    expect(exists('b.txt')).toBeTrue();
    const events2 = await durableOf(server, agent.threadId);
    expect(events2.filter(({ type }) => type === 'turn.started')).toHaveLength(1);
    expect(events2.find(({ type }) => type === 'approval.answered')).toMatchObject({
      answer: 'once',
      dialect: 'agui',
    });
  });

  test.each([
    ['denied', (id: string) => resolved(id, { approved: false, reason: 'not today' })],
    ['cancelled', (id: string): ResumeEntry => ({ interruptId: id, status: 'cancelled' })],
  ])('that is %s does not run; the model is notified and continues', async (name, entry) => {
    const agent = httpAgent(server.http);
    const id = await asked(agent, `make ${name}.txt`);
    const { outcome, newMessages } = await run(agent, null, { resume: [entry(id)] });
    expect(outcome).toEqual({ type: 'success' });
    expect(contentOf(newMessages, 'tool')[0]).toContain('denied');
    if (name === 'denied') expect(contentOf(newMessages, 'assistant')[0]).toContain('not today');
    expect(exists(`${name}.txt`)).toBeFalse();
  });

  test('with always applies to the next one', async () => {
    const agent = httpAgent(server.http);
    const id = await asked(agent, 'make always1.txt');
    await run(agent, null, { resume: [resolved(id, { approved: true, always: true })] });
    expect((await run(agent, 'make always2.txt')).outcome).toEqual({ type: 'success' });
    expect(exists('always2.txt')).toBeTrue();
  });

  test('with an invalid payload is refused, and stays pending', async () => {
    const agent = httpAgent(server.http);
    const id = await asked(agent, 'make c.txt');
    for (const payload of [{}, { approved: 'yes' }]) {
      const refused = await failure(run(agent, null, { resume: [resolved(id, payload)] }));
      expect(refused).toMatchObject({ status: 400, payload: { code: 'invalid' } });
    }
    expect((await run(agent, null, { resume: [resolved(id, { approved: true })] })).outcome?.type).toBe(
      'success',
    );
  });
});

describe('several', () => {
  test('are interrupts of one run, and answered together', async () => {
    const agent = httpAgent(server.http);
    const ran = await run(agent, 'make d1.txt and d2.txt');
    const [first, second] = interruptsOf(ran);
    const { types, outcome } = await run(agent, null, {
      resume: [
        resolved(first?.id ?? '', { approved: true }),
        resolved(second?.id ?? '', { approved: false }),
      ],
    });
    expect(types.filter((type) => type === 'TOOL_CALL_RESULT')).toHaveLength(2);
    expect(outcome).toEqual({ type: 'success' });
    expect([exists('d1.txt'), exists('d2.txt')]).toEqual([true, false]);
  });

  test('with one answer: the run ends with the other interrupt', async () => {
    const agent = httpAgent(server.http);
    const [first, second] = interruptsOf(await run(agent, 'make e1.txt and e2.txt'));
    const other = httpAgent(server.http, { thread: agent.threadId, messages: agent.messages });
    const ran = await run(other, null, { resume: [resolved(first?.id ?? '', { approved: true })] });
    expect(interruptsOf(ran).map(({ id }) => id)).toEqual([second?.id ?? '']);
    const last = await run(other, null, { resume: [resolved(second?.id ?? '', { approved: true })] });
    expect(last.outcome).toEqual({ type: 'success' });
    expect(other.messages.map(({ role }) => role)).toEqual([
      'user',
      'assistant',
      'tool',
      'tool',
      'assistant',
    ]);
  });

  test('beside a tool of the front end: both are answered in one run', async () => {
    const agent = httpAgent(server.http);
    const tools = [{ name: 'weather', description: '', parameters: { type: 'object' } }];
    const ran = await run(agent, 'make f.txt, weather', { tools });
    expect(ran.outcome?.type).toBe('interrupt');
    const calls = ran.newMessages[0]?.role === 'assistant' ? (ran.newMessages[0].toolCalls ?? []) : [];
    const weather = calls.find(({ function: { name } }) => name === 'weather')?.id ?? '';
    agent.addMessage({ id: 'w', role: 'tool', toolCallId: weather, content: 'sunny' });
    const [interrupt] = interruptsOf(ran);
    const next = await run(agent, null, {
      tools,
      resume: [resolved(interrupt?.id ?? '', { approved: true })],
    });
    expect(next.outcome).toEqual({ type: 'success' });
    expect(exists('f.txt')).toBeTrue();
    // The client already has the result of its own tool.
    expect(next.events.filter(({ type }) => type === 'TOOL_CALL_RESULT')).toHaveLength(1);
  });
});

describe('answered elsewhere', () => {
  const answerNatively = (id: string, answer: string) =>
    postJson(`${server.http}/v1/approvals/${id}`, { answer });

  test('while no client watches: a late resume runs nothing twice and shows the rest', async () => {
    const agent = httpAgent(server.http);
    const id = await asked(agent, 'make g.txt');
    expect((await answerNatively(id, 'once')).status).toBe(200);
    const { outcome, newMessages } = await run(agent, null, { resume: [resolved(id, { approved: false })] });
    expect(outcome).toEqual({ type: 'success' });
    expect(newMessages.map(({ role }) => role)).toEqual(['tool', 'assistant']);
    const events = await durableOf(server, agent.threadId);
    expect(events.filter(({ type }) => type === 'approval.answered')).toHaveLength(1);
    expect(events.filter(({ type }) => type === 'tool.started')).toHaveLength(1);
    expect(exists('g.txt')).toBeTrue();
  });

  test('a repeated resume shows the same events', async () => {
    const agent = httpAgent(server.http);
    const id = await asked(agent, 'make h.txt');
    const twin = agent.clone();
    const resume = [resolved(id, { approved: true })];
    const first = await run(agent, null, { runId: 'same', resume });
    const again = await run(twin, null, { runId: 'same', resume });
    expect(again.outcome).toEqual(first.outcome as never);
    expect(twin.messages).toEqual(agent.messages);
    const events = await durableOf(server, agent.threadId);
    expect(events.filter(({ type }) => type === 'tool.started')).toHaveLength(1);
  });

  test('of two concurrent answers one is applied, and both show the rest', async () => {
    const agent = httpAgent(server.http);
    const id = await asked(agent, 'make i.txt');
    const twin = agent.clone();
    const both = await Promise.all(
      [agent, twin].map((one) => run(one, null, { resume: [resolved(id, { approved: true })] })),
    );
    for (const { outcome } of both) expect(outcome).toEqual({ type: 'success' });
    expect(twin.messages).toEqual(agent.messages);
    const events = await durableOf(server, agent.threadId);
    expect(events.filter(({ type }) => type === 'tool.started')).toHaveLength(1);
  });
});

describe('a thread that waits', () => {
  test('is shown to any client without new messages', async () => {
    const agent = httpAgent(server.http);
    const id = await asked(agent, 'make j.txt');
    const asks = model.requests.length;
    const other = httpAgent(server.http, { thread: agent.threadId });
    const looked = await run(other, null);
    expect(looked.types).toEqual(['RUN_STARTED', 'MESSAGES_SNAPSHOT', 'RUN_FINISHED']);
    expect(interruptsOf(looked).map((interrupt) => interrupt.id)).toEqual([id]);
    expect(other.messages).toEqual(agent.messages);
    expect(model.requests).toHaveLength(asks);
    await run(other, null, { resume: [resolved(id, { approved: true })] });
    expect(exists('j.txt')).toBeTrue();
  });

  test('queues a new message and shows its interrupt; the answer shows both turns', async () => {
    const agent = httpAgent(server.http);
    const id = await asked(agent, 'make k.txt');
    const other = httpAgent(server.http, { thread: agent.threadId, messages: agent.messages });
    const queued = await run(other, 'and then?');
    expect(interruptsOf(queued).map((interrupt) => interrupt.id)).toEqual([id]);
    const { newMessages } = await run(other, null, { resume: [resolved(id, { approved: true })] });
    expect(contentOf(newMessages, 'assistant')).toEqual([
      expect.stringContaining('Result:'),
      'You said and then?.',
    ]);
  });

  test('does not accept interrupts of other threads', async () => {
    const agent = httpAgent(server.http);
    const id = await asked(agent, 'make l.txt');
    const elsewhere = httpAgent(server.http);
    await run(elsewhere, 'hello');
    for (const interrupt of [id, 'nothing']) {
      const refused = await failure(
        run(elsewhere, null, { resume: [resolved(interrupt, { approved: true })] }),
      );
      expect(refused).toMatchObject({ status: 404, payload: { code: 'not_found' } });
    }
    expect(exists('l.txt')).toBeFalse();
  });
});
