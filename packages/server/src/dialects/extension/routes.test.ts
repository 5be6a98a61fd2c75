import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { Fault, LOCAL } from '@parlance/protocol';
import { Hono } from 'hono';
import { startTestServer, type TestServer } from '../../testing/server.ts';
import type { DialectContext } from '../kit/dialect.ts';
import { serveEndpoints } from '../kit/serve-endpoints.ts';
import { rest } from './routes.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.stop());

const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const post = (body: string, http = server.http, headers: Record<string, string> = {}) =>
  fetch(`${http}/api/summarize`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body,
  });

test('GET /health', async () => {
  const health = await fetch(`${server.http}/health`);
  expect(health.status).toBe(200);
  expect(await health.json()).toEqual({ status: 'ok', timestamp: expect.stringMatching(ISO) });
});

describe('POST /api/summarize', () => {
  test('summarises', async () => {
    const content = 'Bees live in hives. A hive has one queen. Bees make honey from nectar.';
    const answer = await post(JSON.stringify({ content, title: 'Bees' }));
    expect(answer.status).toBe(200);
    expect(await answer.json()).toEqual({
      summary: expect.stringMatching(/bees/i),
      title: 'Bees',
      timestamp: expect.stringMatching(ISO),
    });
  });

  test.each([{}, { title: null }, { title: ' ' }])('without a title uses Untitled: %j', async (more) => {
    const answer = await post(JSON.stringify({ content: 'Bees live in hives.', ...more }));
    expect(await answer.json()).toMatchObject({ title: 'Untitled' });
  });

  test('accepts 10 MB', async () => {
    const content = 'Bees live in hives and make honey. '.repeat(290_000);
    const answer = await post(JSON.stringify({ content }));
    expect(answer.status).toBe(200);
  });

  test.each([
    ['{}', 'Content is required'],
    ['{"content":""}', 'Content is required'],
    ['{"content":" \\n "}', 'Content is required'],
    ['{"content":5}', 'Content is required'],
    ['[]', 'Content is required'],
    ['null', 'Content is required'],
    ['{"content":"a","title":5}', 'Title must be a string'],
    ['{"content":', 'The body is not valid JSON'],
    ['', 'The body is not valid JSON'],
  ])('%s is refused', async (body, error) => {
    const answer = await post(body);
    expect(answer.status).toBe(400);
    expect(await answer.json()).toEqual({ error });
  });

  test('a failed model call is a 500 with the cause', async () => {
    const app = new Hono();
    const ctx = {
      authenticator: { open: true, verify: async () => LOCAL },
      now: () => 0,
      countRequest: () => undefined,
      readBody: async (request: Request) => new Uint8Array(await request.arrayBuffer()),
      log: { debug: () => undefined },
      engine: {
        summarise: async () => {
          throw new Fault('provider_unavailable', 'The model cannot be reached.');
        },
      },
    } as unknown as DialectContext;
    serveEndpoints(app, rest, ctx);
    const answer = await app.request('/api/summarize', { method: 'POST', body: '{"content":"a"}' });
    expect(answer.status).toBe(500);
    expect(await answer.json()).toEqual({
      error: 'Failed to generate summary',
      details: 'The model cannot be reached.',
    });
  });

  test('requires a token if the server does, and never accepts an invalid one', async () => {
    const body = '{"content":"Bees live in hives."}';
    const bad = await post(body, server.http, { authorization: 'Bearer nonsense' });
    expect(bad.status).toBe(401);
    const closed = await startTestServer({ PARLANCE_AUTH: 'required' });
    try {
      const refused = await post(body, closed.http);
      expect(refused.status).toBe(401);
      expect(await refused.json()).toEqual({ error: expect.any(String) });
      const authorization = `Bearer ${await closed.login('uma', 'uma-password')}`;
      expect((await post(body, closed.http, { authorization })).status).toBe(200);
      expect((await fetch(`${closed.http}/health`)).status).toBe(200);
    } finally {
      await closed.stop();
    }
  });
});
