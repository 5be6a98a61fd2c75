/** A server whose operator has named its public address. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { request } from 'node:http';
import { startTestServer, type TestServer } from '../packages/server/src/testing/server.ts';

const PUBLIC = 'https://chat.example.com';
let server: TestServer;

beforeAll(async () => {
  server = await startTestServer({ PARLANCE_PUBLIC_URL: PUBLIC });
});
afterAll(() => server.stop());

const get = async (path: string) => (await fetch(`${server.http}${path}`)).json();

test('the A2A card and the client document name it, whatever the address of the request', async () => {
  const { supportedInterfaces } = (await get('/.well-known/agent-card.json')) as {
    supportedInterfaces: { url: string }[];
  };
  expect(supportedInterfaces.map(({ url }) => new URL(url).origin)).toEqual([PUBLIC, PUBLIC, PUBLIC]);
  expect(await get('/v1/mcp/client.json')).toMatchObject({
    client_id: `${PUBLIC}/v1/mcp/client.json`,
    redirect_uris: [`${PUBLIC}/v1/mcp/signed-in`],
  });
});

test('requests under that name are accepted, and pages from there may call', async () => {
  const statusAs = (headers: Record<string, string>) =>
    new Promise<number | undefined>((resolve, reject) => {
      const asked = request(`${server.http}/health`, { headers }, (response) => {
        response.resume();
        resolve(response.statusCode);
      });
      asked.on('error', reject).end();
    });
  expect(await statusAs({ host: 'chat.example.com' })).toBe(200);
  expect(await statusAs({ origin: PUBLIC })).toBe(200);
  expect(await statusAs({ host: 'other.example.com' })).toBe(403);
  expect(await statusAs({ origin: 'https://other.example.com' })).toBe(403);
});
