/**
 * HTTP: the signed API for server packages at `/apps`, and the signatures that clients ask for at `/api/pusher`. Errors are plain
 * text.
 */
import { Fault, type Principal } from '@parlance/protocol';
import { z } from 'zod';
import { tokenOf } from '../../http/request-identity.ts';
import type { RequestExample } from '../kit/description.ts';
import type { DialectContext } from '../kit/dialect.ts';
import { endpointOf, type RestApi } from '../kit/endpoint.ts';
import { HTTP_STATUS } from '../kit/faults.ts';
import type { ChannelStates, StateQuery } from './channels.ts';
import {
  type answers,
  BatchRequest,
  ChannelRequest,
  encodedData,
  isChannelName,
  isOurs,
  kindOf,
  LIMITS,
  TriggerRequest,
  UserRequest,
} from './contract.ts';
import type { PusherServer } from './server.ts';
import { checkDigest, checkSignature, subscriptionAuth, userAuth } from './signature.ts';

export type PusherContext = Pick<
  DialectContext,
  'authenticator' | 'countRequest' | 'engine' | 'log' | 'readBody'
> & { readonly server: PusherServer; readonly isDisabled: boolean };

const endpoint = endpointOf<PusherContext, ReturnType<typeof answers>>();

// Signatures for clients. A principal may use the channels of its sessions and its own user channel; every other private or presence
// channel needs a signature of the application.

const FORM_OR_JSON = ['application/x-www-form-urlencoded', 'application/json'];

const permitExample = (channel_name: string): RequestExample => ({
  body: { socket_id: '1.1', channel_name },
});

const channelPermit = endpoint({
  method: 'post',
  path: '/api/pusher/auth',
  summary: 'Authorises a socket for a private or presence channel',
  examples: ({ session, owner }) => [
    permitExample(`private-session-${session}`),
    permitExample(`presence-session-${session}`),
    permitExample(`private-user-${owner}`),
    permitExample(`presence-user-${owner}`),
  ],
  foreign: 'forbidden',
  body: ChannelRequest,
  bodyTypes: FORM_OR_JSON,
  answers: { 200: { description: 'The signature', schema: 'ChannelPermit' } },
  errors: [400, 401, 403, 503],
  async handle({ request, principal, body: { socket_id, channel_name: channel } }, ctx) {
    if (!(await isTheirs(channel, principal, ctx)))
      throw new Fault('forbidden', 'The channel belongs to another user.');
    const channel_data = channel.startsWith('presence-')
      ? JSON.stringify({ user_id: principal.id })
      : undefined;
    await permit(request, { socket: socket_id, channel }, ctx);
    const subscription = { socketId: socket_id, channel, channelData: channel_data };
    return { auth: subscriptionAuth(ctx.server.application, subscription), channel_data };
  },
});

const userPermit = endpoint({
  method: 'post',
  path: '/api/pusher/user-auth',
  summary: 'Signs a socket in as the caller',
  examples: ({ owner, socket }) => [{ body: { socket_id: socket, id: owner, user_id: owner } }],
  body: UserRequest,
  bodyTypes: FORM_OR_JSON,
  answers: { 200: { description: 'The signature', schema: 'UserPermit' } },
  errors: [400, 401, 503],
  async handle({ request, principal, body: { socket_id } }, ctx) {
    await permit(request, { socket: socket_id, channel: null }, ctx);
    const user_data = JSON.stringify({ id: principal.id });
    return {
      auth: userAuth(ctx.server.application, { socketId: socket_id, userData: user_data }),
      user_data,
    };
  },
});

/** Stores the permit for the socket, which loses it with the token. */
async function permit(
  request: Request,
  { socket, channel }: { readonly socket: string; readonly channel: string | null },
  { authenticator, server: { connected, nodes } }: PusherContext,
): Promise<void> {
  const token = tokenOf(request);
  if (nodes && !connected.has(socket)) return nodes.permit(socket, channel, token);
  if (
    token !== null &&
    !connected.dependOn(socket, token, (ended) => authenticator.onTokenRevoked(token, ended))
  )
    throw new Fault('forbidden', 'The socket depends on too many tokens.');
  if (channel !== null) connected.permit(socket, channel);
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/**
 * Channel names are global, but session ids belong to a principal: a channel belongs to the first user with a
 * session of that id. An unused id must be unguessable.
 */
async function isTheirs(channel: string, principal: Principal, { engine }: PusherContext): Promise<boolean> {
  const [, subject, id = ''] = channel.match(/^(?:private|presence)-(session|user)-(.+)$/) ?? [];
  if (subject === 'user') return id === principal.id;
  if (subject !== 'session') return false;
  const holder = await engine.firstHolder(id);
  if (!holder) return UUID.test(id);
  return holder.owner === principal.id || principal.role === 'admin';
}

// The signed API

type SignedRequest = { readonly request: Request; readonly params: { readonly app: string } };

/** The signature covers the digest of the body: the body is not read for a caller that cannot sign. */
function signed({ request, params }: SignedRequest, { server: { application, clock } }: PusherContext): void {
  if (params.app !== application.id) throw new Fault('not_found', 'Unknown application');
  const { pathname: path, searchParams: query } = new URL(request.url);
  checkSignature(application, { method: request.method, path, query }, clock.now());
}

/** The same for endpoints that ignore the body. */
async function signedWithBody(signedRequest: SignedRequest, ctx: PusherContext): Promise<void> {
  signed(signedRequest, ctx);
  await signedBody(signedRequest.request, ctx);
}

async function signedBody(request: Request, { readBody }: PusherContext): Promise<Uint8Array> {
  const body = await readBody(request, 'identified', LIMITS.requestBytes);
  checkDigest(body, new URL(request.url).searchParams);
  return body;
}

/** The id of the default application. */
const APP = { app: 'app-id' };

const info = z
  .string()
  .optional()
  .describe('`user_count`, `subscription_count`, or both with a comma between');

const trigger = endpoint({
  method: 'post',
  path: '/apps/{app}/events',
  summary: 'Publishes an event on one or more channels',
  security: 'signed',
  examples: ({ session }) => [
    { params: APP, body: { name: 'new_message', channel: `private-session-${session}`, data: '{}' } },
  ],
  body: TriggerRequest,
  answers: { 200: { description: 'Published', schema: 'Triggered' } },
  errors: [400, 401, 403, 404, 413],
  allow: signed,
  async handle({ body }, { server }) {
    const names = body.channels ?? (body.channel === undefined ? [] : [body.channel]);
    const data = dataOf(body.data, server);
    for (const name of names)
      server.channels.send(name, { event: body.name, data, except: body.socket_id ?? undefined });
    const info = infoOf(body.info);
    if (info.size === 0) return {};
    return { channels: attributesOf(names, await statesOf(server, { names }), info) };
  },
});

const triggerBatch = endpoint({
  method: 'post',
  path: '/apps/{app}/batch_events',
  summary: 'Publishes several events',
  security: 'signed',
  examples: ({ session }) => [
    { params: APP, body: { batch: [{ name: 'said', channel: `private-session-${session}`, data: '{}' }] } },
  ],
  body: BatchRequest,
  answers: { 200: { description: 'Published', schema: 'BatchTriggered' } },
  errors: [400, 401, 403, 404, 413],
  allow: signed,
  async handle({ body: { batch } }, { server }) {
    const events = batch.map((event) => ({
      ...event,
      data: dataOf(event.data, server),
      info: infoOf(event.info),
    }));
    for (const { channel, name, data, socket_id } of events)
      server.channels.send(channel, { event: name, data, except: socket_id ?? undefined });
    if (events.every(({ info }) => info.size === 0)) return {};
    const states = await statesOf(server, { names: events.map(({ channel }) => channel) });
    return { batch: events.map(({ channel, info }) => attributes(channel, states, info)) };
  },
});

const channelList = endpoint({
  method: 'get',
  path: '/apps/{app}/channels',
  summary: 'Lists the occupied channels',
  security: 'signed',
  examples: () => [{ params: APP }],
  query: z.object({ filter_by_prefix: z.string().optional(), info }),
  answers: { 200: { description: 'The channels', schema: 'ChannelList' } },
  errors: [400, 401, 404],
  allow: signedWithBody,
  async handle({ query: { filter_by_prefix: prefix = '', ...query } }, { server }) {
    const info = infoOf(query.info);
    if (info.has('user_count') && kindOf(prefix) !== 'presence')
      throw new Fault('invalid', 'user_count needs a filter_by_prefix that begins with presence-');
    const states = await statesOf(server, { prefix });
    const names = Object.keys(states).filter((name) => !isHidden(name, server));
    return { channels: attributesOf(names, states, info) };
  },
});

const oneChannel = endpoint({
  method: 'get',
  path: '/apps/{app}/channels/{name}',
  summary: 'One channel',
  security: 'signed',
  examples: ({ session }) => [{ params: { ...APP, name: `private-session-${session}` } }],
  query: z.object({ info }),
  answers: { 200: { description: 'The channel', schema: 'Channel' } },
  errors: [400, 401, 403, 404],
  allow: signedWithBody,
  async handle({ params: { name }, query }, { server }) {
    checkName(name, server);
    const info = infoOf(query.info);
    if (info.has('user_count') && kindOf(name) !== 'presence')
      throw new Fault('invalid', 'user_count is available for presence channels only');
    const states = await statesOf(server, { names: [name] });
    return { occupied: name in states, ...attributes(name, states, info) };
  },
});

const channelUsers = endpoint({
  method: 'get',
  path: '/apps/{app}/channels/{name}/users',
  summary: 'Lists the members of a presence channel',
  security: 'signed',
  examples: ({ session }) => [{ params: { ...APP, name: `presence-session-${session}` } }],
  answers: { 200: { description: 'The users', schema: 'ChannelUsers' } },
  errors: [400, 401, 403, 404],
  allow: signedWithBody,
  async handle({ params: { name } }, { server }) {
    checkName(name, server);
    if (kindOf(name) !== 'presence')
      throw new Fault('invalid', 'Users are available for presence channels only');
    const { users = [] } = (await statesOf(server, { names: [name] }))[name] ?? {};
    return { users: users.map((id) => ({ id })) };
  },
});

const terminateConnections = endpoint({
  method: 'post',
  path: '/apps/{app}/users/{user}/terminate_connections',
  summary: 'Closes the sockets of a signed-in user',
  security: 'signed',
  examples: ({ owner }) => [{ params: { ...APP, user: owner } }],
  answers: { 200: { description: 'Closed', schema: 'Nothing' } },
  errors: [401, 403, 404],
  allow: signedWithBody,
  handle({ params: { user } }, { server: { connected, nodes } }) {
    connected.terminate(user);
    nodes?.terminate(user);
    return {};
  },
});

const ATTRIBUTES = ['user_count', 'subscription_count'];

/** Unknown attributes are ignored. */
const infoOf = (info: string | null | undefined): ReadonlySet<string> =>
  new Set((info ?? '').split(',').filter((name) => ATTRIBUTES.includes(name.trim())));

function dataOf(data: unknown, { limits: { eventBytes } }: PusherServer): string {
  const text = encodedData(data);
  if (Buffer.byteLength(text) <= eventBytes) return text;
  throw new Fault(
    'too_large',
    `The data content of this event exceeds the allowed maximum (${eventBytes} bytes)`,
  );
}

const isHidden = (name: string, { application }: PusherServer): boolean => application.known && isOurs(name);

function checkName(name: string, server: PusherServer): void {
  if (!isChannelName(name, server.limits)) throw new Fault('invalid', 'Invalid channel name');
  if (isHidden(name, server))
    throw new Fault('forbidden', 'SOCKUDO_APP_SECRET is the public default: set another one to use this');
}

/** The state on all nodes. */
const statesOf = async ({ nodes, channels }: PusherServer, query: StateQuery): Promise<ChannelStates> =>
  nodes ? nodes.states(query) : channels.states(query);

function attributes(name: string, states: ChannelStates, info: ReadonlySet<string>) {
  const { subscribers = 0, users = [] } = states[name] ?? {};
  return {
    ...(info.has('user_count') && kindOf(name) === 'presence' ? { user_count: users.length } : {}),
    ...(info.has('subscription_count') ? { subscription_count: subscribers } : {}),
  };
}

const attributesOf = (names: readonly string[], states: ChannelStates, info: ReadonlySet<string>) =>
  Object.fromEntries(names.map((name) => [name, attributes(name, states, info)]));

/** Requests for a signature have a socket id and a channel name, which are far smaller. */
const PERMIT_BYTES = 16_384;

const isSigned = (path: string): boolean => path.startsWith('/apps/');

export const rest: RestApi<PusherContext> = {
  endpoints: [
    channelPermit,
    userPermit,
    trigger,
    triggerBatch,
    channelList,
    oneChannel,
    channelUsers,
    terminateConnections,
  ],
  limit: () => undefined,
  readBody: (request, ctx, security) =>
    security === 'signed' ? signedBody(request, ctx) : ctx.readBody(request, 'identified', PERMIT_BYTES),
  async around(c, answer, { isDisabled }) {
    if (!isDisabled) return answer();
    return isSigned(c.req.path) ? c.notFound() : c.text('Service Unavailable', 503);
  },
  /** Clients that ask for a signature read only the status. */
  fault(fault, c) {
    const status = HTTP_STATUS[fault.code];
    // Loaded here: it would take a twentieth of the start.
    const { STATUS_CODES } = process.getBuiltinModule('node:http');
    return c.text(isSigned(c.req.path) ? fault.message : (STATUS_CODES[status] ?? ''), status);
  },
};
