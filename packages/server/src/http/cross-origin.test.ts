import { expect, test } from 'bun:test';
import { Hono, type MiddlewareHandler } from 'hono';
import { cors } from 'hono/cors';
import { crossOrigin } from './cross-origin.ts';

const ORIGIN = 'https://app.example';

function serve(middleware: MiddlewareHandler) {
  const routes = new Hono();
  routes.use(middleware);
  routes.get('/whole', (c) => c.json({ ok: true }));
  routes.get('/varies', (c) => c.body('', 200, { vary: 'Accept' }));
  routes.get('/stream', () => new Response(new Blob(['event: a\n\n']).stream()));
  routes.get('/breaks', () => {
    throw new Error('a bug');
  });
  routes.onError((_, c) => c.json({ error: 'Something went wrong.' }, 500));
  return Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: routes.fetch });
}

const sharingHeaders = ({ headers }: Response) =>
  [...headers].filter(([name]) => name === 'vary' || name.startsWith('access-control-')).sort();

test("responses have the same headers as with hono's cors", async () => {
  const exposeHeaders = [
    'mcp-session-id',
    'request-id',
    'x-next-cursor',
    'x-parlance-session',
    'x-request-id',
  ];
  const theirs = serve(cors({ origin: (origin) => origin, credentials: false, exposeHeaders }));
  const ours = serve(crossOrigin());
  for (const path of ['whole', 'varies', 'stream', 'breaks', 'nowhere'])
    for (const origin of [undefined, ORIGIN])
      for (const method of ['GET', 'OPTIONS']) {
        const headers: Record<string, string> = origin
          ? { origin, 'access-control-request-method': 'POST' }
          : {};
        const [expected, given] = await Promise.all(
          [theirs, ours].map((server) => fetch(new URL(path, server.url), { method, headers })),
        );
        expect(given?.status).toBe(expected?.status ?? 0);
        const wanted = expected ? sharingHeaders(expected) : [];
        expect([path, method, ...(given ? sharingHeaders(given) : [])]).toEqual([path, method, ...wanted]);
        expect(wanted.length).toBeGreaterThan(0);
      }
  await Promise.all([theirs.stop(true), ours.stop(true)]);
});
