/** Pusher channels as the operator wants them: served here, triggered on another server, or off. */
import type { Hono } from 'hono';
import type { Config } from '../config/config.ts';
import type { Log } from '../core/api/index.ts';
import { DEFAULT_SECRET } from '../dialects/pusher/application.ts';
import { knockOf, openPusher } from '../dialects/pusher/dialect.ts';
import { permitRoutes } from '../dialects/pusher/permits.ts';
import { signedRoutes } from '../dialects/pusher/routes.ts';
import { pusherServer } from '../dialects/pusher/server.ts';
import { openTrigger } from '../dialects/pusher/trigger.ts';
import type { DialectContext } from '../dialects/shared/dialect.ts';
import { NO_PUSH, type Push } from '../dialects/shared/push.ts';
import type { Connection, Socket } from '../http/connection.ts';

export type OpenChannels = {
  readonly push: Push;
  /** What a socket at that address becomes; null where it is not one of channels. */
  accept(url: URL): ((socket: Socket) => Connection) | null;
  routes(app: Hono, ctx: DialectContext): void;
  close(): Promise<void>;
};

const OFF: OpenChannels = {
  push: NO_PUSH,
  accept: () => null,
  routes: (app, ctx) => permitRoutes(app, ctx, null),
  close: () => Promise.resolve(),
};

export function openChannels(config: Config, log: Log): OpenChannels {
  if (!config.channels) return OFF;
  const { channelsAppId: id, channelsKey: key, channelsSecret: secret } = config;
  const known = secret === DEFAULT_SECRET;
  const guarded = known && config.auth === 'required';
  if (guarded)
    log.warn(
      {},
      'SOCKUDO_APP_SECRET is the default: the signed HTTP API does not reach sessions until it is set',
    );
  const server = pusherServer({ id, key, secret, known, guarded }, log);
  const trigger = externalTrigger(config, log);
  return {
    push: trigger ?? server.channels,
    accept(url) {
      const knock = knockOf(url);
      if (!knock) return null;
      return (socket) => {
        socket.speaks('pusher');
        return openPusher(socket, knock, server);
      };
    },
    routes(app, ctx) {
      permitRoutes(app, ctx, server);
      signedRoutes(app, server, ctx);
    },
    close: () => trigger?.close() ?? Promise.resolve(),
  };
}

function externalTrigger(config: Config, log: Log) {
  const { channelsHost: host, channelsUseTls: useTls, channelsPort: port } = config;
  if (host === undefined) return null;
  return openTrigger({
    host,
    port: port ?? (useTls ? 443 : 6001),
    useTls,
    appId: config.channelsAppId,
    key: config.channelsKey,
    secret: config.channelsSecret,
    log,
  });
}
