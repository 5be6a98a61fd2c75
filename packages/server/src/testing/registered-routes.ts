/** The HTTP routes of a server, without starting one. */
import { httpRoutes } from '../compose/http.ts';
import { DIALECTS } from '../dialects/index.ts';
import type { Dialect } from '../dialects/kit/dialect.ts';
import type { Operations } from '../telemetry/routes.ts';
import { QUIET } from './pusher.ts';
import { unstartedDialects } from './unstarted.ts';

export type RegisteredRoute = { readonly method: string; readonly path: string };

/** Every endpoint once. Left out are middleware, which answers nothing by itself, and the pages of the documentation. */
export function registeredRoutes(dialects: readonly Dialect[] = DIALECTS): RegisteredRoute[] {
  const served = unstartedDialects(dialects);
  const { routes } = httpRoutes(served, {} as Operations, QUIET);
  const unique = new Map(routes.map(({ method, path }) => [`${method} ${path}`, { method, path }]));
  return [...unique.values()].filter(({ method, path }) => method !== 'ALL' && path !== '/docs/*');
}
