/** AGENTS.md of a repository: in no request to the model before a person has accepted it, nor after it has changed. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect } from '@parlance/sdk';
import { freePort } from '../packages/server/src/testing/free-port.ts';
import { until } from '../packages/server/src/testing/until.ts';
import { type ScriptedModel, scriptedModel } from './scripted-model.ts';
import { type ServerProcess, startProcess } from './server-process.ts';

const folder = mkdtempSync(join(tmpdir(), 'parlance-instructions-'));
const settings = { PORT: String(freePort()) };
const requests: string[] = [];
let model: ScriptedModel;
let server: ServerProcess;

const start = async () => {
  server = await startProcess(folder, { ...settings, ...model.settings });
};
const parlance = () => connect({ url: server.http });

beforeAll(async () => {
  model = scriptedModel((request) => {
    requests.push(JSON.stringify(request));
    return { say: 'Yes.' };
  });
  await start();
});
afterAll(async () => {
  await server?.kill();
  model?.stop();
  rmSync(folder, { recursive: true });
});

const write = (text: string) => writeFileSync(join(folder, 'AGENTS.md'), `${text}\n`);
const asked = () =>
  until(async () => (await parlance().questions.list()).find(({ purpose }) => purpose === 'instructions'));
const has = (text: string) => requests.some((request) => request.includes(text));

test('content of a repository is followed only while exactly this content is accepted', async () => {
  write('First rule.');
  const session = parlance().session();
  const { id } = session;
  // A program is not asked, and its turn goes on without.
  await session.ask('Is it done?');
  expect(requests.length).toBeGreaterThan(0);
  expect(has('First rule.')).toBe(false);

  await session.submit('Is it done now?', { project: 'ask' });
  const question = await asked();
  await server.kill();
  await start();
  expect(has('First rule.')).toBe(false);
  await parlance().questions.answer(question.id, { use: ['Use'] });
  await until(() => has('First rule.'));
  await until(async () =>
    (await parlance().sessions.list({})).sessions.every(({ status }) => status === 'idle'),
  );

  write('Second rule.');
  requests.length = 0;
  await parlance().session(id).ask('And now?');
  expect(requests.length).toBeGreaterThan(0);
  expect(has('First rule.') || has('Second rule.')).toBe(false);
});
