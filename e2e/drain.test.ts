/** The shutdown of a server, as seen by its clients and its load balancer. */
import { afterAll, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { until } from '../packages/server/src/testing/until.ts';
import { openStream, STREAMS } from './event-streams.ts';
import { gatedModel } from './scripted-model.ts';
import { followed, postJson, startProcess, submit } from './server-process.ts';

const root = mkdtempSync(join(tmpdir(), 'parlance-drain-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));
const newFolder = () => mkdtempSync(join(root, 'case-'));

const userInput = (text: string) => ({
  id: crypto.randomUUID(),
  type: 'user_input',
  payload: { input: [{ type: 'message', role: 'user', content: [{ type: 'input_text', text }] }] },
});

const saysSo = (frame: object): boolean => JSON.stringify(frame).includes('shutting down');

test('readiness ends first; running turns finish, new ones are refused, and every client is notified', async () => {
  const model = gatedModel();
  await using server = await startProcess(newFolder(), { ...model.settings, PARLANCE_GRACE: '60000' });
  const running = await server.connect('/agentloop?session=running');
  const chat = await server.connect('/ws');
  running.send(userInput('Go'));
  await running.next('response_item');
  expect((await fetch(`${server.http}/ready`)).status).toBe(200);

  const exited = server.terminate();
  const ready = await until(async () => {
    const answer = await fetch(`${server.http}/ready`);
    return answer.status !== 200 && answer;
  });
  expect(ready.status).toBe(503);
  expect(await ready.json()).toMatchObject({ status: 'unavailable', reason: 'draining' });
  expect((await fetch(`${server.http}/health`)).status).toBe(200);

  const command = { type: 'input.submit', parts: [{ type: 'text', text: 'More' }] };
  const refused = await postJson(`${server.http}/v1/sessions/new/commands`, command);
  expect([refused.status, refused.body.error]).toMatchObject([503, { code: 'shutting_down' }]);
  chat.send({ type: 'chat', message: 'More' });
  expect((await chat.next('error')).error).toContain('shutting down');
  const late = await server.connect('/agentloop');
  late.send(userInput('More'));
  expect(
    JSON.stringify(await late.next((frame) => /shutting down/.test(JSON.stringify(frame)))),
  ).toBeTruthy();

  model.release();
  await running.next('agent_finished');
  await running.next(saysSo);
  for (const client of [running, chat, late]) expect((await client.closed).code).toBe(1001);
  expect(await exited).toBe(0);
  await model.stop();
});

test('event streams end in the words of their dialects', async () => {
  const model = gatedModel();
  await using server = await startProcess(newFolder(), { ...model.settings, PARLANCE_GRACE: '50' });
  const opened = await Promise.all(STREAMS.map((one) => openStream(server.http, one)));
  expect(await server.terminate()).toBe(0);
  for (const [index, { ending }] of STREAMS.entries())
    expect(await opened[index]?.whole).toMatch(ending('The server is shutting down'));
  await model.stop();
});

test('a turn that does not end in time continues at the next start', async () => {
  const model = gatedModel();
  const folder = newFolder();
  await using first = await startProcess(folder, { ...model.settings, PARLANCE_GRACE: '50' });
  const client = await first.connect('/agentloop?session=long');
  client.send(userInput('Go'));
  await client.next('response_item');
  expect(await first.terminate()).toBe(0);
  expect((await client.closed).code).toBe(1001);

  model.release();
  await using second = await startProcess(folder, model.settings);
  const events = await followed(second, 'long', (all) => all.some(({ type }) => type === 'turn.ended'));
  expect(events.map(({ type }) => type)).toContain('turn.resumed');
  const texts = events.flatMap((event) => (event.type === 'text.ended' ? [event.text] : []));
  expect(texts).toEqual(['Half and whole.']);
  expect(await submit(second, 'long', 'More')).toBe(true);
  await model.stop();
});
