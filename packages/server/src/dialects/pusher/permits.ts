/**
 * `POST /api/pusher/auth`: authorises channels. A principal may use the channels of its sessions and its own
 * user channel; every other private or presence channel needs a signature of the application.
 */
import { Fault, type Principal } from '@parlance/protocol';
import type { Hono, Context as RequestContext } from 'hono';
import type { z } from 'zod';
import { principalOf, tokenOf } from '../../http/request-identity.ts';
import { reported, requestIds } from '../kit/dialect.ts';
import { parseBody } from '../kit/json-body.ts';
import { setRetryAfter } from '../kit/retry.ts';
import type { Application } from './application.ts';
import type { Connections } from './connections.ts';
import type { Context } from './context.ts';
import type { OtherNodes } from './other-nodes.ts';
import { STATUSES } from './routes.ts';
import { ChannelRequest, UserRequest } from './schemas.ts';
import { subscriptionAuth, userAuth } from './signature.ts';

/** `connected` stores permits for sockets of this node, `nodes` for those of other nodes. */
export type Permitting = {
  readonly application: Application;
  readonly connected: Connections;
  readonly nodes?: OtherNodes | null;
};

type Permits = Pick<Context, 'authenticator' | 'engine' | 'log' | 'readBody'>;

/** Null if channels are disabled: requests are answered with 503. */
export function permitRoutes(app: Hono, ctx: Permits, permitting: Permitting | null): void {
  const answered = (answer: (c: RequestContext, permitting: Permitting) => Promise<object>) => {
    return async (c: RequestContext) => {
      if (!permitting) return c.text('Service Unavailable', 503);
      try {
        return c.json(await answer(c, permitting));
      } catch (thrown) {
        const fault = reported(thrown, ctx, requestIds(c.req.raw));
        const status = STATUSES[fault.code];
        setRetryAfter(c, fault);
        return c.text(WORDS.get(status) ?? 'Internal Server Error', status);
      }
    };
  };

  /** Stores the permit for the socket, which loses it with the token. */
  async function grant(
    c: RequestContext,
    { connected, nodes }: Permitting,
    { socket, channel }: { readonly socket: string; readonly channel: string | null },
  ): Promise<void> {
    const token = tokenOf(c.req.raw);
    if (nodes && !connected.has(socket)) return nodes.permit(socket, channel, token);
    const watch = (ended: (reason: string) => void) =>
      token === null ? ignore : ctx.authenticator.onTokenRevoked(token, ended);
    if (token !== null && !connected.dependOn(socket, token, watch))
      throw new Fault('forbidden', 'The socket depends on too many tokens.');
    if (channel !== null) connected.permit(socket, channel);
  }

  app.post(
    '/api/pusher/auth',
    answered(async (c, permitting) => {
      const { application } = permitting;
      const principal = await principalOf(ctx.authenticator, c.req.raw);
      const { socket_id, channel_name } = await parseRequest(c, ChannelRequest, ctx);
      if (!(await isTheirs(channel_name, principal, ctx)))
        throw new Fault('forbidden', 'The channel belongs to another user.');
      const channel_data = channel_name.startsWith('presence-')
        ? JSON.stringify({ user_id: principal.id })
        : undefined;
      await grant(c, permitting, { socket: socket_id, channel: channel_name });
      const subscription = { socketId: socket_id, channel: channel_name, channelData: channel_data };
      return { auth: subscriptionAuth(application, subscription), channel_data };
    }),
  );

  app.post(
    '/api/pusher/user-auth',
    answered(async (c, permitting) => {
      const { application } = permitting;
      const principal = await principalOf(ctx.authenticator, c.req.raw);
      const { socket_id } = await parseRequest(c, UserRequest, ctx);
      await grant(c, permitting, { socket: socket_id, channel: null });
      const user_data = JSON.stringify({ id: principal.id });
      return { auth: userAuth(application, { socketId: socket_id, userData: user_data }), user_data };
    }),
  );
}

/** Parses a form or JSON. Throws `invalid` for anything else. */
async function parseRequest<Schema extends z.ZodType>(
  c: RequestContext,
  schema: Schema,
  { readBody }: Pick<Context, 'readBody'>,
): Promise<z.output<Schema>> {
  const bytes = await readBody(c.req.raw, 'identified', MAX_BYTES);
  const isJson = c.req.header('content-type')?.includes('json') ?? false;
  const body = isJson ? parseBody(bytes) : { value: formOf(bytes) };
  const fits = schema.safeParse('problem' in body ? undefined : body.value);
  if (!fits.success) throw new Fault('invalid', 'The request is invalid.', { cause: fits.error });
  return fits.data;
}

const formOf = (bytes: Uint8Array): object =>
  Object.fromEntries(new URLSearchParams(new TextDecoder().decode(bytes)));

/** Requests have a socket id and a channel name, which are far smaller. */
const MAX_BYTES = 16_384;

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/**
 * Channel names are global, but session ids belong to a principal: a channel belongs to the first user with a
 * session of that id. An unused id must be unguessable.
 */
async function isTheirs(
  channel: string,
  principal: Principal,
  { engine }: Pick<Context, 'engine'>,
): Promise<boolean> {
  const [, subject, id = ''] = channel.match(/^(?:private|presence)-(session|user)-(.+)$/) ?? [];
  if (subject === 'user') return id === principal.id;
  if (subject !== 'session') return false;
  const holder = await engine.firstHolder(id);
  if (!holder) return UUID.test(id);
  return holder.owner === principal.id || principal.role === 'admin';
}

const ignore = (): void => undefined;

const WORDS = new Map<number, string>([
  [400, 'Bad Request'],
  [401, 'Unauthorized'],
  [403, 'Forbidden'],
  [408, 'Request Timeout'],
  [413, 'Payload Too Large'],
  [503, 'Service Unavailable'],
]);
