/** A body that arrives too late, and a server that is shutting down: refused in the format of the dialect. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startTestServer, type TestServer } from '../../packages/server/src/testing/server.ts';
import { until } from '../../packages/server/src/testing/until.ts';
import { gatedModel } from '../scripted-model.ts';
import { type ServerProcess, startProcess, submit } from '../server-process.ts';
import { slowRequest } from './slow-request.ts';

type Shape = {
  readonly path: string;
  /** a request that would start a turn */
  readonly body: object;
  /** Throws if the body of the refusal does not have the format of the dialect. */
  readonly check: (text: string) => unknown;
};

const SENTENCE = /^\S.*\S[.!?]$/;
const message = expect.stringMatching(SENTENCE);
const chat = { model: 'parlance', messages: [{ role: 'user', content: 'hi' }] };
const rpc = (method: string, params: object) => ({ jsonrpc: '2.0', id: 1, method, params });
const json = (expected: object) => (text: string) => expect(JSON.parse(text)).toMatchObject(expected);
const rpcError = json({ jsonrpc: '2.0', error: { code: expect.any(Number), message } });

const SHAPES: Readonly<Record<string, Shape>> = {
  a2a: {
    path: '/a2a',
    body: rpc('SendMessage', { message: { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'hi' }] } }),
    check: rpcError,
  },
  agui: {
    path: '/agui',
    body: { threadId: 't', runId: 'r', messages: [{ id: 'm', role: 'user', content: 'hi' }] },
    check: json({ message, code: expect.any(String) }),
  },
  aisdk: {
    path: '/api/chat',
    body: { id: 'c', messages: [{ id: 'm', role: 'user', parts: [{ type: 'text', text: 'hi' }] }] },
    check: (text) => expect(text).toMatch(SENTENCE),
  },
  anthropic: {
    path: '/anthropic/v1/messages',
    body: { ...chat, max_tokens: 100 },
    check: json({ type: 'error', error: { type: expect.any(String), message } }),
  },
  mcp: {
    path: '/mcp',
    body: rpc('tools/call', { name: 'send_message', arguments: { text: 'hi' } }),
    check: (text) => {
      // A call that the server cannot execute is a result with an error message.
      const { result, ...rest } = JSON.parse(text);
      if (result) expect(result).toMatchObject({ isError: true, content: [{ type: 'text', text: message }] });
      else rpcError(JSON.stringify(rest));
    },
  },
  openai: {
    path: '/openai/v1/chat/completions',
    body: chat,
    check: json({ error: { message, type: expect.any(String) } }),
  },
};

describe('a body that arrives too late', () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startTestServer({ PARLANCE_BODY_WITHIN: '200' });
  });
  afterAll(() => server.stop());

  test.each(Object.keys(SHAPES))('%s', async (dialect) => {
    const { path, check } = SHAPES[dialect] as Shape;
    const token = await server.login('dev', 'dev-password');
    const late = slowRequest(server.http, { path, length: 1_000, token });
    late.send('{');
    const answer = await late.answer;
    expect(answer).toStartWith('HTTP/1.1 408 ');
    check(answer.slice(answer.indexOf('\r\n\r\n') + 4));
    late.end();
  });
});

describe('while the server shuts down, a message is refused', () => {
  const folder = mkdtempSync(join(tmpdir(), 'parlance-shapes-'));
  const model = gatedModel();
  let server: ServerProcess;
  let exited: Promise<number>;
  beforeAll(async () => {
    server = await startProcess(folder, { ...model.settings, PARLANCE_GRACE: '60000' });
    await submit(server, 'running', 'Go');
    exited = server.terminate();
    await until(async () => (await fetch(`${server.http}/ready`)).status !== 200);
  });
  afterAll(async () => {
    model.release();
    expect(await exited).toBe(0);
    await model.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  test.each(Object.keys(SHAPES))('%s', async (dialect) => {
    const { path, body, check } = SHAPES[dialect] as Shape;
    const response = await fetch(server.http + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json' },
      body: JSON.stringify(body),
    });
    const text = await response.text();
    expect(text).toContain('shutting down');
    if (dialect !== 'mcp') expect(response.status).toBe(503);
    check(text);
  });

  test('acp', async () => {
    const socket = await server.connect('/acp');
    socket.send(rpc('session/new', { cwd: folder, mcpServers: [] }));
    const { error, result } = await socket.next(({ id }) => id === 1);
    const { sessionId } = (result ?? {}) as { sessionId?: string };
    if (sessionId) {
      const prompt = [{ type: 'text', text: 'hi' }];
      socket.send({ ...rpc('session/prompt', { sessionId, prompt }), id: 2 });
      expect(await socket.next(({ id }) => id === 2)).toMatchObject({
        error: { code: -32603, message: expect.stringContaining('shutting down') },
      });
    } else expect(error).toMatchObject({ code: -32603, message: expect.stringContaining('shutting down') });
    socket.close();
  });
});
