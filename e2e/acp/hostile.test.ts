/** Hostile editors against the server, and a hostile server against the editor. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test';
import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { AnyFrame, TestClient } from '../../packages/server/src/testing/client.ts';
import { startTestServer, type TestServer } from '../../packages/server/src/testing/server.ts';
import { until } from '../../packages/server/src/testing/until.ts';
import { type ScriptedModel, scriptedModel } from '../scripted-model.ts';
import { durableOf } from '../server-process.ts';
import { Editor } from './editor.ts';

const folder = realpathSync(mkdtempSync(join(tmpdir(), 'parlance-acp-hostile-')));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('an editor', () => {
  let server: TestServer;
  let model: ScriptedModel;
  let token: string;
  let stranger: string;
  let count = 0;
  const sockets: TestClient[] = [];

  beforeAll(async () => {
    // Each new conversation begins with a call that waits, and ends with text.
    model = scriptedModel(({ messages }) =>
      messages.at(-1)?.role === 'tool'
        ? { say: 'Done.' }
        : { call: 'shell', input: { command: ['python3', '-c', '1'] } },
    );
    server = await startTestServer({ PARLANCE_AUTH: 'required', OPENAI_BASE_URL: model.url, MODEL: 'fake' });
    token = await server.login('dev', 'dev-password');
    stranger = await server.login('uma', 'uma-password');
  });
  afterEach(() => {
    for (const socket of sockets.splice(0)) socket.close();
  });
  afterAll(async () => {
    await server.stop();
    model.stop();
  });

  async function opened(of = token): Promise<TestClient> {
    const socket = await server.connect(`/acp?token=${of}`);
    sockets.push(socket);
    return socket;
  }

  const ask = async (socket: TestClient, method: string, params: unknown): Promise<AnyFrame> => {
    const id = `request ${++count}`;
    socket.send({ jsonrpc: '2.0', id, method, params });
    return socket.next((frame) => frame.id === id && frame.method === undefined);
  };

  /** A session with a call that waits for permission, which was requested on the socket. */
  async function waiting(socket: TestClient, of = token) {
    const created = await ask(socket, 'session/new', { cwd: realpathSync(server.root), mcpServers: [] });
    const { sessionId } = created.result as { sessionId: string };
    const prompt = { sessionId, prompt: [{ type: 'text', text: 'go' }] };
    socket.send({ jsonrpc: '2.0', id: `prompt ${++count}`, method: 'session/prompt', params: prompt });
    const asked = await socket.next((frame) => {
      const params = frame.params as { sessionId?: string } | undefined;
      return frame.method === 'session/request_permission' && params?.sessionId === sessionId;
    });
    const headers = { authorization: `Bearer ${of}` };
    const answers = async () =>
      (await durableOf({ http: server.http, headers }, sessionId)).filter(
        ({ type }) => type === 'approval.answered',
      );
    return {
      sessionId,
      id: String(asked.id),
      options: (asked.params as { options: { optionId: string }[] }).options,
      answers,
    };
  }

  const select = (id: unknown, optionId: unknown) => ({
    jsonrpc: '2.0',
    id,
    result: { outcome: { outcome: 'selected', optionId } },
  });

  /** Everything sent before this has been handled. */
  const settled = (socket: TestClient) => ask(socket, 'authenticate', { methodId: '' });

  test('before initialize and with any protocol version, only the token counts', async () => {
    const socket = await opened('');
    for (const method of ['session/new', 'session/list', 'session/load', 'session/prompt', 'authenticate'])
      expect(await ask(socket, method, { sessionId: 'x', cwd: '/', prompt: [] })).toMatchObject({
        error: { code: -32000 },
      });
    for (const protocolVersion of [0, 1, 2, 99_999])
      expect(await ask(socket, 'initialize', { protocolVersion })).toMatchObject({
        result: { protocolVersion: 1 },
      });
  });

  test('answers permissions only of its own, with the ids that it was sent', async () => {
    const [mine, theirs] = [await opened(), await opened(stranger)];
    const own = await waiting(mine);
    const other = await waiting(theirs, stranger);
    // An id of another user, of nobody, of another type, of a request of the editor itself, and no id.
    for (const id of [other.id, `${own.id} `, own.id.toUpperCase(), 'nothing', 1, null, `prompt ${count}`])
      mine.send(select(id, 'once'));
    mine.send({ jsonrpc: '2.0', result: { outcome: { outcome: 'selected', optionId: 'once' } } });
    // The other user knows session and approval, but the request was not sent to this socket.
    theirs.send(select(own.id, 'once'));
    const second = await opened();
    second.send(select(own.id, 'once'));
    for (const socket of [mine, theirs, second]) await settled(socket);
    expect([await own.answers(), await other.answers()]).toEqual([[], []]);

    mine.send(select(own.id, 'once'));
    await until(async () => (await own.answers()).length === 1);
    // A repeated answer, and a late one.
    mine.send(select(own.id, 'deny'));
    await settled(mine);
    expect(await own.answers()).toMatchObject([{ answer: 'once' }]);
  });

  test('a session that was closed has no permissions to answer', async () => {
    const socket = await opened();
    const { id, sessionId, answers } = await waiting(socket);
    await ask(socket, 'session/close', { sessionId });
    socket.send(select(id, 'once'));
    await settled(socket);
    expect(await answers()).toEqual([]);
  });

  test.each([
    ['one that was not offered', 'always'],
    ['an unknown one', 'allow_once'],
    ['a name from the prototype', 'constructor'],
    ['none', ''],
    ['a number', 1],
    ['a list', ['once']],
  ])('a permission with the option %s is a denial', async (_, option) => {
    const socket = await opened();
    const { id, options, answers } = await waiting(socket);
    expect(options.map(({ optionId }) => optionId)).toEqual(['once', 'deny']);
    socket.send(select(id, option));
    const [answer] = await until(async () => {
      const given = await answers();
      return given.length > 0 && given;
    });
    expect(answer).toMatchObject({ answer: 'deny' });
  });

  test('an id of a prompt that is not answered yet is refused, and the prompt is answered', async () => {
    const socket = await opened();
    const { id, sessionId } = await waiting(socket);
    const prompt = `prompt ${count}`;
    const params = { sessionId, prompt: [{ type: 'text', text: 'again' }] };
    socket.send({ jsonrpc: '2.0', id: prompt, method: 'session/prompt', params });
    const answered = (frame: AnyFrame) => frame.id === prompt && frame.method === undefined;
    expect(await socket.next(answered)).toMatchObject({ error: { code: -32600 } });
    socket.send(select(id, 'once'));
    expect(await socket.next(answered)).toMatchObject({ result: { stopReason: 'end_turn' } });
  });

  test('links to files are text, and are not read', async () => {
    const secret = join(folder, 'secret.txt');
    await Bun.write(secret, 'canary-of-the-file');
    const socket = await opened();
    const created = await ask(socket, 'session/new', { cwd: realpathSync(server.root), mcpServers: [] });
    const { sessionId } = created.result as { sessionId: string };
    const uris = [
      `file://${secret}`,
      secret,
      `file://${realpathSync(server.root)}/../../secret`,
      'http://127.0.0.1:1/x',
    ];
    const prompt = uris.flatMap((uri) => [
      { type: 'resource_link', name: 'a', uri },
      { type: 'resource', resource: { uri, text: '' } },
    ]);
    const before = model.requests.length;
    socket.send({ jsonrpc: '2.0', id: 'links', method: 'session/prompt', params: { sessionId, prompt } });
    await socket.next((frame) => frame.method === 'session/request_permission');
    const sent = JSON.stringify(model.requests.slice(before));
    expect(sent).toContain(secret);
    expect(sent).not.toContain('canary-of-the-file');
  });

  test.each([
    ['/'],
    ['/etc'],
    ['..'],
    ['/proc/self/root'],
    [`${folder}`],
    ['ROOT/..'],
    ['ROOT/../..'],
    ['ROOT/./../.'],
    ['ROOT\u0000/etc'],
  ])('a session in %p is refused', async (cwd) => {
    const socket = await opened();
    const path = cwd.replace('ROOT', realpathSync(server.root));
    expect(await ask(socket, 'session/new', { cwd: path, mcpServers: [] })).toMatchObject({
      error: { code: -32602 },
    });
  });

  test.each([
    ['a batch', '[{"jsonrpc":"2.0","id":1,"method":"session/list"}]', -32600],
    ['nested lists', `${'['.repeat(50_000)}${']'.repeat(50_000)}`, -32700],
    [
      'nested parameters',
      `{"jsonrpc":"2.0","id":1,"method":"session/list","params":${'{"a":'.repeat(5_000)}1${'}'.repeat(5_000)}}`,
      -32700,
    ],
    ['invalid UTF-8', new Uint8Array([0x7b, 0x22, 0xc3, 0x28, 0x22, 0x7d]), -32700],
    ['an id that is an object', '{"jsonrpc":"2.0","id":{},"method":"session/list"}', -32600],
    ['a name from the prototype', '{"jsonrpc":"2.0","id":1,"method":"constructor"}', -32601],
  ])('%s is refused, and the socket stays', async (_, sent, code) => {
    const socket = await opened();
    socket.socket.send(sent);
    expect(await socket.next((frame) => 'error' in frame)).toMatchObject({ error: { code } });
    expect(await settled(socket)).toMatchObject({ result: {} });
  });
});

describe('a server that was taken over', () => {
  test('reaches neither files nor terminals of the editor, and sends it one message per line', async () => {
    const received: Record<string, unknown>[] = [];
    const fs = { sessionId: 's', path: '/etc/passwd' };
    const update = { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: 'hello' } };
    const frames = [
      { id: 1, method: 'fs/read_text_file', params: fs },
      { id: 2, method: 'fs/write_text_file', params: { ...fs, content: 'x' } },
      { id: 3, method: 'terminal/create', params: { sessionId: 's', command: 'id' } },
      { id: 4, method: '_vendor/run', params: {} },
      { method: 'vendor/notification', params: {} },
      { id: 5, method: ['fs/read_text_file'], params: fs },
    ].map((frame) => JSON.stringify({ jsonrpc: '2.0', ...frame }));
    const hidden = '{"jsonrpc":"2.0","method":"session/update",\n"params":{"sessionId":"s","update":{}}\n}\n';
    using fake = Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      fetch: (request, server) => (server.upgrade(request) ? undefined : new Response(null, { status: 404 })),
      websocket: {
        message(socket, text) {
          const frame = JSON.parse(String(text)) as AnyFrame;
          received.push(frame);
          if (frame.method !== 'initialize') return;
          for (const one of [...frames, hidden, 'no JSON', '[]', `${frames[0]}\n${frames[2]}`])
            socket.send(one);
          const params = { sessionId: 's', update };
          socket.send(JSON.stringify({ jsonrpc: '2.0', method: 'session/update', params }));
          socket.send(JSON.stringify({ jsonrpc: '2.0', id: frame.id, result: { protocolVersion: 1 } }));
        },
      },
    });
    await using editor = new Editor({ env: { PARLANCE_URL: `http://127.0.0.1:${fake.port}` }, cwd: folder });
    expect(await editor.initialize()).toMatchObject({ protocolVersion: 1 });
    expect(editor.text('s')).toBe('hello');
    const lines = editor.output.trim().split('\n');
    expect(lines.map((line) => JSON.parse(line).method)).toEqual([
      'session/update',
      'session/update',
      undefined,
    ]);
    const refused = await until(() => received.length >= 6 && received.slice(1));
    expect(refused).toEqual(
      [1, 2, 3, 4, 5].map((id) => ({
        jsonrpc: '2.0',
        id,
        error: { code: -32601, message: 'Method not found' },
      })),
    );
  });
});
