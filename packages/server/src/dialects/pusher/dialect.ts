/**
 * `pusher`: protocol 7 of Pusher Channels, for `pusher-js` and libraries built on it. It is not a projection of
 * sessions: clients subscribe to channels, and every publisher on a channel reaches them. Not supported:
 * watchlists, subscription counts, tag filters and delta compression; frames that request them are answered
 * with an error.
 *
 * The protocol is in `dialect.ts`, `contract.ts`, `inbound.ts` (sockets) and `channels.ts` (delivery). Beside it: `routes.ts` is the HTTP API,
 * `signature.ts` signs and checks, `server.ts` is the state that sockets and requests share, `other-nodes.ts` joins the channels of several
 * nodes, `trigger.ts` triggers events on an external server.
 */
import { z } from 'zod';
import { type DialectContext, defineDialect, type Inbound } from '../kit/dialect.ts';
import { description } from './contract.ts';
import { openPusher } from './inbound.ts';
import { joinNodes } from './other-nodes.ts';
import { type PusherContext, rest } from './routes.ts';
import { DEFAULT_SECRET, pusherServer } from './server.ts';
import { openTrigger, type Trigger } from './trigger.ts';

export const Settings = z.object({
  channels: z.boolean(),
  channelsAppId: z.string(),
  channelsKey: z.string(),
  channelsSecret: z.string(),
  /** the external server to trigger events on; if absent, they are delivered here */
  channelsHost: z.string().optional(),
  channelsPort: z.number().optional(),
  channelsUseTls: z.boolean(),
});

type Context = DialectContext<z.output<typeof Settings>>;

/**
 * The client sends the protocol version in the query. Private channels are authorised one by one, so no token
 * is needed.
 */
const APPLICATION = { query: ['protocol'], anonymous: true };

export const pusher = defineDialect({
  name: 'pusher',
  listen: [
    { ws: '/app/:key', ...APPLICATION },
    { ws: '/app/:key/', ...APPLICATION },
    { http: '/apps/*' },
    { http: '/api/pusher/auth' },
    { http: '/api/pusher/user-auth' },
  ],
  settings: Settings,
  inbound: serve,
  rest,
  describe: async () => description(),
});

/** Channels are served here, triggered on an external server, or disabled. */
export function serve(ctx: Context): Inbound<PusherContext> {
  const { settings, log } = ctx;
  const { channelsAppId: id, channelsKey: key, channelsSecret: secret, channelsHost: host = null } = settings;
  const server = pusherServer({ id, key, secret, known: secret === DEFAULT_SECRET }, log);
  const rest = { ...ctx, server, isDisabled: !settings.channels };
  if (rest.isDisabled) return { rest, about: { channels: null } };
  const trigger = externalTrigger(ctx);
  const { transport } = ctx.engine ?? {};
  if (transport && !trigger) joinNodes(server, { transport, authenticator: ctx.authenticator, log });
  ctx.channels.attach(trigger ?? server.channels);
  return {
    open(socket) {
      const { key = '', protocol = null } = socket.params ?? {};
      return openPusher(socket, { key, protocol }, server);
    },
    rest,
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
