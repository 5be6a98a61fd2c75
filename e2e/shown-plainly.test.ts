/** Users approve what they see: a command cannot hide in invisible or reordering characters, or behind its length. */
import { afterEach, expect, test } from 'bun:test';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { startTestServer, type TestServer } from '../packages/server/src/testing/server.ts';
import { DRIVERS, type Driver } from './drivers.ts';
import { connect } from './mcp/clients.ts';
import { type ScriptedModel, scriptedModel } from './scripted-model.ts';

const NAME = 'a\u202etxt\u00a0.\u200bsh';
const SHOWN = 'a\\u{202e}txt\\u{00a0}.\\u{200b}sh';
const HIDDEN = /[\u202e\u200b\u00a0]/;

let server: TestServer;
let model: ScriptedModel;
afterEach(async () => {
  await server.stop();
  model.stop();
});

const CALLS = {
  'a command': { call: 'shell', input: { command: ['touch', NAME] } },
  'a patch': {
    call: 'apply_patch',
    input: { patch: `*** Begin Patch\n*** Add File: ${NAME}\n+${NAME}\n*** End Patch\n` },
  },
};

test.each(Object.entries(CALLS))(
  '%s is shown with all of its content in every dialect',
  async (kind, call) => {
    model = scriptedModel((_request, count) => (count === 1 ? call : { say: 'Done.' }));
    server = await startTestServer({ OPENAI_BASE_URL: model.url, MODEL: 'fake' });
    const token = await server.login('dev', 'dev-password');
    const session = crypto.randomUUID();
    const authorization = `Bearer ${token}`;
    const post = (path: string, body: object) =>
      fetch(server.http + path, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization },
        body: JSON.stringify(body),
      });
    await post(`/v1/sessions/${session}/commands`, { type: 'session.create' });
    const drivers: Driver[] = [];
    for (const open of Object.values(DRIVERS)) drivers.push(await open(server, session, token));
    await post(`/v1/sessions/${session}/commands`, {
      type: 'input.submit',
      parts: [{ type: 'text', text: 'go' }],
    });
    for (const driver of drivers) {
      const frame = JSON.stringify(await driver.asked());
      expect(frame).not.toMatch(HIDDEN);
      expect(frame).toContain(JSON.stringify(SHOWN).slice(1, -1));
    }
    const listed = await (await fetch(`${server.http}/v1/approvals`, { headers: { authorization } })).json();
    const [approval] = (listed as { approvals: { id: string; ask: object; hash: string }[] }).approvals;
    expect(JSON.stringify(approval?.ask)).not.toMatch(HIDDEN);

    // The original command runs, not its escaped form.
    const { hash, id } = approval ?? {};
    await post(`/v1/approvals/${id}`, { answer: 'once', hash });
    await drivers[0]?.answer();
    expect([kind, existsSync(join(server.root, NAME))]).toEqual([kind, true]);
  },
);

const LONG = Array.from({ length: 300 }, (_, line) => `+line ${line} of a long text`).join('\n');
const END = 'the-end-of-it';

test.each([
  ['command', { call: 'shell', input: { command: ['touch', `${'long-name-'.repeat(500)}`, END] } }],
  [
    'patch',
    {
      call: 'apply_patch',
      input: { patch: `*** Begin Patch\n*** Add File: a\n${LONG}\n+${END}\n*** End Patch\n` },
    },
  ],
  ['saved file', { call: 'save_file', input: { path: 'a', content: `${LONG}\n${END}\n` } }],
])('a long %s is shown to its end in every dialect', async (_, call) => {
  model = scriptedModel((_request, count) => (count === 1 ? call : { say: 'Done.' }));
  server = await startTestServer({ OPENAI_BASE_URL: model.url, MODEL: 'fake' });
  const token = await server.login('dev', 'dev-password');
  const session = crypto.randomUUID();
  await fetch(`${server.http}/v1/sessions/${session}/commands`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
    body: JSON.stringify({ type: 'session.create' }),
  });
  const drivers: Driver[] = [];
  for (const open of Object.values(DRIVERS)) drivers.push(await open(server, session, token));
  const form = Promise.withResolvers<string>();
  const everywhere = Promise.withResolvers<void>();
  const mcp = await connect('2026', server.http, {
    token,
    onForm: async ({ message }) => {
      form.resolve(message);
      await everywhere.promise;
      return { action: 'decline' };
    },
  });
  const asked = mcp.turn('send_message', { text: 'go', session });
  for (const driver of drivers) expect(JSON.stringify(await driver.asked())).toContain(END);
  const editor = await server.connect(`/acp?token=${token}`);
  editor.send({ jsonrpc: '2.0', id: 1, method: 'session/load', params: { sessionId: session, cwd: '/' } });
  const { params } = await editor.next((frame) => frame.method === 'session/request_permission');
  const { toolCall } = params as { toolCall: { content: object[] } };
  // Not all editors show the raw input.
  expect(JSON.stringify(toolCall.content)).toContain(END);
  expect(await form.promise).toContain(END);
  everywhere.resolve();
  await asked;
  await mcp.close();
});
