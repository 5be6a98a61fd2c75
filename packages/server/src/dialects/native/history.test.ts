import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { startTestServer, type TestServer } from '../../testing/server.ts';

let server: TestServer;
let token: string;

beforeAll(async () => {
  server = await startTestServer({ PARLANCE_AUTH: 'required' });
  token = await server.login('dev', 'dev-password');
});

afterAll(() => server.stop());

async function ask(path: string, body?: object): Promise<{ status: number; body: unknown }> {
  const response = await fetch(server.http + path, {
    method: body ? 'POST' : 'GET',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: body && JSON.stringify(body),
  });
  return { status: response.status, body: await response.json() };
}

const text = (words: string) => [{ type: 'text', text: words }];
const HISTORY = [
  { type: 'user', parts: text('What is 2 + 2?') },
  { type: 'call', call: 'call_1', tool: 'calculate', input: { expression: '2 + 2' } },
  { type: 'result', call: 'call_1', parts: text('4') },
  { type: 'text', text: 'Let me see.' },
  { type: 'text', text: 'It is 4.' },
  { type: 'user', parts: text('Thanks') },
];

/** A session id that every dialect accepts. */
const ELSEWHERE = '5f2b1c9e-7c1d-4e0a-9f59-6d1f3c1b0a01';

const create = (session: string, history: unknown) =>
  ask(`/v1/sessions/${session}/commands`, { type: 'session.create', history });

describe('an imported conversation', () => {
  test('is recorded as such, and listed with its messages', async () => {
    const { status, body } = await create('taken', HISTORY);
    expect(status).toBe(200);
    expect(body).toMatchObject({
      seq: 3,
      facts: [
        { type: 'session.created' },
        { type: 'history.imported', input: expect.any(String), items: HISTORY.slice(0, 5) },
        { type: 'history.imported', input: expect.any(String), items: HISTORY.slice(5) },
      ],
    });
    const listed = await ask('/v1/sessions?q=2%20%2B%202');
    expect(listed.body).toMatchObject({
      sessions: [{ id: 'taken', title: 'What is 2 + 2?', messageCount: 4 }],
    });
  });

  test('is shown in other dialects as earlier messages', async () => {
    await create(ELSEWHERE, HISTORY);
    const { body: conversation } = await ask(`/v1/conversations/${ELSEWHERE}`);
    const metadata = { dialect: 'native', imported: true };
    expect(conversation).toMatchObject({
      messages: [
        { role: 'user', content: 'What is 2 + 2?', metadata },
        { role: 'assistant', content: 'Let me see.\n\nIt is 4.', metadata },
        { role: 'user', content: 'Thanks', metadata },
      ],
    });
    const { body: copilot } = await ask(`/api/session/${ELSEWHERE}/messages`);
    expect(copilot).toMatchObject({
      messages: [
        { role: 'user', content: 'What is 2 + 2?', sequenceNumber: 0, metadata },
        { role: 'assistant', content: 'Let me see.', sequenceNumber: 1, metadata },
        { role: 'assistant', content: 'It is 4.', sequenceNumber: 2, metadata },
        { role: 'user', content: 'Thanks', sequenceNumber: 3, metadata },
      ],
    });
  });

  test('is part of an export', async () => {
    await create('moved', HISTORY);
    const response = await fetch(`${server.http}/v1/sessions/moved/export`, {
      headers: { authorization: `Bearer ${token}` },
    });
    const lines = (await response.text()).trim().split('\n');
    expect(lines.map((line) => JSON.parse(line).type)).toEqual([
      undefined,
      'session.created',
      'history.imported',
      'history.imported',
    ]);
  });

  test('is refused as a whole if a part of it is invalid', async () => {
    const wrong = [...HISTORY, { type: 'result', call: 'call_9', parts: [] }];
    expect(await create('refused', wrong)).toMatchObject({
      status: 400,
      body: { error: { code: 'invalid', message: 'history.6: the call call_9 was not made' } },
    });
    expect((await ask('/v1/sessions/refused')).status).toBe(404);
  });
});
