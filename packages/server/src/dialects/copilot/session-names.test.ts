/** The title of a session: its site and first query, until a user chooses one. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { type Answer, type Json, startTestApi, type TestApi } from '../../testing/copilot.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api.stop());

const url = 'https://www.shop.example/contact';
const QUERY = 'click the Submit button';
const dataOf = (answer: Answer): Json => answer.body.data as Json;
const get = async (sessionId: string) => dataOf(await api.get('uma', `/api/session/${sessionId}`));
const init = (more: object) => api.post('uma', '/api/session/init', more);
const ask = (sessionId: string, more: object = {}) =>
  api.post('uma', '/api/agent/interact', {
    sessionId,
    query: QUERY,
    url,
    dom: '<button id="4">Submit</button>',
    ...more,
  });
const rename = (sessionId: string, title: string) =>
  api.ask('uma', { method: 'PATCH', path: `/api/session/${sessionId}`, body: { title } });

describe('a session created by init', () => {
  test.each<[string, object]>([
    ['with a page', { url }],
    ['without one', {}],
    ['with a title', { url, title: 'Contact' }],
  ])('%s is called after the site and the first query', async (_name, more) => {
    const sessionId = crypto.randomUUID();
    await init({ sessionId, ...more });
    expect(await get(sessionId)).toMatchObject({ isRenamed: false, metadata: { initialQuery: '' } });
    await ask(sessionId);
    const named = {
      title: `shop.example: ${QUERY}`,
      domain: 'shop.example',
      isRenamed: false,
      metadata: { dialect: 'copilot', initialQuery: QUERY },
    };
    expect(await get(sessionId)).toMatchObject({ ...named, session: named });
    await ask(sessionId, { query: 'click Submit once more' });
    expect(await get(sessionId)).toMatchObject(named);
  });

  test('is named after its site if the query has no page', async () => {
    const sessionId = crypto.randomUUID();
    await init({ sessionId, url });
    await api.post('uma', '/api/agent/interact', { sessionId, query: 'go to example.com' });
    expect(await get(sessionId)).toMatchObject({ title: 'shop.example: go to example.com' });
  });

  test('keeps a name chosen before the first query', async () => {
    const sessionId = crypto.randomUUID();
    await init({ sessionId, url });
    await rename(sessionId, 'Mine');
    await ask(sessionId);
    expect(await get(sessionId)).toMatchObject({
      title: 'Mine',
      isRenamed: true,
      metadata: { initialQuery: QUERY },
    });
  });
});

describe('every session object', () => {
  test('has its first query and whether it was renamed', async () => {
    const sessionId = crypto.randomUUID();
    await ask(sessionId);
    const before = { isRenamed: false, metadata: { initialQuery: QUERY } };
    const objects = async () => [
      await get(sessionId),
      (await api.get('uma', '/api/session/latest')).body,
      (dataOf(await api.get('uma', '/api/session?limit=1')).sessions as Json[])[0],
      dataOf(await api.get('uma', '/api/session/by-domain/shop.example')),
    ];
    for (const object of await objects()) expect(object).toMatchObject({ sessionId, ...before });
    await rename(sessionId, 'Mine');
    for (const object of await objects())
      expect(object).toMatchObject({ sessionId, ...before, title: 'Mine', isRenamed: true });
  });

  test('of another dialect as well', async () => {
    const id = crypto.randomUUID();
    await api.post('uma', `/v1/sessions/${id}/commands`, {
      type: 'input.submit',
      parts: [{ type: 'text', text: 'Hello there' }],
    });
    const { sessions } = dataOf(await api.get('uma', '/api/session?limit=100')) as { sessions: Json[] };
    expect(sessions.find(({ sessionId }) => sessionId === id)).toMatchObject({
      isRenamed: false,
      metadata: { dialect: 'native', initialQuery: 'Hello there' },
    });
  });
});

test('only PATCH returns the time in milliseconds', async () => {
  const sessionId = crypto.randomUUID();
  await ask(sessionId);
  const { body } = await rename(sessionId, 'Mine');
  const { updatedAt } = await get(sessionId);
  const session = { sessionId, title: 'Mine', isRenamed: true, updatedAt: Date.parse(String(updatedAt)) };
  expect(body).toMatchObject({ success: true, data: { ...session, session }, session });
});
