/** An overloaded server refuses inputs immediately, in every dialect, while running turns continue. */
import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import type { AnyFrame } from '../../packages/server/src/testing/client.ts';
import { startTestServer, type TestServer } from '../../packages/server/src/testing/server.ts';
import { until } from '../../packages/server/src/testing/until.ts';
import { DRIVERS } from '../drivers.ts';
import { type GatedModel, gatedModel } from '../scripted-model.ts';

let server: TestServer;
let model: GatedModel;
let token: string;

beforeEach(async () => {
  model = gatedModel();
  const settings = { PARLANCE_TURNS_AT_ONCE: '2', PARLANCE_TURNS_WAITING: '2' };
  server = await startTestServer({ ...model.settings, ...settings });
  token = await server.login('dev', 'dev-password');
});
afterEach(async () => {
  await server.stop();
  await model.stop();
});

const post = (path: string, body: object) =>
  fetch(server.http + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
    body: JSON.stringify(body),
  });
const command = (session: string, body: object) => post(`/v1/sessions/${session}/commands`, body);
const input = (text: string) => ({ type: 'input.submit', parts: [{ type: 'text', text }] });

/** Two turns run, two are queued. */
async function fill(): Promise<void> {
  for (const session of ['one', 'two', 'three', 'four'])
    expect((await command(session, input('Hello'))).status).toBe(200);
}

async function ended(session: string): Promise<void> {
  const response = await fetch(`${server.http}/v1/sessions/${session}/events`, {
    headers: { accept: 'text/event-stream', authorization: `Bearer ${token}` },
  });
  let text = '';
  for await (const piece of response.body ?? []) {
    text += new TextDecoder().decode(piece);
    if (text.includes('event: turn.ended')) return;
  }
  throw new Error('the turn did not end');
}

const SOON = 'The server has reached its limit of waiting turns. Try again in 2 seconds.';

/** The error frame of each dialect. */
const REFUSALS: Readonly<Record<string, object>> = {
  agentloop: {
    type: 'error',
    payload: { message: 'Failed to process user input', details: { error: SOON, code: 503, retryAfter: 2 } },
  },
  broadcast: { type: 'error', error: SOON, retry_after: 2 },
  conversations: {
    type: 'error',
    conversationId: 'temp-conversations',
    error: SOON,
    payload: { code: 'stream_error', message: SOON, error: SOON, retryAfter: 2 },
  },
  extension: { type: 'error', message: SOON, code: 'HANDLER_ERROR', retryAfter: 2_000 },
};

describe('an input beyond the queue is refused immediately, and accepted later', () => {
  for (const [dialect, open] of Object.entries(DRIVERS)) {
    test(`in ${dialect}`, async () => {
      await fill();
      const driver = await open(server, `temp-${dialect}`, token);
      driver.say('Hello');
      const refused: AnyFrame = await driver.client.next('error');
      expect(refused).toMatchObject(REFUSALS[dialect] ?? {});
      model.release();
      for (const session of ['one', 'two', 'three', 'four']) await ended(session);
      driver.say('Hello again');
      expect(await driver.answer()).toBe('Half and whole.');
    });
  }

  test('over HTTP, in native', async () => {
    await fill();
    const refused = await command('five', input('Hello'));
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '2']);
    expect(await refused.json()).toEqual({
      error: { code: 'overloaded', message: SOON.replace(/ Try.*/, ''), retryAfterMs: 2_000 },
      detail: SOON,
    });
    model.release();
    for (const session of ['one', 'two', 'three', 'four']) await ended(session);
    expect((await command('five', input('Hello'))).status).toBe(200);
    await ended('five');
  });

  test('over HTTP, in copilot', async () => {
    await fill();
    const refused = await post('/api/agent/interact', { query: 'Hello' });
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '2']);
    expect(await refused.json()).toEqual({
      success: false,
      code: 'INTERNAL_ERROR',
      message: SOON,
      error: SOON,
      details: { retryAfter: 2 },
      retryAfter: 2,
    });
  });
});

test('concurrent inputs: as many are accepted as the limit allows, and all others get an error', async () => {
  const answers = await Promise.all(
    Array.from({ length: 50 }, (_, count) => command(`burst-${count}`, input('Hello'))),
  );
  const statuses = answers.map(({ status }) => status).sort();
  expect(statuses).toEqual([...Array(4).fill(200), ...Array(46).fill(503)]);
});

test('running sessions continue: their answers, cancels and inputs are accepted', async () => {
  const call = { tool: 'shell', input: { command: ['touch', 'a'] } };
  expect((await command('asks', { ...input('Please'), call })).status).toBe(200);
  const waiting = async () => {
    const answer = await fetch(`${server.http}/v1/approvals`, {
      headers: { authorization: `Bearer ${token}` },
    });
    return ((await answer.json()) as { approvals: { id: string }[] }).approvals[0];
  };
  const approval = await until(waiting);
  await fill();
  expect((await command('five', input('Hello'))).status).toBe(503);
  expect((await post(`/v1/approvals/${approval.id}`, { answer: 'deny' })).status).toBe(200);
  expect((await command('one', input('And then?'))).status).toBe(200);
  expect((await command('two', { type: 'turn.cancel' })).status).toBe(200);
  expect((await command('three', { type: 'turn.cancel' })).status).toBe(200);
  expect((await command('three', { type: 'session.rename', title: 'Three' })).status).toBe(200);
  model.release();
  for (const session of ['one', 'four', 'asks']) await ended(session);
});
