import { z } from 'zod';
import {
  type Answers,
  type Description,
  type ExampleIds,
  type InboundMessage,
  type MessageExample,
  named,
  type OutboundMessage,
  type RequestExample,
} from '../kit/description.ts';
import { type KNOWN_EVENTS, Message, SignIn, Subscribe, Unsubscribe } from './protocol.ts';
import { ChannelRequest, eventSchemas, UserRequest } from './schemas.ts';
import { subscriptionAuth } from './signature.ts';

// Describes the frames of Pusher protocol 7.

/** The default application; servers with another secret refuse its signatures. */
const APPLICATION = { id: 'app-id', key: 'app-key', secret: 'app-secret', known: true };
const FORGED = `${APPLICATION.key}:${'0'.repeat(64)}`;

const received = <Data extends z.ZodType>(event: string, data: Data) =>
  Message.extend({ event: z.literal(event), data });

const subscribe = (data: object) => ({ event: 'pusher:subscribe', data });

const signed = ({ socket: socketId }: ExampleIds, channel: string) =>
  subscribe({ channel, auth: subscriptionAuth(APPLICATION, { socketId, channel }) });

const inbound: Readonly<Record<(typeof KNOWN_EVENTS)[number] | 'client-event', InboundMessage>> = {
  'pusher:ping': {
    summary: 'Asks for a `pusher:pong`.',
    schema: received('pusher:ping', z.unknown().optional()),
    examples: () => [{ title: 'Ping', frame: { event: 'pusher:ping', data: {} } }],
  },
  'pusher:pong': {
    summary: 'Answers a `pusher:ping`.',
    schema: received('pusher:pong', z.unknown().optional()),
    examples: () => [{ title: 'Answer a ping', frame: { event: 'pusher:pong', data: {} } }],
  },
  'pusher:subscribe': {
    summary:
      'Subscribes to a public, `private-`, `private-encrypted-` (passed through) or `presence-` channel, each also as `cache-`. All but public ones need `auth`, a signature.',
    schema: received('pusher:subscribe', Subscribe),
    examples: (ids) => [
      { title: 'Subscribe to a public channel', first: true, frame: subscribe({ channel: 'playground' }) },
      ...Object.entries({
        'the session’s private channel': `private-session-${ids.session}`,
        'the user’s private channel': `private-user-${ids.owner}`,
      }).flatMap(([what, channel]): MessageExample[] => [
        {
          title: `Subscribe to ${what} (signed by the server)`,
          before: {
            path: '/api/pusher/auth',
            body: { socket_id: ids.socket, channel_name: channel },
            into: 'data',
          },
          frame: subscribe({ channel, auth: FORGED }),
        },
        { title: `Subscribe to ${what} without a signature`, probe: true, frame: subscribe({ channel }) },
        {
          title: `Subscribe to ${what}, signed with the default secret`,
          probe: true,
          frame: signed(ids, channel),
        },
      ]),
    ],
  },
  'pusher:unsubscribe': {
    summary: 'Leaves a channel; no effect if it is not subscribed.',
    schema: received('pusher:unsubscribe', Unsubscribe),
    examples: ({ session }) => [
      {
        title: 'Unsubscribe from a channel',
        frame: { event: 'pusher:unsubscribe', data: { channel: `private-session-${session}` } },
      },
    ],
  },
  'pusher:signin': {
    summary:
      'Signs the socket in as a user; opens `#server-to-user-<id>`, and presence channels without `channel_data`.',
    schema: received('pusher:signin', SignIn),
    examples: ({ owner, socket }) => [
      {
        title: 'Sign in as a user (signed by the server)',
        before: { path: '/api/pusher/user-auth', body: { socket_id: socket }, into: 'data' },
        frame: {
          event: 'pusher:signin',
          data: { auth: FORGED, user_data: JSON.stringify({ id: owner }) },
        },
      },
    ],
  },
  'client-event': {
    summary:
      'Any event whose name starts with `client-`, on subscribed private and presence channels. It goes to the other subscribers; `user_id` is added on presence channels.',
    schema: Message.extend({ event: z.string().startsWith('client-'), channel: z.string() }),
    examples: ({ session }) => [
      {
        title: 'Send a client event on a private channel',
        frame: { event: 'client-event', channel: `private-session-${session}`, data: { typing: true } },
      },
    ],
  },
};

const json = (what: string) => z.string().describe(`JSON: ${what}`);
const sent = <Data extends z.ZodType>(event: string, data: Data) =>
  z.strictObject({ event: z.literal(event), data });
const onChannel = <Data extends z.ZodType>(event: string, data: Data) =>
  z.strictObject({ event: z.literal(event), channel: z.string(), data });

const outbound: Readonly<Record<string, OutboundMessage>> = {
  'pusher:connection_established': {
    summary: 'The first frame: {socket_id, activity_timeout 120}.',
    schema: sent('pusher:connection_established', json('{socket_id, activity_timeout}')),
    example: {
      event: 'pusher:connection_established',
      data: '{"socket_id":"123.456","activity_timeout":120}',
    },
    ids: [{ id: 'socket', at: 'data.socket_id' }],
  },
  'pusher:ping': {
    summary: 'Sent after 120 s of silence; no answer in 30 s closes with 4201.',
    schema: sent('pusher:ping', json('{}')),
    example: { event: 'pusher:ping', data: '{}' },
  },
  'pusher:pong': {
    summary: 'The answer to `pusher:ping`.',
    schema: sent('pusher:pong', json('{}')),
    example: { event: 'pusher:pong', data: '{}' },
  },
  'pusher_internal:subscription_succeeded': {
    summary: 'The socket is subscribed. On presence channels `data` lists the members.',
    schema: onChannel('pusher_internal:subscription_succeeded', json('{} or {presence: {ids, hash, count}}')),
    example: { event: 'pusher_internal:subscription_succeeded', channel: 'playground', data: '{}' },
  },
  'pusher_internal:member_added': {
    summary: 'The first socket of a user has joined a presence channel.',
    schema: onChannel('pusher_internal:member_added', json('{user_id, user_info?}')),
    example: {
      event: 'pusher_internal:member_added',
      channel: 'presence-room',
      data: '{"user_id":"ada"}',
    },
  },
  'pusher_internal:member_removed': {
    summary: 'The last socket of a user has left a presence channel.',
    schema: onChannel('pusher_internal:member_removed', json('{user_id}')),
    example: {
      event: 'pusher_internal:member_removed',
      channel: 'presence-room',
      data: '{"user_id":"ada"}',
    },
  },
  'pusher:subscription_error': {
    summary:
      'A subscription was refused. `status` is 400 for a bad name or member, 401 for a missing or bad signature, 403 for a channel without a permit, 413 for a limit.',
    schema: onChannel(
      'pusher:subscription_error',
      z.strictObject({ type: z.string(), error: z.string(), status: z.number() }),
    ),
    example: {
      event: 'pusher:subscription_error',
      channel: 'private-room',
      data: { type: 'AuthError', error: 'The signature is missing', status: 401 },
    },
  },
  'pusher:signin_success': {
    summary: 'The user has signed in.',
    schema: sent('pusher:signin_success', json('{user_data}')),
    example: { event: 'pusher:signin_success', data: '{"user_data":"{\\"id\\":\\"ada\\"}"}' },
  },
  'pusher:cache_miss': {
    summary: 'A cache channel has no last event.',
    schema: onChannel('pusher:cache_miss', json('{}')),
    example: { event: 'pusher:cache_miss', channel: 'cache-news', data: '{}' },
  },
  'pusher:error': {
    summary: 'A frame was refused, or the connection is closed.',
    schema: sent('pusher:error', z.strictObject({ code: z.number(), message: z.string() })),
    example: { event: 'pusher:error', data: { code: 4300, message: 'Unknown event hello' } },
  },
  event: {
    summary: 'An event that was published on a channel, or sent by another client.',
    schema: z.strictObject({
      event: z.string(),
      channel: z.string(),
      data: z.unknown().describe('JSON as a string; for a client event, the data of its sender'),
      user_id: z.string().optional().describe('the sender of a client event on a presence channel'),
    }),
    example: { event: 'new_message', channel: 'private-session-demo', data: '{"text":"Hello"}' },
  },
};

const { Trigger, Batch } = eventSchemas();
const info = z
  .string()
  .optional()
  .describe('`user_count`, `subscription_count`, or both with a comma between');

const Attributes = named(
  'ChannelAttributes',
  z.object({
    user_count: z.number().int().optional(),
    subscription_count: z.number().int().optional(),
  }),
);
const ChannelMap = z.record(z.string(), Attributes);
const ChannelPermit = named(
  'ChannelPermit',
  z.object({ auth: z.string(), channel_data: z.string().optional() }),
);
const UserPermit = named('UserPermit', z.object({ auth: z.string(), user_data: z.string() }));
const Triggered = named('Triggered', z.object({ channels: ChannelMap.optional() }));
const BatchTriggered = named('BatchTriggered', z.object({ batch: z.array(Attributes).optional() }));
const ChannelList = named('ChannelList', z.object({ channels: ChannelMap }));
const Channel = named('Channel', Attributes.extend({ occupied: z.boolean() }));
const ChannelUsers = named('ChannelUsers', z.object({ users: z.array(z.object({ id: z.string() })) }));
const Nothing = named('Nothing', z.object({}));

const ERRORS = {
  400: 'Invalid request',
  401: 'Missing or invalid token or signature',
  403: 'The channel belongs to another user',
  404: 'Unknown application',
  413: 'The event or the request is too large',
  503: 'Channels are off',
} as const;

const errors = (...codes: (keyof typeof ERRORS)[]): Answers =>
  Object.fromEntries(
    codes.map((code) => [code, { description: ERRORS[code], type: 'text/plain', schema: z.string() }]),
  );

/** The id of the default application. */
const APP = { app: 'app-id' };

const permits = (first: string, ...others: string[]): readonly [RequestExample, ...RequestExample[]] => {
  const permit = (channel_name: string) => ({ body: { socket_id: '1.1', channel_name } });
  return [permit(first), ...others.map(permit)];
};

const FORM_OR_JSON = ['application/x-www-form-urlencoded', 'application/json'];

const PUSHER_JS = {
  title: 'With pusher-js',
  language: 'js',
  code: `const token = 'the access_token of a login';
const sessionId = 'the id of a session';
const server = new URL('{{sockets}}');
const pusher = new Pusher('{{key}}', {
  cluster: 'none', enabledTransports: ['ws', 'wss'],
  wsHost: server.hostname, forceTLS: server.protocol === 'https:',
  wsPort: server.port || 80, wssPort: server.port || 443,
  channelAuthorization: {
    endpoint: '{{origin}}/api/pusher/auth',
    headers: { authorization: \`Bearer \${token}\` },
  },
});
pusher.subscribe(\`private-session-\${sessionId}\`).bind('new_message', console.log);`,
} as const;

export const description: Description = {
  title: 'Pusher channels',
  summary:
    'Pusher Channels, protocol 7: pusher-js, laravel-echo and compatible clients receive the events of a session.',
  scripts: [PUSHER_JS],
  socket: {
    nameField: 'event',
    params: { key: 'app-key' },
    query: { protocol: '7' },
    greeting: { receive: 'pusher:connection_established' },
  },
  messages: { in: inbound, out: outbound },
  endpoints: [
    {
      method: 'post',
      path: '/api/pusher/auth',
      summary: 'Authorises a socket for a private or presence channel',
      security: 'caller',
      examples: ({ session, owner }) =>
        permits(
          `private-session-${session}`,
          `presence-session-${session}`,
          `private-user-${owner}`,
          `presence-user-${owner}`,
        ),
      foreign: 'forbidden',
      body: named('ChannelRequest', ChannelRequest),
      bodyTypes: FORM_OR_JSON,
      answers: {
        200: { description: 'The signature', schema: ChannelPermit },
        ...errors(400, 401, 403, 503),
      },
    },
    {
      method: 'post',
      path: '/api/pusher/user-auth',
      summary: 'Signs a socket in as the caller',
      security: 'caller',
      examples: ({ owner, socket }) => [{ body: { socket_id: socket, id: owner, user_id: owner } }],
      body: named('UserRequest', UserRequest),
      bodyTypes: FORM_OR_JSON,
      answers: { 200: { description: 'The signature', schema: UserPermit }, ...errors(400, 401, 503) },
    },
    {
      method: 'post',
      path: '/apps/{app}/events',
      summary: 'Publishes an event on one or more channels',
      security: 'signed',
      examples: ({ session }) => [
        { params: APP, body: { name: 'new_message', channel: `private-session-${session}`, data: '{}' } },
      ],
      body: named('TriggerRequest', Trigger),
      answers: {
        200: { description: 'Published', schema: Triggered },
        ...errors(400, 401, 403, 404, 413),
      },
    },
    {
      method: 'post',
      path: '/apps/{app}/batch_events',
      summary: 'Publishes several events',
      security: 'signed',
      examples: ({ session }) => [
        {
          params: APP,
          body: { batch: [{ name: 'said', channel: `private-session-${session}`, data: '{}' }] },
        },
      ],
      body: named('BatchRequest', Batch),
      answers: {
        200: { description: 'Published', schema: BatchTriggered },
        ...errors(400, 401, 403, 404, 413),
      },
    },
    {
      method: 'get',
      path: '/apps/{app}/channels',
      summary: 'Lists the occupied channels',
      security: 'signed',
      examples: () => [{ params: APP }],
      query: z.object({ filter_by_prefix: z.string().optional(), info }),
      answers: { 200: { description: 'The channels', schema: ChannelList }, ...errors(400, 401, 404) },
    },
    {
      method: 'get',
      path: '/apps/{app}/channels/{name}',
      summary: 'One channel',
      security: 'signed',
      examples: ({ session }) => [{ params: { ...APP, name: `private-session-${session}` } }],
      query: z.object({ info }),
      answers: { 200: { description: 'The channel', schema: Channel }, ...errors(400, 401, 403, 404) },
    },
    {
      method: 'get',
      path: '/apps/{app}/channels/{name}/users',
      summary: 'Lists the members of a presence channel',
      security: 'signed',
      examples: ({ session }) => [{ params: { ...APP, name: `presence-session-${session}` } }],
      answers: { 200: { description: 'The users', schema: ChannelUsers }, ...errors(400, 401, 403, 404) },
    },
    {
      method: 'post',
      path: '/apps/{app}/users/{user}/terminate_connections',
      summary: 'Closes the sockets of a signed-in user',
      security: 'signed',
      examples: ({ owner }) => [{ params: { ...APP, user: owner } }],
      answers: { 200: { description: 'Closed', schema: Nothing }, ...errors(401, 403, 404) },
    },
  ],
};
