import { z } from 'zod';
import { type Answers, type Description, named, type RequestExample } from '../shared/description.ts';
import { inbound, outbound } from './describe-messages.ts';
import { ChannelRequest, eventSchemas, UserRequest } from './schemas.ts';

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
