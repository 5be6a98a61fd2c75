import { afterEach, expect, test } from 'bun:test';
import type { AnyFrame } from '../packages/server/src/testing/client.ts';
import { startTestServer, type TestServer } from '../packages/server/src/testing/server.ts';
import { DRIVERS } from './drivers.ts';
import { type Answer, type ScriptedModel, scriptedModel } from './scripted-model.ts';

let model: ScriptedModel;
let server: TestServer;

async function start(answer: (count: number) => Answer): Promise<string> {
  model = scriptedModel((_, count) => answer(count));
  server = await startTestServer({ OPENAI_BASE_URL: model.url, OPENAI_API_KEY: 'sk-key', MODEL: 'fake' });
  return server.login('dev', 'dev-password');
}

afterEach(async () => {
  await server.stop();
  model.stop();
});

/** The texts of retry frames in any dialect. */
const notices = (frames: readonly AnyFrame[]): string[] =>
  frames.flatMap(
    (frame) => JSON.stringify(frame).match(/"[^"]*(?:[Tt]rying again|is discarded)[^"]*"/g) ?? [],
  );

for (const [dialect, open] of Object.entries(DRIVERS)) {
  test(`${dialect}: a call with three attempts reports it once, and names the host`, async () => {
    const token = await start((count) => (count <= 2 ? { status: 503 } : { say: 'Done.' }));
    // An id that is also valid for clients of `conversations`.
    const driver = await open(server, 'temp-1767225600000', token);
    driver.say('Hi');
    await driver.answer();
    const said = notices(driver.client.frames);
    expect(said).toHaveLength(1);
    expect(said[0]).toContain(new URL(model.url).host);
    expect(said[0]).not.toContain('discarded');
    expect(said[0]).not.toMatch(/[()[\]]/);
    expect(model.requests).toHaveLength(3);
  });
}

test('agentloop: shown text is discarded only if there was any', async () => {
  const token = await start((count) => {
    if (count === 1) return { status: 503 };
    return count === 2 ? { say: 'Half an ', after: 'cut' } : { say: 'A whole answer.' };
  });
  const driver = await (DRIVERS.agentloop as (typeof DRIVERS)[string])(server, 'void', token);
  driver.say('Hi');
  await driver.answer();
  const { host } = new URL(model.url);
  expect(notices(driver.client.frames)).toEqual([
    `"⚠️ ${host} answered with error 503: no. Trying again."`,
    `"⚠️ The model's stream ended before the answer was complete. The partial answer is discarded."`,
  ]);
});

test('an unreachable model is named only by its host and port', async () => {
  const token = await start(() => ({ say: 'Never.' }));
  const { host } = new URL(model.url);
  model.stop();
  const client = await server.connect(`/agentloop?token=${token}`);
  const input = [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Hi' }] }];
  client.send({ id: '1', type: 'user_input', payload: { input } });
  const frames = await client.until('error');
  expect(notices(frames)).toEqual([
    `"⚠️ The model cannot be reached: ECONNREFUSED. Trying again at ${host}."`,
  ]);
});
