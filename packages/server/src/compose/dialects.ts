/** Opens the dialects of a server, each with its settings and hub. */
import type { Config } from '../config/config.ts';
import type { Engine, Log } from '../core/index.ts';
import type { ConnectionRegistry } from '../dialects/kit/connection-registry.ts';
import type { Dialect, DialectContext } from '../dialects/kit/dialect.ts';
import { NONE, type Projection } from '../dialects/kit/projection.ts';
import type { ServedDialect } from '../dialects/kit/routes.ts';
import { SubscriptionHub } from '../dialects/kit/subscription-hub.ts';
import { forDialect } from '../http/dialect-scope.ts';

export type ServerContext = Omit<DialectContext, 'settings'>;

/** Throws if a dialect uses a setting that the configuration does not have. */
export function openDialect(dialect: Dialect, config: Config, ctx: ServerContext): ServedDialect {
  const settings = dialect.settings?.parse(config);
  const authenticator = forDialect(ctx.authenticator, dialect.name);
  return { dialect, inbound: dialect.inbound({ ...ctx, authenticator, settings }, hubOf(dialect, ctx)) };
}

type HubContext = {
  readonly engine: Engine;
  readonly log: Log;
  readonly connections: ConnectionRegistry;
};

function hubOf(dialect: Dialect, { engine, log, connections }: HubContext): SubscriptionHub<unknown> {
  return new SubscriptionHub(engine, dialect.projection ?? SILENT, {
    log,
    dialect: dialect.name,
    connections,
  });
}

/** Projects no frames. */
const SILENT: Projection<unknown> = {
  start: () => null,
  step: (state) => [state, NONE],
  attach: () => [],
};
