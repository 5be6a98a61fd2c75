/** Errors: each has its code, and the connection stays open. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { methods } from '@agentclientprotocol/sdk';
import { startTestServer, type TestServer } from '../../packages/server/src/testing/server.ts';
import { submit } from '../server-process.ts';
import { Editor, refusal } from './editor.ts';

const folder = realpathSync(mkdtempSync(join(tmpdir(), 'parlance-acp-errors-')));
let server: TestServer;
let root: string;
let token: string;

beforeAll(async () => {
  server = await startTestServer({ PARLANCE_AUTH: 'required' });
  root = realpathSync(server.root);
  token = await server.login('dev', 'dev-password');
});
afterAll(async () => {
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
});

const bridge = (PARLANCE_TOKEN: string, PARLANCE_URL = server.http) =>
  new Editor({ env: { PARLANCE_URL, PARLANCE_TOKEN }, cwd: folder });

/** The errors without an id. */
const unaddressed = (editor: Editor): number[] =>
  editor.output
    .split('\n')
    .filter((line) => line.includes('"id":null'))
    .map((line) => JSON.parse(line).error.code);

test('an invalid message is refused, and the connection stays open', async () => {
  await using editor = bridge(token);
  await editor.initialize();
  for (const line of ['{bad', '[]', '7', new Uint8Array([0x22, 0xff, 0x22])]) editor.raw(line);
  await editor.until(() => unaddressed(editor).length === 4);
  expect(unaddressed(editor)).toEqual([-32700, -32600, -32600, -32700]);
  expect(await editor.newSession(root)).toBeString();
});

test('unknown methods and invalid parameters', async () => {
  await using editor = bridge(token);
  const session = await editor.newSession(root);
  const { agent } = editor;
  expect(await refusal(agent.request('session/sing', {}))).toMatchObject({ code: -32601 });
  for (const cwd of ['relative', '/', join(root, 'nothing'), folder])
    expect(await refusal(editor.newSession(cwd))).toMatchObject({ code: -32602 });
  const prompt = (blocks: never[]) =>
    agent.request(methods.agent.session.prompt, { sessionId: session, prompt: blocks });
  expect(await refusal(prompt([]))).toMatchObject({ code: -32602 });
  expect(await refusal(editor.prompt('nothing', 'hello'))).toMatchObject({ code: -32002 });
  expect(await editor.prompt(session, 'hello')).toEqual({ stopReason: 'end_turn' });
});

test('sessions of other users are not found', async () => {
  const headers = { authorization: `Bearer ${await server.login('uma', 'uma-password')}` };
  await submit({ http: server.http, headers }, 'umas', 'hello');
  await using editor = bridge(token);
  for (const asked of [editor.load('umas'), editor.resume('umas'), editor.prompt('umas', 'hi')])
    expect(await refusal(asked)).toMatchObject({ code: -32002 });
  const { sessions } = await editor.agent.request(methods.agent.session.list, {});
  expect(sessions.map(({ sessionId }) => sessionId)).not.toContain('umas');
});

describe('without a valid token', () => {
  test.each(['', 'a.b.c', 'plk_nothing'])('%p: initialize answers, the rest is -32000', async (bad) => {
    await using editor = bridge(bad);
    expect(await editor.initialize()).toMatchObject({ protocolVersion: 1 });
    expect(await refusal(editor.newSession(root))).toMatchObject({ code: -32000 });
    expect(await refusal(editor.load('any'))).toMatchObject({ code: -32000 });
  });
});

test('a server that cannot be reached is an error, not a hang', async () => {
  await using editor = bridge(token, 'http://127.0.0.1:1');
  expect(await refusal(editor.initialize())).toMatchObject({ code: -32603 });
  expect((await editor.end()).code).toBe(0);
});

test('a data folder in use by a server is refused in one line', async () => {
  await using editor = new Editor({ env: { PARLANCE_DATA: server.data }, cwd: folder });
  const { code, errors } = await editor.end();
  expect([code, errors, editor.output]).toEqual([
    1,
    `parlance: another Parlance server is using ${server.data}: stop it, or choose another folder with --data FOLDER\n`,
    '',
  ]);
});
