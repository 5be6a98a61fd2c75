import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { type Json, startTestApi, type TestApi } from '../../testing/copilot.ts';
import { until } from '../../testing/until.ts';

let api: TestApi;

beforeAll(async () => {
  api = await startTestApi();
});

afterAll(() => api.stop());

const ISO = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);

const nowhere = () => crypto.randomUUID();

/** Creates a session without messages. */
async function begun(name: string, url?: string, title?: string): Promise<string> {
  const sessionId = nowhere();
  await api.post(name, '/api/session/init', { sessionId, url, title });
  return sessionId;
}

/**
 * Submits an input with the native API, which creates the session if it is missing, and waits for the answer.
 */
async function submitted(name: string, sessionId: string, text: string): Promise<void> {
  const command = { type: 'input.submit', parts: [{ type: 'text', text }] };
  await api.post(name, `/v1/sessions/${sessionId}/commands`, command);
  await until(async () => (await api.get(name, `/v1/sessions/${sessionId}`)).body.status === 'idle');
}

const dataOf = ({ body }: { body: Json }): Json => body.data as Json;

const messagesOf = (body: Json): Json[] => body.messages as Json[];

describe('GET /api/session/{id}/messages', () => {
  test('has all messages with their author, numbered without gaps, from every dialect', async () => {
    const id = nowhere();
    await submitted('uma', id, 'Hello');
    await submitted('uma', id, 'Hello again');
    const { status, body } = await api.get('uma', `/api/session/${id}/messages`);
    expect(status).toBe(200);
    expect(body).toMatchObject({ sessionId: id, total: 4, sessionExists: true });
    expect(messagesOf(body).map(({ role, sequenceNumber }) => [role, sequenceNumber])).toEqual([
      ['user', 0],
      ['assistant', 1],
      ['user', 2],
      ['assistant', 3],
    ]);
    expect(messagesOf(body)[0]).toEqual({
      messageId: expect.any(String),
      role: 'user',
      content: 'Hello',
      sequenceNumber: 0,
      timestamp: ISO,
      metadata: { dialect: 'native' },
    });
  });

  test('`limit` returns the latest, oldest first; `since` includes its own instant', async () => {
    const id = nowhere();
    for (const text of ['One', 'Two', 'Three']) await submitted('uma', id, text);
    const path = `/api/session/${id}/messages`;
    const all = messagesOf((await api.get('uma', path)).body);
    const latest = (await api.get('uma', `${path}?limit=2`)).body;
    expect(latest).toMatchObject({ total: 6 });
    expect(messagesOf(latest)).toEqual(all.slice(-2));
    const { timestamp } = all[2] ?? {};
    const since = messagesOf((await api.get('uma', `${path}?since=${timestamp}`)).body);
    expect(since).toEqual(all.filter((message) => String(message.timestamp) >= String(timestamp)));
    expect(since.map(({ content }) => content)).toContain('Two');
    expect(messagesOf((await api.get('uma', `${path}?since=2999-01-01T00:00:00Z`)).body)).toEqual([]);
    expect(messagesOf((await api.get('uma', `${path}?limit=&since=`)).body)).toEqual(all);
  });

  test.each([
    ['limit=0', 'limit'],
    ['limit=201', 'limit'],
    ['limit=many', 'limit'],
    ['since=yesterday', 'since'],
  ])('?%s is refused with the name of the field', async (query, field) => {
    const { status, body } = await api.get('uma', `/api/session/${nowhere()}/messages?${query}`);
    expect(status).toBe(400);
    expect(body).toMatchObject({ code: 'VALIDATION_ERROR', details: { errors: [{ field }] } });
  });

  test('an unknown session is empty, not an error', async () => {
    const id = nowhere();
    const { status, body } = await api.get('uma', `/api/session/${id}/messages`);
    expect(status).toBe(200);
    expect(body).toEqual({ sessionId: id, messages: [], total: 0, sessionExists: false });
  });
});

describe('an id', () => {
  const ENDPOINTS: [string, string][] = [
    ['GET', '/messages'],
    ['GET', ''],
    ['PATCH', ''],
    ['GET', '/task/active'],
  ];

  test.each(ENDPOINTS)('that is not a UUID is a 400: %s …%s', async (method, path) => {
    const { status, body } = await api.ask('uma', {
      method,
      path: `/api/session/session-1${path}`,
      body: bodyFor(method),
    });
    expect(status).toBe(400);
    expect(body).toMatchObject({ code: 'VALIDATION_ERROR', details: { errors: [{ field: 'sessionId' }] } });
  });

  test.each(ENDPOINTS)('of another user is a 403, but not for an admin: %s …%s', async (method, path) => {
    const id = await begun('dev');
    const ask = (name: string) =>
      api.ask(name, { method, path: `/api/session/${id}${path}`, body: bodyFor(method) });
    const foreign = await ask('uma');
    expect(foreign.status).toBe(403);
    expect(foreign.body).toMatchObject({ success: false, code: 'FORBIDDEN' });
    expect((await ask('ada')).status).toBe(200);
  });

  test('of another user can be neither archived nor started', async () => {
    const sessionId = await begun('dev');
    for (const path of ['/api/session', '/api/session/init'])
      expect((await api.post('uma', path, { sessionId })).status).toBe(403);
    expect(dataOf(await api.get('dev', `/api/session/${sessionId}`)).status).toBe('active');
  });

  test('that is unknown is SESSION_NOT_FOUND if there is nothing to show', async () => {
    const sessionId = nowhere();
    const path = `/api/session/${sessionId}`;
    for (const answer of [
      await api.get('uma', path),
      await api.ask('uma', { method: 'PATCH', path, body: { title: 'New' } }),
      await api.post('uma', '/api/session', { sessionId }),
    ]) {
      expect(answer.status).toBe(404);
      expect(answer.body).toMatchObject({ success: false, code: 'SESSION_NOT_FOUND' });
    }
    expect((await api.get('uma', `${path}/task/active`)).body).toEqual({ success: true, data: null });
  });

  const bodyFor = (method: string) => (method === 'PATCH' ? { title: 'New' } : undefined);
});

describe('POST /api/session/init', () => {
  test('starts a session under that id, once, and stores the page', async () => {
    const sessionId = nowhere();
    const url = 'https://shop.example.co.uk/tea?x=1';
    const given = { sessionId, url, title: 'Tea', tabId: 7 };
    const first = await api.post('uma', '/api/session/init', given);
    expect(first.body).toEqual({ success: true, data: { sessionId, created: true } });
    const again = await api.post('uma', '/api/session/init', { ...given, title: 'Coffee' });
    expect(again.body).toEqual({ success: true, data: { sessionId, created: false } });
    const session = {
      sessionId,
      title: 'Tea',
      isRenamed: false,
      status: 'active',
      url,
      domain: 'example.co.uk',
      createdAt: ISO,
      updatedAt: ISO,
      messageCount: 0,
      metadata: { dialect: 'copilot', initialQuery: '' },
    };
    const { body } = await api.get('uma', `/api/session/${sessionId}`);
    expect(body).toEqual({ success: true, data: { ...session, session } });
  });

  test('updates the page with a URL of any length', async () => {
    const sessionId = await begun('uma', 'https://one.org/');
    const url = `https://two.org/${'x'.repeat(3_000)}`;
    expect((await api.post('uma', '/api/session/init', { sessionId, url })).status).toBe(200);
    const data = dataOf(await api.get('uma', `/api/session/${sessionId}`));
    expect([data.domain, String(data.url).length]).toEqual(['two.org', 2_000]);
  });

  test.each<[Json, string]>([
    [{}, 'sessionId'],
    [{ sessionId: 'mine' }, 'sessionId'],
    [{ sessionId: nowhere(), url: 'nowhere' }, 'url'],
  ])('%p is refused with the name of the field %s', async (body, field) => {
    const answer = await api.post('uma', '/api/session/init', body);
    expect(answer.status).toBe(400);
    expect(answer.body).toMatchObject({ code: 'VALIDATION_ERROR', details: { errors: [{ field }] } });
  });
});

describe('PATCH /api/session/{id}', () => {
  test('renames', async () => {
    const id = await begun('uma');
    const path = `/api/session/${id}`;
    const { body } = await api.ask('uma', { method: 'PATCH', path, body: { title: '  My tea  ' } });
    expect(body).toMatchObject({ success: true, data: { title: 'My tea', session: { title: 'My tea' } } });
    expect((await api.ask('uma', { method: 'PATCH', path, body: { title: 'x'.repeat(500) } })).status).toBe(
      200,
    );
    expect(dataOf(await api.get('uma', path)).title).toBe('x'.repeat(500));
  });

  test.each([{}, { title: '' }, { title: '  ' }, { title: 7 }, { title: 'x'.repeat(501) }])(
    'a title has 1 to 500 characters: %#',
    async (body) => {
      const answer = await api.ask('uma', {
        method: 'PATCH',
        path: `/api/session/${await begun('uma')}`,
        body,
      });
      expect(answer.status).toBe(400);
      expect(answer.body).toMatchObject({ details: { errors: [{ field: 'title' }] } });
    },
  );
});

describe('GET /api/session/{id}/task/active', () => {
  test('is the task that waits for the browser; null after its end', async () => {
    const sessionId = nowhere();
    const page = {
      url: 'https://shop.example.org/',
      dom: '<html><body><button id="3">Submit</button></body></html>',
      query: 'click the Submit button',
    };
    const first = dataOf(await api.post('uma', '/api/agent/interact', { sessionId, ...page }));
    const path = `/api/session/${sessionId}/task/active?url=${encodeURIComponent(page.url)}`;
    expect((await api.get('uma', path)).body).toEqual({
      success: true,
      data: {
        taskId: first.taskId,
        sessionId,
        query: page.query,
        status: 'executing',
        currentStepIndex: expect.any(Number),
        createdAt: ISO,
        updatedAt: ISO,
      },
    });
    expect(dataOf(await api.get('uma', `/api/session/${sessionId}`))).toMatchObject({ status: 'active' });
    await api.post('uma', `/v1/sessions/${sessionId}/commands`, { type: 'turn.cancel' });
    expect((await api.get('uma', path)).body).toEqual({ success: true, data: null });
  });
});
