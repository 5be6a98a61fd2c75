import { afterAll, beforeAll, expect, test } from 'bun:test';
import { startTestServer, type TestServer } from '../../testing/server.ts';
import type { aboutView } from './views.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({ PARLANCE_AUTH: 'required', PARLANCE_LISTEN: 'agentloop=0' });
});
afterAll(() => server.stop());

const about = (token?: string) =>
  fetch(`${server.http}/v1/server`, { headers: token ? { authorization: `Bearer ${token}` } : {} });

test('reports the model, the listeners and the caller', async () => {
  const response = await about(await server.login('uma', 'uma-password'));
  const view = (await response.json()) as ReturnType<typeof aboutView>;
  expect(view).toMatchObject({
    auth: 'required',
    principal: { id: 'uma', role: 'user' },
    provider: 'offline',
    model: 'offline',
    models: [{ id: 'offline', provider: 'offline' }],
    approval: 'suggest',
    channels: { key: 'app-key', host: null },
    defaultDomain: 'software_development',
  });
  expect(view.version).toMatch(/^\d+\.\d+\.\d+/);
  expect(view.listeners).toEqual([
    { dialect: 'all', port: server.running.port },
    { dialect: 'agentloop', port: server.running.listeners[0]?.port ?? 0 },
  ]);
  expect(view.domains.map(({ id }) => id)).toContain('social_chat');
  expect(view.agents.map(({ id }) => id)).toContain('coder');
});

test('reports nothing without a token if one is required', async () => {
  const refused = await about();
  expect([refused.status, Object.keys((await refused.json()) as object)]).toEqual([401, ['error', 'detail']]);
});
