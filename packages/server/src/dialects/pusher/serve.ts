/** Configures channels: served here, triggered on an external server, or disabled. */
import type { Inbound } from '../kit/dialect.ts';
import { DEFAULT_SECRET } from './application.ts';
import type { Context } from './context.ts';
import { openPusher } from './inbound.ts';
import { permitRoutes } from './permits.ts';
import { signedRoutes } from './routes.ts';
import { joinNodes, pusherServer } from './server.ts';
import { openTrigger, type Trigger } from './trigger.ts';

export function serve(ctx: Context): Inbound {
  const { settings, log } = ctx;
  if (!settings.channels) return { routes: (app) => permitRoutes(app, ctx, null), about: { channels: null } };
  const { channelsAppId: id, channelsKey: key, channelsSecret: secret, channelsHost: host = null } = settings;
  const known = secret === DEFAULT_SECRET;
  const server = pusherServer({ id, key, secret, known }, log);
  const trigger = externalTrigger(ctx);
  const { transport } = ctx.engine ?? {};
  if (transport && !trigger) joinNodes(server, { transport, authenticator: ctx.authenticator, log });
  ctx.channels.attach(trigger ?? server.channels);
  return {
    open: (socket) => {
      const { key: named = '', protocol = null } = socket.params ?? {};
      return openPusher(socket, { key: named, protocol }, server);
    },
    routes(app) {
      permitRoutes(app, ctx, server);
      signedRoutes(app, server, ctx);
    },
    about: { channels: { key, host } },
    sockets: { params: { key }, elsewhere: trigger?.origin },
    close: () => trigger?.close(),
  };
}

function externalTrigger({ settings, log }: Context): Trigger | null {
  const { channelsHost: host, channelsUseTls: useTls, channelsPort: port } = settings;
  if (host === undefined) return null;
  return openTrigger({
    host,
    port: port ?? (useTls ? 443 : 6001),
    useTls,
    appId: settings.channelsAppId,
    key: settings.channelsKey,
    secret: settings.channelsSecret,
    log,
  });
}
