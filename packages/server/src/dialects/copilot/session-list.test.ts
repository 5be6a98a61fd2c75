import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { type Json, startTestApi, type TestApi } from '../../testing/copilot.ts';

let api: TestApi;

beforeAll(async () => {
  api = await startTestApi();
});

afterAll(() => api.stop());

const nowhere = () => crypto.randomUUID();

const dataOf = ({ body }: { body: Json }): Json => body.data as Json;

const idsOf = (data: Json): unknown[] => (data.sessions as Json[]).map(({ sessionId }) => sessionId);

describe('the list', () => {
  let own: TestApi;
  beforeAll(async () => {
    own = await startTestApi();
  });
  afterAll(() => own.stop());
  const list = async (query = '') => dataOf(await own.get('uma', `/api/session${query}`));
  const init = (sessionId: string, url?: string) => own.post('uma', '/api/session/init', { sessionId, url });

  test('`latest` is a 404 if there is no session', async () => {
    const { status, body } = await own.get('uma', '/api/session/latest');
    expect(status).toBe(404);
    expect(body).toMatchObject({ success: false, code: 'SESSION_NOT_FOUND' });
    expect(await list()).toEqual({
      sessions: [],
      pagination: { total: 0, limit: 20, offset: 0, hasMore: false },
    });
  });

  test('has pages, leaves out archived sessions, and includes those of other dialects', async () => {
    const [one, two, three] = [nowhere(), nowhere(), nowhere()];
    await init(one, 'https://www.example.org/one');
    await init(two, 'https://example.org/two');
    await init(three, 'https://other.net');
    const command = { type: 'session.create' };
    const native = nowhere();
    await own.post('uma', `/v1/sessions/${native}/commands`, command);
    // Clients reject a list with an id that is not a UUID.
    await own.post('uma', '/v1/sessions/by-native/commands', command);

    expect(idsOf(await list())).toEqual([native, three, two, one]);
    const page = await list('?limit=2&offset=1');
    expect(idsOf(page)).toEqual([three, two]);
    expect(page.pagination).toEqual({ total: 4, limit: 2, offset: 1, hasMore: true });
    expect((await list('?limit=2&offset=2')).pagination).toMatchObject({ hasMore: false });
    expect(idsOf(await list('?offset=9'))).toEqual([]);
    const dialects = ((await list()).sessions as Json[]).map(({ metadata }) => metadata);
    expect(dialects[0]).toEqual({ dialect: 'native', initialQuery: '' });

    const archived = await own.post('uma', '/api/session', { sessionId: three });
    expect(archived.body).toMatchObject({ success: true, data: { sessionId: three, status: 'archived' } });
    expect(idsOf(await list())).toEqual([native, two, one]);
    expect(idsOf(await list('?includeArchived=true'))).toEqual([native, three, two, one]);
    expect(idsOf(await list('?status=archived'))).toEqual([three]);
    expect(idsOf(await list('?status=active'))).toEqual([native, two, one]);
    expect(idsOf(await list('?status=failed'))).toEqual([]);
    expect(dataOf(await own.get('uma', `/api/session/${three}`)).status).toBe('archived');
    const twice = await own.post('uma', '/api/session', { sessionId: three });
    expect(twice.status).toBe(200);

    const latest = await own.get('uma', '/api/session/latest');
    expect(latest.body).toMatchObject({ sessionId: native, url: '' });
    expect(latest.body).not.toHaveProperty('success');
    expect(idsOf(dataOf(await own.get('dev', '/api/session')))).toEqual([]);
    expect(idsOf(dataOf(await own.get('ada', '/api/session')))).toEqual([native, two, one]);

    const byDomain = async (domain: string) =>
      dataOf(await own.get('uma', `/api/session/by-domain/${domain}`));
    expect(await byDomain('example.org')).toMatchObject({ sessionId: two, session: { sessionId: two } });
    expect(await byDomain('WWW.example.org')).toMatchObject({ sessionId: two });
    expect(await byDomain('other.net')).toEqual({ session: null });
    expect(await byDomain('nobody.net')).toEqual({ session: null });
  });

  test.each([
    ['/api/session?status=asleep', 'status'],
    ['/api/session?limit=0', 'limit'],
    ['/api/session?limit=101', 'limit'],
    ['/api/session?offset=-1', 'offset'],
    ['/api/session?includeArchived=perhaps', 'includeArchived'],
    ['/api/session/latest?status=asleep', 'status'],
    ['/api/session/by-domain/no%20domain', 'domain'],
  ])('%s is refused with the name of the field', async (path, field) => {
    const { status, body } = await own.get('uma', path);
    expect(status).toBe(400);
    expect(body).toMatchObject({ code: 'VALIDATION_ERROR', details: { errors: [{ field }] } });
  });
});
