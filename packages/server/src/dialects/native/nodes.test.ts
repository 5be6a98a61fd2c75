import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { version } from '../../../package.json' with { type: 'json' };
import { startTestServer, type TestServer } from '../../testing/server.ts';

type Json = Record<string, unknown>;

describe('nodes', () => {
  let server: TestServer;
  /** never answers */
  const model = Bun.serve({ port: 0, idleTimeout: 0, fetch: () => new Promise<Response>(() => undefined) });
  beforeAll(async () => {
    server = await startTestServer({
      PARLANCE_AUTH: 'required',
      OPENAI_BASE_URL: `http://127.0.0.1:${model.port}/v1`,
      OPENAI_API_KEY: 'key',
      MODEL: 'silent',
    });
  });
  afterAll(async () => {
    await server.stop();
    await model.stop(true);
  });

  async function asked(name: string, path: string, body?: object): Promise<{ status: number; body: Json }> {
    const response = await fetch(server.http + path, {
      method: body ? 'POST' : 'GET',
      headers: {
        authorization: `Bearer ${await server.login(name, `${name}-password`)}`,
        'content-type': 'application/json',
      },
      body: body && JSON.stringify(body),
    });
    return { status: response.status, body: (await response.json()) as Json };
  }

  test('a server with its own data folder is one node, without lease and bus', async () => {
    const { body } = await asked('ada', '/v1/admin/nodes');
    expect(body).toEqual({
      nodes: [
        {
          id: expect.stringMatching(/^[0-9a-f-]{36}$/),
          version,
          home: null,
          startedAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
          leaseAgeMs: null,
          alive: true,
          bus: 'none',
          sessions: 0,
          here: true,
        },
      ],
    });
  });

  test('admins see which node drives a session while it runs; its owner does not', async () => {
    const parts = [{ type: 'text', text: 'Hi' }];
    await asked('dev', '/v1/sessions/driven/commands', { type: 'input.submit', parts });
    const { nodes } = (await asked('ada', '/v1/admin/nodes')).body as { nodes: Json[] };
    expect(nodes).toMatchObject([{ sessions: 1 }]);
    const { body } = await asked('ada', '/v1/sessions/driven');
    expect(body).toMatchObject({ status: 'running', driver: { node: nodes[0]?.id } });
    expect((await asked('dev', '/v1/sessions/driven')).body).not.toContainKey('driver');
    await asked('dev', '/v1/sessions/driven/commands', { type: 'turn.cancel' });
    expect((await asked('ada', '/v1/sessions/driven')).body).toMatchObject({ status: 'idle', driver: null });
    expect((await asked('ada', '/v1/admin/nodes')).body).toMatchObject({ nodes: [{ sessions: 0 }] });
  });

  test('are for admins only', async () => {
    const message = 'Only an admin may see the nodes.';
    for (const name of ['dev', 'uma'])
      expect(await asked(name, '/v1/admin/nodes')).toEqual({
        status: 403,
        body: { error: { code: 'forbidden', message }, detail: message },
      });
    expect((await fetch(`${server.http}/v1/admin/nodes`)).status).toBe(401);
  });
});
