import { expect, test } from 'bun:test';
import type { Hono } from 'hono';
import { type Dialect, type DialectContext, defineDialect } from '../dialects/kit/dialect.ts';
import { endpointOf, type RestApi } from '../dialects/kit/endpoint.ts';
import type { Operations } from '../telemetry/routes.ts';
import { QUIET } from '../testing/pusher.ts';
import { unstartedDialects } from '../testing/unstarted.ts';
import { dialectRoutes, httpRoutes, refusalOf } from './http.ts';

const endpoint = endpointOf<DialectContext, object>();

const answering = (path: string, text: string): RestApi<DialectContext> => ({
  endpoints: [path, `${path}/{id}`].map((path) =>
    endpoint({
      method: 'get',
      path,
      summary: 'A thing',
      security: 'nobody',
      limited: false,
      answers: { 200: { description: 'The thing', type: 'text/plain' } },
      handle: ({ c }) => c.text(`${text} ${c.req.param('id') ?? ''}`),
    }),
  ),
  fault: ({ message }, c) => c.text(message, 500),
});

const plain = defineDialect({
  name: 'plain',
  listen: [{ http: '/v1/things/*' }],
  inbound: (ctx) => ({ rest: ctx }),
  rest: answering('/v1/things', 'plain'),
  faults: { refusal: (status) => ({ plain: status }) },
});

const marked = defineDialect({
  name: 'marked',
  listen: [
    { http: '/marked/*' },
    { http: '/v1/things/*', when: { header: 'x-marked', as: '/marked/things/*' } },
  ],
  alone: { at: '/v1', serves: '/marked' },
  inbound: (ctx) => ({ rest: ctx }),
  rest: answering('/marked/things', 'marked'),
  faults: {
    refusal: (status, _reason, { headers }) => ({ marked: status, by: headers.get('x-marked') }),
    headers: () => ({ 'x-refused': 'yes' }),
  },
});

const DIALECTS: readonly Dialect[] = [plain, marked];
const routes = httpRoutes(unstartedDialects(DIALECTS), {} as Operations, QUIET);

const request = (path: string, headers: Record<string, string> = {}) =>
  new Request(`http://localhost${path}`, { headers });
const textOf = async (app: Hono, asked: Request) => (await app.fetch(asked)).text();

const MARKED = { 'x-marked': 'me' };

test('a header selects between dialects that share a path', async () => {
  expect(await textOf(routes, request('/v1/things/7'))).toBe('plain 7');
  expect(await textOf(routes, request('/v1/things/7', MARKED))).toBe('marked 7');
  expect(await textOf(routes, request('/v1/things', MARKED))).toBe('marked ');
  expect(await textOf(routes, request('/marked/things/7'))).toBe('marked 7');
});

test('on its own listener, a dialect serves the path without the header', async () => {
  expect(await textOf(dialectRoutes(routes, marked, QUIET), request('/v1/things/7'))).toBe('marked 7');
  expect(await textOf(dialectRoutes(routes, plain, QUIET), request('/v1/things/7', MARKED))).toBe('marked 7');
});

test('requests are refused in the format of the dialect that the header selects', async () => {
  const missing = await routes.fetch(request('/v1/things/7/more', MARKED));
  expect(missing.status).toBe(404);
  expect(missing.headers.get('x-refused')).toBe('yes');
  expect(await missing.json()).toEqual({ marked: 404, by: 'me' });
  expect(await (await routes.fetch(request('/v1/things/7/more'))).json()).toEqual({ plain: 404 });
  const asked = request('/v1/things', MARKED);
  const refused = refusalOf(DIALECTS)({ request: asked, path: '/v1/things' }, 403, 'No.');
  expect(await refused.json()).toEqual({ marked: 403, by: 'me' });
});

test('a refusal that is a string is sent as plain text', async () => {
  const texts = defineDialect({
    name: 'texts',
    listen: [{ http: '/texts/*' }],
    inbound: () => ({}),
    faults: { refusal: (_status, reason) => reason },
  });
  const refused = refusalOf([texts])({ request: request('/texts/1'), path: '/texts/1' }, 403, 'No.');
  expect(refused.headers.get('content-type')).toBe('text/plain; charset=utf-8');
  expect(await refused.text()).toBe('No.');
});
