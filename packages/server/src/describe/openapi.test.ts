import { expect, test } from 'bun:test';
import { httpRoutes } from '../compose/http.ts';
import { FAULTS } from '../dialects/copilot/rest.ts';
import type { Operations } from '../telemetry/routes.ts';
import { QUIET } from '../testing/pusher.ts';
import { DESCRIPTIONS } from './descriptions.ts';
import type { JsonSchema } from './json-schema.ts';
import { type Operation, openApiDocument } from './openapi.ts';

const document = openApiDocument(DESCRIPTIONS);
const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]): [string, Operation] => [`${method} ${path}`, operation]),
);

function within(value: unknown, visit: (inner: Record<string, unknown>) => void): void {
  if (typeof value !== 'object' || value === null) return;
  if (!Array.isArray(value)) visit(value as Record<string, unknown>);
  for (const inner of Object.values(value)) within(inner, visit);
}

test('the routes of the server itself are described', () => {
  const { routes } = httpRoutes([], {} as Operations, QUIET);
  const served = routes
    .filter(({ method, path }) => method !== 'ALL' && path !== '/docs/*')
    .map(({ method, path }) => `${method.toLowerCase()} ${path.replace(/:(\w+)/g, '{$1}')}`);
  const described = operations.filter(([, { tags }]) => tags.includes('server')).map(([name]) => name);
  expect([...new Set(served)].sort()).toEqual(described.sort());
});

test('no endpoint is described twice', () => {
  const all = DESCRIPTIONS.flatMap(({ endpoints }) =>
    endpoints.map(({ method, path }) => `${method} ${path}`),
  );
  expect(all.length).toBe(operations.length);
});

test('references resolve, and every component is used', () => {
  const used = new Set<string>();
  within(document, ({ $ref }) => {
    if (typeof $ref === 'string') used.add($ref);
  });
  const there = Object.keys(document.components.schemas).map((name) => `#/components/schemas/${name}`);
  expect([...used].sort()).toEqual(there.sort());
});

test('the document is valid OpenAPI 3.1', () => {
  expect(document.openapi).toMatch(/^3\.1\.\d+$/);
  expect(document.info).toMatchObject({ title: expect.any(String), version: expect.any(String) });
  const tags = document.tags.map(({ name }) => name);
  const schemes = Object.keys(document.components.securitySchemes);
  const ids = operations.map(([, { operationId }]) => operationId);
  expect(new Set(ids).size).toBe(ids.length);
  for (const [name, operation] of operations) {
    expect(name).toMatch(/^(get|post|patch|delete) \/[\w./{}-]*$/);
    expect(operation.operationId).toMatch(/^[a-zA-Z0-9]+$/);
    expect(tags).toEqual(expect.arrayContaining([...operation.tags]));
    for (const need of operation.security) expect(schemes).toEqual(expect.arrayContaining(Object.keys(need)));
    const parameters = operation.parameters ?? [];
    const inPath = [...name.matchAll(/\{(\w+)\}/g)].map(([, parameter]) => parameter);
    expect(parameters.filter((one) => one.in === 'path').map((one) => one.name)).toEqual(inPath as string[]);
    expect(parameters.every((one) => one.in !== 'path' || one.required)).toBe(true);
    expect(new Set(parameters.map((one) => `${one.in} ${one.name}`)).size).toBe(parameters.length);
    expect(parameters.filter(({ schema }) => !schema.type && !schema.anyOf)).toEqual([]);
    if (operation.requestBody) expect(name).not.toStartWith('get ');
    expect(Object.keys(operation.responses).some((status) => /^[23]/.test(status))).toBe(true);
    for (const [status, response] of Object.entries(operation.responses)) {
      expect(status).toMatch(/^[2-5]\d\d$/);
      expect(response.description).not.toBe('');
    }
  }
});

test('it contains no generator artifacts', () => {
  within(document, (inner) => {
    for (const key of ['$schema', '$id', '$defs', '~standard']) expect(inner).not.toHaveProperty([key]);
  });
});

test('every error code of copilot is described', () => {
  const error = document.components.schemas.CopilotError?.properties as
    | Record<string, JsonSchema>
    | undefined;
  for (const { code } of Object.values(FAULTS)) expect(error?.code?.enum).toContain(code);
});
