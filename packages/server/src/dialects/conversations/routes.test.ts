import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { connectAs, of, say, started, turn, UUID } from '../../testing/conversations.ts';
import { startTestServer, type TestServer } from '../../testing/server.ts';

type Json = Record<string, unknown>;

let server: TestServer;

const tokens: Record<string, string> = {};

beforeAll(async () => {
  server = await startTestServer();
  for (const name of ['ada', 'dev', 'uma']) tokens[name] = await server.login(name, `${name}-password`);
});

afterAll(() => server.stop());

const ISO = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);

/** Without a token if `name` is null. */
async function ask(name: string | null, path: string, init: RequestInit = {}) {
  const headers: Record<string, string> =
    name === null ? {} : { authorization: `Bearer ${tokens[name] ?? name}` };
  const response = await fetch(server.http + path, { ...init, headers });
  return { status: response.status, headers: response.headers, body: (await response.json()) as unknown };
}

const post = (name: string | null, path: string, body: unknown) =>
  ask(name, path, { method: 'POST', body: typeof body === 'string' ? body : JSON.stringify(body) });

describe('conversations', () => {
  test('one created here exists and can be used over the socket', async () => {
    const made = await post('uma', '/v1/conversations', { domain_id: 'brainstorming', agent_id: 'opponent' });
    expect(made.status).toBe(201);
    const expected = {
      id: UUID,
      domain_id: 'brainstorming',
      agent_id: 'opponent',
      created_by_role: 'user',
      created_by_sub: 'uma',
      title: '',
      status: 'idle',
      created_at: ISO,
      updated_at: ISO,
      metadata: { dialect: 'conversations', active_agent: 'opponent' },
      messages: [],
    };
    expect(made.body).toEqual(expected);
    const { id } = made.body as { id: string };
    const client = await connectAs(server, 'uma');
    say(client, id, ' count to 3 ');
    const complete = of(await turn(client), 'message_complete')[0];
    expect(complete?.payload).toMatchObject({ agentId: 'opponent', content: '1 2 3' });
    const messages = [
      {
        id: UUID,
        conversation_id: id,
        role: 'user',
        content: 'count to 3',
        created_at: ISO,
        metadata: { dialect: 'conversations' },
        agent_id: null,
      },
      {
        id: complete?.payload.messageId,
        conversation_id: id,
        role: 'assistant',
        content: '1 2 3',
        created_at: ISO,
        metadata: {},
        agent_id: 'opponent',
      },
    ];
    const found = await ask('uma', `/v1/conversations/${id}`);
    expect(found.body).toEqual({ ...expected, id, title: 'count to 3', messages });
    expect((await ask('uma', `/v1/conversations/${id}/messages`)).body).toEqual(messages);
    expect((await ask('uma', `/v1/conversations/${id}/messages?limit=1`)).body).toEqual([messages[1]]);
  });

  test('an answer of several blocks with a handoff is one message, with the id and content of the socket', async () => {
    const client = await connectAs(server, 'dev');
    const id = await started(client);
    say(client, id, 'hand off to the tester');
    const complete = (await client.until('message_complete')).at(-1) as { payload?: Json } | undefined;
    const { body } = await ask('dev', `/v1/conversations/${id}/messages`);
    expect(body).toHaveLength(2);
    expect((body as Json[])[1]).toMatchObject({
      id: complete?.payload?.messageId,
      content: complete?.payload?.content,
      agent_id: 'tester',
    });
  });

  test('the result of a model call is not a message', async () => {
    const client = await connectAs(server, 'dev');
    const id = await started(client);
    say(client, id, 'echo hi');
    await client.next('tool_executed');
    const complete = (await client.next('message_complete')) as { payload?: Json };
    const { body } = await ask('dev', `/v1/conversations/${id}/messages`);
    expect((body as Json[]).map(({ role, content }) => [role, content])).toEqual([
      ['user', 'echo hi'],
      ['assistant', complete.payload?.content],
    ]);
  });

  test.each([
    [{ domain_id: 'nowhere' }, 404],
    [{ domain_id: 'brainstorming', agent_id: 'nobody' }, 404],
    [{ domain_id: 'brainstorming', agent_id: 'copilot' }, 404],
    [{}, 422],
    [{ domain_id: '' }, 422],
    [{ domain_id: 1 }, 422],
    [{ domain_id: 'brainstorming', agent_id: 1 }, 422],
    ['[]', 422],
    ['{', 422],
  ])('POST of %j is %d', async (given, status) => {
    const answer = await post('uma', '/v1/conversations', given);
    expect([answer.status, answer.body]).toEqual([status, { detail: expect.stringMatching(/\S/) }]);
  });

  test('an agent of another domain can start it, and answers', async () => {
    const given = { domain_id: 'brainstorming', agent_id: 'coder' };
    const { status, body } = await post('uma', '/v1/conversations', given);
    expect([status, body]).toMatchObject([201, given]);
    const client = await connectAs(server, 'uma');
    say(client, String((body as Json).id), 'count to 2');
    const complete = of(await turn(client), 'message_complete')[0];
    expect(complete?.payload).toMatchObject({ agentId: 'coder', content: '1 2' });
  });

  test('agent_id can be omitted or null', async () => {
    for (const given of [{ domain_id: 'social_chat' }, { domain_id: 'social_chat', agent_id: null }]) {
      const { status, body } = await post('uma', '/v1/conversations', given);
      expect(status).toBe(201);
      expect(body).toMatchObject({ metadata: { active_agent: 'empath' } });
    }
  });

  test('a missing one and one of another user are 404; an admin sees it, without the role of the owner', async () => {
    const { body } = await post('uma', '/v1/conversations', { domain_id: 'social_chat' });
    const { id } = body as { id: string };
    for (const path of ['', '/messages', '/workflow-logs'].map((end) => `/v1/conversations/${id}${end}`)) {
      const foreign = await ask('dev', path);
      expect([foreign.status, foreign.body]).toEqual([404, { detail: 'Unknown conversation' }]);
      expect((await ask(null, path)).status).toBe(404);
    }
    expect((await ask('uma', '/v1/conversations/nothing')).status).toBe(404);
    expect((await ask('ada', `/v1/conversations/${id}`)).body).toMatchObject({
      id,
      created_by_sub: 'uma',
      created_by_role: null,
    });
  });

  test('the list includes sessions of every dialect, named in metadata.dialect', async () => {
    const page = await server.connect(`/broadcast?token=${tokens.dev}`);
    page.send({ type: 'chat', message: 'count to 2', session_id: 'a page/of mine' });
    await page.next('agent_message');
    const { body } = await ask('dev', '/v1/conversations?limit=100');
    expect(body).toContainEqual({
      id: 'a page/of mine',
      domain_id: 'software_development',
      agent_id: 'coder',
      created_by_role: 'developer',
      created_by_sub: 'dev',
      title: 'count to 2',
      status: 'idle',
      created_at: ISO,
      updated_at: ISO,
      metadata: { dialect: 'broadcast', active_agent: 'coder' },
      messages: [],
    });
    const path = `/v1/conversations/${encodeURIComponent('a page/of mine')}/messages`;
    expect((await ask('dev', path)).body).toMatchObject([
      { role: 'user', content: 'count to 2', metadata: { dialect: 'broadcast' } },
      { role: 'assistant', content: '1 2' },
    ]);
  });
});

describe('pages', () => {
  let own: TestServer;
  beforeAll(async () => {
    own = await startTestServer();
  });
  afterAll(() => own.stop());

  test('the latest first, without overlap, no x-next-cursor on the last page, filtered by domain', async () => {
    const token = await own.login('uma', 'uma-password');
    const headers = { authorization: `Bearer ${token}` };
    const made: string[] = [];
    for (const domain_id of ['social_chat', 'brainstorming', 'social_chat', 'social_chat', 'brainstorming']) {
      const init = { method: 'POST', headers, body: JSON.stringify({ domain_id }) };
      const response = await fetch(`${own.http}/v1/conversations`, init);
      made.push(((await response.json()) as { id: string }).id);
    }
    const pages = async (query: string) => {
      const seen: string[][] = [];
      for (let cursor: string | null = ''; cursor !== null; ) {
        const path: string = `${own.http}/v1/conversations?${query}&cursor=${cursor}`;
        const response = await fetch(path, { headers });
        seen.push(((await response.json()) as { id: string }[]).map(({ id }) => id));
        cursor = response.headers.get('x-next-cursor');
      }
      return seen;
    };
    const all = await pages('limit=2');
    expect(all.map((page) => page.length)).toEqual([2, 2, 1]);
    expect(all.flat().toSorted()).toEqual(made.toSorted());
    const chats = await pages('limit=2&domain_id=social_chat');
    expect(chats.flat().toSorted()).toEqual([made[0], made[2], made[3]].map(String).toSorted());
    expect(await pages('domain_id=nowhere')).toEqual([[]]);
  });

  test.each([
    '/v1/conversations?limit=0',
    '/v1/conversations?limit=101',
    '/v1/conversations?limit=-1',
    '/v1/conversations?limit=1.5',
    '/v1/conversations?limit=ten',
    '/v1/conversations?limit=',
    '/v1/conversations?cursor=nonsense',
  ])('%s is 422', async (path) => {
    const { status, body } = await ask('uma', path);
    expect([status, body]).toEqual([422, { detail: expect.stringMatching(/\S/) }]);
  });

  test.each(['0', '1001', 'x'])('messages?limit=%s is 422', async (limit) => {
    const { body } = await post('uma', '/v1/conversations', { domain_id: 'social_chat' });
    const { id } = body as { id: string };
    const { status } = await ask('uma', `/v1/conversations/${id}/messages?limit=${limit}`);
    expect(status).toBe(422);
  });
});

describe('if a token is required', () => {
  let closed: TestServer;
  beforeAll(async () => {
    closed = await startTestServer({ PARLANCE_AUTH: 'required' });
  });
  afterAll(() => closed.stop());

  test.each([
    ['GET', '/v1/auth/me'],
    ['GET', '/v1/domains'],
    ['GET', '/v1/agents'],
    ['GET', '/v1/tools'],
    ['GET', '/v1/conversations'],
    ['POST', '/v1/conversations'],
    ['GET', '/v1/conversations/x'],
    ['GET', '/v1/conversations/x/messages'],
    ['GET', '/v1/conversations/x/workflow-logs'],
    ['GET', '/v1/domains/brainstorming'],
    ['GET', '/v1/agents/coder'],
    ['GET', '/v1/tool-runs'],
    ['GET', '/v1/tool-runs/x'],
    ['GET', '/v1/health'],
    ['GET', '/v1/health/details'],
    ['GET', '/v1/metrics'],
  ])('%s %s is 401 without one', async (method, path) => {
    const response = await fetch(closed.http + path, { method });
    expect([response.status, await response.json()]).toEqual([401, { detail: 'A token is required.' }]);
  });

  test('a socket without one is closed with 1008, and one with a token is served', async () => {
    const anonymous = await closed.connect('/conversations');
    expect((await anonymous.closed).code).toBe(1008);
    const uma = await connectAs(closed, 'uma');
    expect(await started(uma)).toEqual(UUID);
  });
});
