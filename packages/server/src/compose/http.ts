/** All HTTP routes. */
import { Hono, type MiddlewareHandler } from 'hono';
import { TrieRouter } from 'hono/router/trie-router';
import { getPath } from 'hono/utils/url';
import { CONSOLE_FOLDER, DOCS_BUILDER, DOCS_FOLDER } from '../console-folder.ts';
import type { Log } from '../core/index.ts';
import type { ServedDocuments } from '../describe/served.ts';
import type { Dialect } from '../dialects/kit/dialect.ts';
import { type HttpRouter, httpOwner, httpRouter, type ServedDialect } from '../dialects/kit/routes.ts';
import { serveEndpoints } from '../dialects/kit/serve-endpoints.ts';
import { tagged } from '../http/conditional.ts';
import { consoleRoutes } from '../http/console.ts';
import { crossOrigin } from '../http/cross-origin.ts';
import { forDialect } from '../http/dialect-scope.ts';
import { docsRoutes } from '../http/docs.ts';
import { plainRefusal, type Refuse } from '../http/listener.ts';
import { requestIdOf } from '../http/request-id.ts';
import { type Operations, operationRoutes } from '../telemetry/routes.ts';

export function httpRoutes(served: readonly ServedDialect[], operations: Operations, log: Log): Hono {
  const dialects = served.map(({ dialect }) => dialect);
  const router = httpRouter(dialects);
  const routes = new Hono({ getPath: (request) => router(getPath(request), request.headers) });
  routes.use(crossOrigin());
  routes.use(lengthForHead());
  for (const { dialect, inbound } of served)
    if (dialect.rest && inbound.rest) serveEndpoints(routes, dialect.rest, inbound.rest);
  operationRoutes(routes, {
    ...operations,
    authenticator: forDialect(operations.authenticator, null),
  });
  consoleRoutes(routes, CONSOLE_FOLDER);
  docsRoutes(routes, DOCS_FOLDER, DOCS_BUILDER, log);
  documentRoutes(routes, dialects);
  return refusing(routes, { refusal: refusalOf(dialects), methods: methodsOf(routes), log });
}

type Refusing = {
  readonly refusal: Refuse;
  /** the methods of a path */
  readonly methods: (path: string) => readonly string[];
  readonly log: Log;
};

function refusing(routes: Hono, { refusal, methods, log }: Refusing): Hono {
  routes.notFound(({ req }) => {
    const refused = { request: req.raw, path: req.path };
    const allowed = methods(req.path);
    if (allowed.length === 0 || allowed.includes(req.method)) return refusal(refused, 404, 'Not found');
    const response = refusal(refused, 405, `Method not allowed: use ${allowed.join(' or ')}`);
    response.headers.set('allow', allowed.join(', '));
    return response;
  });
  routes.onError((thrown, { req }) => {
    const ids = { request: requestIdOf(req.raw), path: req.path };
    log.error({ ...ids, err: thrown }, 'failed to handle request');
    return refusal({ request: req.raw, path: req.path }, 500, 'Something went wrong.');
  });
  return routes;
}

/** Finds the methods that a path has a route for. Middleware has no method. */
function methodsOf({ routes }: Hono): (path: string) => readonly string[] {
  const known = new Set(routes.map(({ method }) => method).filter((method) => method !== 'ALL'));
  const router = new TrieRouter<string>();
  for (const { method, path } of routes) if (known.has(method)) router.add(method, path, method);
  return (path) =>
    [...known]
      .filter((method) => router.match(method, path)[0].length > 0)
      .flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method]));
}

/** The length that GET would have, which is lost when hono drops the body. A stream of events has none. */
const lengthForHead = (): MiddlewareHandler => async (c, next) => {
  await next();
  const { body, headers } = c.res;
  if (c.req.method !== 'HEAD' || body === null || headers.has('content-length')) return;
  if (headers.get('content-type')?.startsWith('text/event-stream')) {
    await body.cancel();
    headers.set('transfer-encoding', 'chunked');
    return;
  }
  let length = 0;
  for await (const chunk of body) length += chunk.byteLength;
  headers.set('content-length', String(length));
};

/**
 * The routes of an extra listener: its dialect may use a different prefix there, which takes precedence over
 * other dialects.
 */
export function dialectRoutes(routes: Hono, dialect: Dialect, log: Log): Hono {
  if (!dialect.alone) return routes;
  const { at, serves } = dialect.alone;
  const below = `${serves}/`;
  const firstOf = (path: string) => path.split('/', 1)[0];
  const own = new Set(
    routes.routes.flatMap(({ path }) => (path.startsWith(below) ? [firstOf(path.slice(below.length))] : [])),
  );
  const served = (request: Request) => {
    const path = getPath(request);
    return path.startsWith(`${at}/`) && own.has(firstOf(path.slice(at.length + 1)))
      ? serves + path.slice(at.length)
      : routes.getPath(request);
  };
  const moved = new Hono({ router: routes.router, getPath: served });
  return refusing(moved, { refusal: dialectRefusal(dialect), methods: methodsOf(routes), log });
}

/** Built on the first request, so that other servers do not pay for them. */
function documentRoutes(routes: Hono, dialects: readonly Dialect[]): void {
  let documents: Promise<ServedDocuments> | null = null;
  const build = () => import('../describe/served.ts').then(({ documentsOf }) => documentsOf(dialects));
  const built = () => {
    documents ??= build();
    return documents;
  };
  const headers = { 'content-type': 'application/json', 'cache-control': 'no-cache' };
  routes.get('/openapi.json', async ({ req }) => tagged(req.raw, (await built()).openApi, headers));
  routes.get('/asyncapi.json', async ({ req }) => tagged(req.raw, (await built()).asyncApi, headers));
}

/** An error response in the format of the dialect that owns the path. */
export function refusalOf(dialects: readonly Dialect[], router: HttpRouter = httpRouter(dialects)): Refuse {
  return ({ request, path }, status, reason) =>
    refusedBy(httpOwner(dialects, router(path, request.headers)), request, { status, reason });
}

/** On an extra listener, every path belongs to its dialect. */
export const dialectRefusal =
  (dialect: Dialect): Refuse =>
  ({ request }, status, reason) =>
    refusedBy(dialect, request, { status, reason });

const PLAIN_TEXT = { 'content-type': 'text/plain; charset=utf-8' };

function refusedBy(
  dialect: Dialect | undefined,
  request: Request,
  { status, reason }: { readonly status: number; readonly reason: string },
): Response {
  const { faults } = dialect ?? {};
  const body = faults?.refusal(status, reason, request) ?? plainRefusal(reason);
  const headers = faults?.headers?.(request);
  return typeof body === 'string'
    ? new Response(body, { status, headers: { ...PLAIN_TEXT, ...headers } })
    : Response.json(body, { status, headers });
}
