import { expect, test } from 'bun:test';
import { Fault } from '@parlance/protocol';
import { Hono } from 'hono';
import { z } from 'zod';
import type { Authenticator } from '../../http/authenticator.ts';
import { QUIET } from '../../testing/pusher.ts';
import { ResponseRequest } from '../openai/contract.ts';
import { describedEndpoints, endpointOf, type RestApi } from './endpoint.ts';
import { HTTP_STATUS } from './faults.ts';
import { firstIssue, serveEndpoints } from './serve-endpoints.ts';

const schemas = { Thing: z.object({ id: z.string(), size: z.number() }) };

const STEPS: string[] = [];

const ctx = {
  authenticator: { open: true } as Authenticator,
  countRequest: () => void STEPS.push('count'),
  log: QUIET,
  async readBody(request: Request, sender: string) {
    STEPS.push(`read ${sender}`);
    return new Uint8Array(await request.arrayBuffer());
  },
};

const endpoint = endpointOf<typeof ctx, typeof schemas>();

const Size = z.object({ size: z.number() });

const put = endpoint({
  method: 'post',
  path: '/things/{id}',
  summary: 'Creates a thing',
  query: z.object({ twice: z.enum(['yes', 'no']).default('no') }),
  body: Size,
  answers: { 201: { description: 'The thing', schema: 'Thing' } },
  errors: [400],
  allow({ params, principal }) {
    STEPS.push(`allow ${principal.id}`);
    if (params.id === 'taken') throw new Fault('forbidden', 'It is taken.');
  },
  handle({ params: { id }, query, body }) {
    STEPS.push('handle');
    return { id, size: query.twice === 'yes' ? 2 * body.size : body.size };
  },
});

const remove = endpoint({
  method: 'delete',
  path: '/things/{id}',
  summary: 'Removes a thing',
  security: 'nobody',
  limited: false,
  answers: { 204: { description: 'Removed' } },
  handle({ principal }) {
    expect(principal).toBeUndefined();
  },
});

endpoint({
  method: 'get',
  path: '/things/{id}',
  summary: 'A thing',
  answers: { 200: { description: 'The thing', schema: 'Thing' } },
  // @ts-expect-error an answer has the type of its schema
  handle: ({ params }) => ({ id: params.id, size: 'large' }),
});

endpoint({
  method: 'get',
  path: '/things/{id}',
  summary: 'A thing',
  security: 'nobody',
  // @ts-expect-error the path has no such parameter, and nobody is identified
  handle: ({ params, principal }) => ({ id: params.name + principal.id, size: 1 }),
  answers: { 200: { description: 'The thing', schema: 'Thing' } },
});

const api: RestApi<typeof ctx> = {
  endpoints: [put, remove],
  fault: ({ code, message }, c) => c.json({ [code]: message }, HTTP_STATUS[code]),
};

const app = new Hono();
serveEndpoints(app, api, ctx);

async function request(method: string, path: string, body?: string) {
  STEPS.length = 0;
  const response = await app.request(path, { method, ...(body !== undefined && { body }) });
  const text = await response.text();
  return { status: response.status, body: text === '' ? null : JSON.parse(text), steps: [...STEPS] };
}

test('a request is counted, identified, allowed, validated and handled, in this order', async () => {
  expect(await request('POST', '/things/a%20b?twice=yes', '{"size":2}')).toEqual({
    status: 201,
    body: { id: 'a b', size: 4 },
    steps: ['count', 'allow local', 'read identified', 'handle'],
  });
});

test('the body of a caller that may not use the endpoint is not read', async () => {
  expect(await request('POST', '/things/taken', '{')).toEqual({
    status: 403,
    body: { forbidden: 'It is taken.' },
    steps: ['count', 'allow local'],
  });
});

test.each([
  ['/things/a', '{"size":"large"}', 'size: Invalid input: expected number, received string'],
  ['/things/a', '{', 'The body is not valid JSON.'],
  ['/things/a?twice=perhaps', '{"size":1}', 'twice: Invalid option: expected one of "yes"|"no"'],
])('an invalid request is refused in the format of the dialect: %s %s', async (path, body, message) => {
  const refused = await request('POST', path, body);
  expect([refused.status, refused.body]).toEqual([400, { invalid: message }]);
  expect(refused.steps).not.toContain('handle');
});

test('a form is parsed if the endpoint takes forms and the body is not JSON; the dialect reads the body', async () => {
  const app = new Hono();
  const form = endpoint({
    method: 'post',
    path: '/forms',
    summary: 'Creates a thing',
    body: z.object({ id: z.string() }),
    bodyTypes: ['application/x-www-form-urlencoded', 'application/json'],
    answers: { 200: { description: 'The thing', schema: 'Thing' } },
    handle: ({ body: { id } }) => ({ id, size: 1 }),
  });
  const readBody = async (request: Request, _: typeof ctx, security: string) => {
    expect(security).toBe('caller');
    return new Uint8Array(await request.arrayBuffer());
  };
  serveEndpoints(app, { ...api, endpoints: [form], readBody }, ctx);
  const send = async (body: string, type: string) => {
    const response = await app.request('/forms', { method: 'POST', body, headers: { 'content-type': type } });
    return response.json();
  };
  expect(await send('id=a%20b', 'application/x-www-form-urlencoded')).toEqual({ id: 'a b', size: 1 });
  expect(await send('id=a', 'text/plain')).toEqual({ id: 'a', size: 1 });
  expect(await send('{"id":"a"}', 'application/json')).toEqual({ id: 'a', size: 1 });
});

test('nothing is answered with 204', async () => {
  expect(await request('DELETE', '/things/a')).toEqual({ status: 204, body: null, steps: [] });
});

test('the descriptions are those of the routes, with the schemas that they name', () => {
  const errors = { 400: { description: 'Invalid' } };
  const [described] = describedEndpoints(api.endpoints, { schemas, errors });
  expect(described?.answers).toEqual({
    201: { description: 'The thing', schema: schemas.Thing },
    400: { description: 'Invalid' },
  });
  expect(() => describedEndpoints(api.endpoints, { errors })).toThrow('there is no schema Thing');
  expect(() => describedEndpoints(api.endpoints, { schemas })).toThrow('400 is not described');
});

test.each([
  [{}, ['model']],
  [{ model: 'a', n: 1, input: 7 }, ['input']],
  [{ model: 'a', input: [{ role: 'nobody', content: 'x' }] }, ['input', 0, 'role']],
  [
    { model: 'a', input: [{ role: 'user', content: [{ type: 'input_text' }] }] },
    ['input', 0, 'content', 0, 'text'],
  ],
  [{ model: 'a', input: ['x', { type: 'function_call', call_id: 'c' }] }, ['input', 0]],
  [{ model: 'a', input: [{ type: 'function_call', call_id: 'c', name: 'n' }] }, ['input', 0, 'arguments']],
  [{ model: 'a', tools: [{ type: 'function', name: 'a b' }] }, ['tools', 0, 'name']],
  [{ model: 'a', tools: [{ type: 'mcp' }] }, ['tools', 0, 'server_label']],
])('%j', (body, path) => {
  const { error } = ResponseRequest.safeParse(body);
  expect(firstIssue(error?.issues ?? []).path).toEqual(path);
});
