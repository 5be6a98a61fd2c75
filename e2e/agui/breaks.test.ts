/** Interrupted answers, and servers that are killed or shut down during a run. */
import { afterEach, describe, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Message } from '@ag-ui/client';
import { type Answer, scriptedModel } from '../scripted-model.ts';
import { durableOf, followed, startProcess, type Target } from '../server-process.ts';
import { contentOf, distinct, failOnWarnings, httpAgent, run, user } from './client.ts';
import { cancel, cleanUp, cleanups, ends, seen, serverOf } from './setup.ts';

failOnWarnings();
afterEach(cleanUp);

/** A server with a model whose first answer is cut after these chunks; later answers are complete. */
async function breaking(...deltas: object[]) {
  const cut = Promise.withResolvers<void>();
  let count = 0;
  const chunk = (delta: object, finish: string | null = null) =>
    `data: ${JSON.stringify({ id: 'c', choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
  const model = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    idleTimeout: 0,
    fetch() {
      const isFirst = ++count === 1;
      const answer = async function* () {
        if (isFirst) {
          for (const delta of deltas) yield chunk(delta);
          return await cut.promise;
        }
        yield chunk({ content: 'Another thing.' });
        yield chunk({}, 'stop');
        yield 'data: [DONE]\n\n';
      };
      return new Response(answer, { headers: { 'content-type': 'text/event-stream' } });
    },
  });
  cleanups.push(() => model.stop(true));
  const url = `http://127.0.0.1:${model.port}/v1`;
  const server = await serverOf({ OPENAI_BASE_URL: url, OPENAI_API_KEY: 'key', MODEL: 'fake' });
  return { server, cut: cut.resolve };
}

const WRITES_CALL = {
  tool_calls: [{ index: 0, id: 'call_1', type: 'function', function: { name: 'echo', arguments: '{"val' } }],
};

describe('an interrupted answer', () => {
  test('is removed with a snapshot, and the new one has another id', async () => {
    const { server, cut } = await breaking({ content: 'One thing ' }, WRITES_CALL);
    const agent = httpAgent(server.http, { messages: [{ id: 's', role: 'system', content: 'Be brief.' }] });
    const { events, types } = await run(agent, 'hello', {
      onEvent: ({ type }) => type === 'TOOL_CALL_ARGS' && cut(),
    });
    expect(distinct(types)).toEqual([
      'RUN_STARTED',
      'TEXT_MESSAGE_START',
      'TEXT_MESSAGE_CONTENT',
      'TEXT_MESSAGE_END',
      'TOOL_CALL_START',
      'TOOL_CALL_ARGS',
      'TOOL_CALL_END',
      'MESSAGES_SNAPSHOT',
      'TEXT_MESSAGE_START',
      'TEXT_MESSAGE_CONTENT',
      'TEXT_MESSAGE_END',
      'RUN_FINISHED',
    ]);
    const [first, second] = events.filter(({ type }) => type === 'TEXT_MESSAGE_START');
    expect(second?.messageId).not.toBe(first?.messageId);
    expect(agent.messages.map(({ role }) => role)).toEqual(['system', 'user', 'assistant']);
    expect(contentOf(agent.messages, 'assistant')).toEqual(['Another thing.']);
    expect(agent.messages.at(-1)?.id).toBe(String(second?.messageId));
  });

  test('because of a cancelled turn leaves no call that was not made', async () => {
    const { server, cut } = await breaking({ content: 'Half ' }, WRITES_CALL);
    const agent = httpAgent(server.http);
    const writes = seen('TOOL_CALL_ARGS');
    const ran = run(agent, 'hello', { onEvent: writes.onEvent });
    await writes.promise;
    await cancel(server, agent.threadId);
    const { types, outcome } = await ran;
    cut();
    expect(outcome).toEqual({ type: 'cancelled' });
    expect(types.slice(-3)).toEqual(['TOOL_CALL_END', 'MESSAGES_SNAPSHOT', 'RUN_FINISHED']);
    expect(agent.messages.at(-1)).toMatchObject({ role: 'assistant', content: 'Half ' });
    expect(agent.messages.at(-1)).not.toHaveProperty('toolCalls');
    expect(contentOf((await run(agent, 'again')).newMessages, 'assistant')).toEqual(['Another thing.']);
  });

  test('because of a disconnect does not affect the next run', async () => {
    const { server, cut } = await breaking({ content: 'Half ' }, WRITES_CALL);
    const agent = httpAgent(server.http);
    const writes = seen('TOOL_CALL_ARGS');
    const ran = run(agent, 'hello', { onEvent: writes.onEvent });
    await writes.promise;
    agent.abortRun();
    await ran;
    await followed(server, agent.threadId, ends('turn.cancelled'));
    cut();
    expect(contentOf((await run(agent, 'again')).newMessages, 'assistant')).toEqual(['Another thing.']);
    await run(agent, null);
    expect(JSON.stringify(agent.messages)).not.toContain('call_1');
  });
});

/** Reads the first piece of the answer; `then` runs before the connection is closed. */
async function firstPiece(
  server: Target,
  input: object,
  then: () => Promise<void> = async () => undefined,
): Promise<Message> {
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
    if (id === undefined || content === undefined) continue;
    await then();
    return { id, role: 'assistant', content };
  }
  throw new Error(`no text came: ${text}`);
}

describe('after a kill of the server', () => {
  async function folderOf(settings: Record<string, string>) {
    const folder = mkdtempSync(join(tmpdir(), 'parlance-agui-'));
    cleanups.push(() => rmSync(folder, { recursive: true, force: true }));
    return () => startProcess(folder, settings);
  }

  test('the interrupt is still pending under the same id, and can be shown and resumed', async () => {
    const model = scriptedModel(({ messages }) =>
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
  });

  test('during an answer: a repeated message is the same turn, and nothing is duplicated', async () => {
    const answers: Answer[] = [{ say: 'Half an answer ', after: 'silence' }, { say: 'A whole answer.' }];
    const model = scriptedModel((_, count) => answers[count - 1] ?? { say: 'No more.' });
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
    // Showing the thread corrects the client with the partial answer.
    const agent = httpAgent(second.http, { thread: 'killed', messages: [message, half] });
    await run(agent, null);
    expect(agent.messages).toEqual(retried.messages);
    const types = (await durableOf(second, 'killed')).map(({ type }) => type);
    expect(types.filter((type) => type === 'turn.started')).toHaveLength(1);
  });

  test('or its shutdown: the turn is not cancelled, and continues at the next start', async () => {
    const answers: Answer[] = [{ say: 'Half an answer ', after: 'silence' }, { say: 'A whole answer.' }];
    const model = scriptedModel((_, count) => answers[count - 1] ?? { say: 'No more.' });
    cleanups.push(model.stop);
    const settings = {
      OPENAI_BASE_URL: model.url,
      OPENAI_API_KEY: 'key',
      MODEL: 'fake',
      PARLANCE_GRACE: '0',
    };
    const start = await folderOf(settings);
    const first = await start();
    let exitCode: number | null = null;
    const input = { threadId: 'drained', runId: 'r', messages: [user('hello', 'm')] };
    // The connection breaks with the server.
    await firstPiece(first, input, async () => {
      exitCode = await first.terminate();
    }).catch(() => undefined);
    expect(exitCode as number | null).toBe(0);
    const second = await start();
    cleanups.push(() => second.kill());
    const agent = httpAgent(second.http, { thread: 'drained', messages: [user('hello', 'm')] });
    expect((await run(agent, null)).outcome).toEqual({ type: 'success' });
    expect(contentOf(agent.messages, 'assistant')).toEqual(['A whole answer.']);
  });
});
