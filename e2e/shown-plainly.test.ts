/** Users approve what they see: a command cannot hide in invisible or reordering characters. */
import { afterEach, expect, test } from 'bun:test';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { startTestServer, type TestServer } from '../packages/server/src/testing/server.ts';
import { DRIVERS, type Driver } from './drivers.ts';
import { type FakeModel, fakeModel } from './fake-model.ts';

const NAME = 'a\u202etxt\u00a0.\u200bsh';
const SHOWN = 'a\\u{202e}txt\\u{00a0}.\\u{200b}sh';
const HIDDEN = /[\u202e\u200b\u00a0]/;

let server: TestServer;
let model: FakeModel;
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
    model = fakeModel((_request, count) => (count === 1 ? call : { say: 'Done.' }));
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
