/** The HTTP routes of a server, without starting one. */
import { openDialect, type ServerContext } from '../compose/dialects.ts';
import { httpRoutes } from '../compose/http.ts';
import { loadConfig } from '../config/config.ts';
import { DIALECTS } from '../dialects/index.ts';
import { ChannelBus } from '../dialects/shared/channel-bus.ts';
import type { Dialect } from '../dialects/shared/dialect.ts';
import type { Operations } from '../telemetry/routes.ts';
import { QUIET } from './pusher.ts';

export type RegisteredRoute = { readonly method: string; readonly path: string };

/** Every endpoint once. Middleware is left out: it answers nothing by itself. */
export function registeredRoutes(dialects: readonly Dialect[] = DIALECTS): RegisteredRoute[] {
  const config = loadConfig([], {}, import.meta.dir);
  const engine = { transport: null };
  const ctx = { engine, log: QUIET, now: Date.now, channels: new ChannelBus() } as unknown as ServerContext;
  const served = dialects.map((dialect) => openDialect(dialect, config, ctx));
  const { routes } = httpRoutes(served, {} as Operations, QUIET);
  const unique = new Map(routes.map(({ method, path }) => [`${method} ${path}`, { method, path }]));
  return [...unique.values()].filter(({ method }) => method !== 'ALL');
}
