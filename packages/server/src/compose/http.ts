/** Everything that is answered over HTTP. */
import { Hono } from 'hono';
import { getPath } from 'hono/utils/url';
import { CONSOLE_FOLDER } from '../console-folder.ts';
import type { Log } from '../core/api/index.ts';
import type { ServedDocuments } from '../describe/served.ts';
import type { Dialect } from '../dialects/shared/dialect.ts';
import { httpOwner, type ServedDialect } from '../dialects/shared/routes.ts';
import { consoleRoutes } from '../http/console.ts';
import { crossOrigin } from '../http/cross-origin.ts';
import { forDialect } from '../http/dialect-scope.ts';
import { plainRefusal } from '../http/listener.ts';
import { requestIdOf } from '../http/request-id.ts';
import { type Operations, operationRoutes } from '../telemetry/routes.ts';

export function httpRoutes(served: readonly ServedDialect[], operations: Operations, log: Log): Hono {
  const routes = new Hono();
  const dialects = served.map(({ dialect }) => dialect);
  routes.use(crossOrigin());
  for (const { inbound } of served) inbound.routes?.(routes);
  operationRoutes(routes, {
    ...operations,
    authenticator: forDialect(operations.authenticator, null),
  });
  consoleRoutes(routes, CONSOLE_FOLDER);
  documentRoutes(routes, dialects);
  return refusing(routes, refusalOf(dialects), log);
}

function refusing(routes: Hono, refusal: ReturnType<typeof refusalOf>, log: Log): Hono {
  routes.notFound((c) => c.json(refusal(c.req.path, 404, 'Not found'), 404));
  routes.onError((thrown, c) => {
    const ids = { request: requestIdOf(c.req.raw), path: c.req.path };
    log.error({ ...ids, err: thrown }, 'a request could not be handled');
    return c.json(refusal(c.req.path, 500, 'Something went wrong.'), 500);
  });
  return routes;
}

/** The same routes on an extra listener of the dialect: its own may be at another prefix, before those of others there. */
export function routesAlone(routes: Hono, { alone, faults }: Dialect, log: Log): Hono {
  if (!alone) return routes;
  const { at, serves } = alone;
  const below = `${serves}/`;
  const firstOf = (path: string) => path.split('/', 1)[0];
  const own = new Set(
    routes.routes.flatMap(({ path }) => (path.startsWith(below) ? [firstOf(path.slice(below.length))] : [])),
  );
  const served = (path: string) =>
    path.startsWith(`${at}/`) && own.has(firstOf(path.slice(at.length + 1)))
      ? serves + path.slice(at.length)
      : path;
  const moved = new Hono({ router: routes.router, getPath: (request) => served(getPath(request)) });
  return refusing(
    moved,
    (_path, status, reason) => faults?.refusal(status, reason) ?? plainRefusal(reason),
    log,
  );
}

/** Built on the first request: a server that is not asked for descriptions does not pay for them. */
function documentRoutes(routes: Hono, dialects: readonly Dialect[]): void {
  let documents: Promise<ServedDocuments> | null = null;
  const build = () => import('../describe/served.ts').then(({ documentsOf }) => documentsOf(dialects));
  const built = () => {
    documents ??= build();
    return documents;
  };
  const headers = { 'content-type': 'application/json' };
  routes.get('/openapi.json', async (c) => c.body((await built()).openApi, 200, headers));
  routes.get('/asyncapi.json', async (c) => c.body((await built()).asyncApi, 200, headers));
}

/** The body of a refusal, in the shape of the dialect that the path belongs to. */
export const refusalOf =
  (dialects: readonly Dialect[]) =>
  (path: string, status: number, reason: string): object =>
    httpOwner(dialects, path)?.faults?.refusal(status, reason) ?? plainRefusal(reason);
