import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { version } from '../../../package.json' with { type: 'json' };
import { startTestServer, type TestServer } from '../../testing/server.ts';

type Json = Record<string, unknown>;

let server: TestServer;

const tokens: Record<string, string> = {};

beforeAll(async () => {
  server = await startTestServer();
  for (const name of ['ada', 'dev', 'uma']) tokens[name] = await server.login(name, `${name}-password`);
});

afterAll(() => server.stop());

/** Without a token if `name` is null. */
async function ask(name: string | null, path: string, init: RequestInit = {}) {
  const headers: Record<string, string> =
    name === null ? {} : { authorization: `Bearer ${tokens[name] ?? name}` };
  const response = await fetch(server.http + path, { ...init, headers });
  return { status: response.status, headers: response.headers, body: (await response.json()) as unknown };
}

describe('the catalog', () => {
  test('domains', async () => {
    const { status, body } = await ask('uma', '/v1/domains');
    expect(status).toBe(200);
    expect(body).toContainEqual({
      id: 'software_development',
      name: 'Software Development',
      description: expect.any(String),
      default_agent: 'coder',
      agents: ['coder', 'debugger', 'tester', 'documenter', 'reviewer', 'planner'],
    });
    expect((body as Json[]).map((domain) => [domain.id, domain.default_agent])).toEqual([
      ['software_development', 'coder'],
      ['social_chat', 'empath'],
      ['social_simulation', 'storyteller'],
      ['brainstorming', 'moderator'],
    ]);
  });

  test('agents', async () => {
    const { body } = await ask('uma', '/v1/agents');
    expect(body).toContainEqual({
      id: 'storyteller',
      name: 'Storyteller',
      description: expect.any(String),
      domain_id: 'social_chat',
      domain_ids: ['social_chat', 'social_simulation'],
      tools: expect.arrayContaining(['echo', 'save_file', 'shell']),
      version,
      state: 'ready',
    });
  });

  test('agents of a domain', async () => {
    const agents = async (query: string) =>
      ((await ask('uma', `/v1/agents${query}`)).body as Json[]).map(({ id, domain_id }) => [id, domain_id]);
    expect(await agents('?domain_id=social_simulation')).toEqual([
      ['storyteller', 'social_simulation'],
      ['comedian', 'social_simulation'],
      ['philosopher', 'social_simulation'],
      ['empath', 'social_simulation'],
    ]);
    expect(await agents('?domain_id=nowhere')).toEqual([]);
    // The domain of the copilot is not listed.
    expect(await agents('?domain_id=copilot')).toEqual([]);
    expect(await agents('?domain_id=')).toEqual(await agents(''));
  });

  test('one domain, one agent', async () => {
    const { body: domains } = await ask('uma', '/v1/domains');
    const { body: agents } = await ask('uma', '/v1/agents');
    expect(await ask('uma', '/v1/domains/brainstorming')).toMatchObject({
      status: 200,
      body: (domains as Json[]).find(({ id }) => id === 'brainstorming') ?? {},
    });
    expect(await ask('uma', '/v1/agents/opponent')).toMatchObject({
      status: 200,
      body: (agents as Json[]).find(({ id }) => id === 'opponent') ?? {},
    });
    for (const path of ['/v1/domains/nowhere', '/v1/domains/copilot'])
      expect(await ask('uma', path)).toMatchObject({ status: 404, body: { detail: 'Unknown domain' } });
    for (const path of ['/v1/agents/nobody', '/v1/agents/copilot'])
      expect(await ask('uma', path)).toMatchObject({ status: 404, body: { detail: 'Unknown agent' } });
  });

  test('tools', async () => {
    const { body } = await ask('uma', '/v1/tools');
    const tools = body as Json[];
    expect(tools.find((tool) => tool.id === 'echo')).toEqual({
      id: 'echo',
      name: 'echo',
      description: expect.any(String),
      parameters: expect.objectContaining({ type: 'object', required: ['value'] }),
      requires_approval: false,
      allowed_roles: ['admin', 'developer', 'user'],
    });
  });

  // Known failure: no tool declares `asks` yet, so none is listed as needing approval. Remove `failing` when
  // they do.
  test('a tool that needs approval is listed as such', async () => {
    const { body } = await ask('uma', '/v1/tools');
    const saveFile = (body as Json[]).find((tool) => tool.id === 'save_file');
    expect(saveFile).toMatchObject({ requires_approval: true });
  });

  test.each(['/v1/domains', '/v1/agents', '/v1/tools', '/v1/conversations'])(
    '%s is available to local in open mode, but not with an invalid token',
    async (path) => {
      expect((await ask(null, path)).status).toBe(200);
      const { status, body } = await ask('not-a-token', path);
      expect([status, body]).toEqual([401, { detail: expect.stringMatching(/token/) }]);
    },
  );
});
