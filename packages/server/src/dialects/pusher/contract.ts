/**
 * Protocol 7 of Pusher Channels: frames in and out, names of channels, limits, and requests over HTTP. Not a projection of
 * sessions: `channels.ts` delivers what is published.
 */
import { jsonNestsDeeper, parsedJson } from '@parlance/protocol';
import { z } from 'zod';
import {
  type BodyOf,
  type Description,
  type ExampleIds,
  type InboundMessage,
  type MessageExample,
  nameSchemas,
  type OutboundMessage,
} from '../kit/description.ts';
import { subscriptionAuth } from './signature.ts';

/** Limits of everything a client can grow, with the values of Pusher. Sizes are bytes of the JSON as sent. */
export const LIMITS = {
  /** concurrent sockets; one more gets 4100 */
  sockets: 100_000,
  channelsPerSocket: 1_000,
  membersPerChannel: 100,
  userIdLength: 128,
  userInfoBytes: 2_048,
  channelNameLength: 200,
  eventNameLength: 200,
  eventBytes: 10_240,
  clientEventsPerSecond: 10,
  channelsPerEvent: 100,
  eventsPerBatch: 10,
  requestBytes: 1_048_576,
  /** a client that is silent for this long receives a ping … */
  silenceMs: 120_000,
  /** … and is closed if it stays silent for this long */
  answerMs: 30_000,
  /** cache channels whose last event is kept; beyond that the oldest is dropped */
  rememberedChannels: 1_000,
  rememberedMs: 30 * 60_000,
};

export type Limits = typeof LIMITS;

/**
 * Close codes: with 4000–4099 clients do not reconnect, with 4100–4199 later, with 4200–4299 at once. 43xx
 * leaves the socket open.
 */
export const CODES = {
  unknownKey: 4001,
  badVersion: 4006,
  unsupportedVersion: 4007,
  noVersion: 4008,
  unauthorised: 4009,
  overCapacity: 4100,
  goingAway: 4200,
  noAnswer: 4201,
  malformed: 4300,
  clientEventRefused: 4301,
} as const;

// Names of channels

export type ChannelKind = 'public' | 'private' | 'encrypted' | 'presence' | 'user';

const USER_CHANNEL = '#server-to-user-';
const ALLOWED = /^[A-Za-z0-9_\-=@,.;]+$/;

export function kindOf(channel: string): ChannelKind {
  if (channel.startsWith(USER_CHANNEL)) return 'user';
  if (channel.startsWith('private-encrypted-')) return 'encrypted';
  if (channel.startsWith('private-')) return 'private';
  return channel.startsWith('presence-') ? 'presence' : 'public';
}

/** The last event is kept for later subscribers. */
export const isCache = (channel: string): boolean =>
  /^(private-encrypted-|private-|presence-)?cache-/.test(channel);

/** Channels with data of a principal, authorised by `POST /api/pusher/auth`. */
export const isOurs = (channel: string): boolean => /^(private|presence)-(session|user)-/.test(channel);

/** The channel for events to a signed-in user. */
export const userChannel = (user: string): string => USER_CHANNEL + user;

export function isChannelName(name: string, { channelNameLength, userIdLength }: Limits = LIMITS): boolean {
  if (name.startsWith(USER_CHANNEL)) {
    const user = name.slice(USER_CHANNEL.length);
    return user !== '' && user.length <= userIdLength;
  }
  return name.length <= channelNameLength && ALLOWED.test(name);
}

// In

/** Clients send `data` as JSON or as a string of JSON. */
const unpacked = (data: unknown): unknown => {
  if (typeof data !== 'string' || jsonNestsDeeper(data)) return data;
  const value = parsedJson(data);
  return value === undefined ? data : value; // the schema reports what is wrong
};

/** Any frame. Events whose name starts with `client-` go to other clients. */
export const Envelope = z.object({
  event: z.string().min(1),
  channel: z.string().nullish(),
  data: z.unknown().optional(),
});
export type Envelope = z.infer<typeof Envelope>;

const received = <Event extends string, Data extends z.ZodType>(event: Event, data: Data) =>
  Envelope.extend({ event: z.literal(event), data });

const Ping = received('pusher:ping', z.unknown().optional());
const Pong = received('pusher:pong', z.unknown().optional());
const Subscribe = received(
  'pusher:subscribe',
  z.preprocess(
    unpacked,
    z.object({ channel: z.string(), auth: z.string().nullish(), channel_data: z.string().nullish() }),
  ),
);
const Unsubscribe = received('pusher:unsubscribe', z.preprocess(unpacked, z.object({ channel: z.string() })));
const SignIn = received(
  'pusher:signin',
  z.preprocess(unpacked, z.object({ auth: z.string(), user_data: z.string() })),
);

export const ClientFrame = z.discriminatedUnion('event', [Ping, Pong, Subscribe, Unsubscribe, SignIn]);
export type ClientFrame = z.infer<typeof ClientFrame>;
export type Subscription = z.infer<typeof Subscribe>['data'];
export type UserSignIn = z.infer<typeof SignIn>['data'];

export const KNOWN_EVENTS: ReadonlySet<string> = new Set(
  ClientFrame.options.map(({ shape }) => shape.event.value),
);

/** The user of a subscriber on a presence channel. */
export type Member = { readonly user_id: string; readonly user_info?: unknown };

/** A numeric id is converted to a string. */
const UserId = z.union([z.string().min(1), z.number().int().transform(String)]);

const fromJson = (text: unknown): unknown => (typeof text === 'string' ? unpacked(text) : undefined);

/** A member of a presence channel, from `channel_data`. */
export const ChannelData = z.preprocess(
  fromJson,
  z.object({ user_id: UserId, user_info: z.unknown().optional() }),
);

/** The user of a sign-in, from `user_data`. */
export const UserData = z.preprocess(fromJson, z.object({ id: UserId, user_info: z.unknown().optional() }));

// Examples use the default application; servers with another secret refuse its signatures.

const APPLICATION = { key: 'app-key', secret: 'app-secret' };
const FORGED = `${APPLICATION.key}:${'0'.repeat(64)}`;

const subscribe = (data: object) => ({ event: 'pusher:subscribe', data });

const subscriptionExamples = (what: string, channel: string, ids: ExampleIds): MessageExample[] => [
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
    frame: subscribe({ channel, auth: subscriptionAuth(APPLICATION, { socketId: ids.socket, channel }) }),
  },
];

const inbound = (): Readonly<Record<ClientFrame['event'] | 'client-event', InboundMessage>> => ({
  'pusher:ping': {
    summary: 'Asks for a `pusher:pong`.',
    schema: Ping,
    examples: () => [{ title: 'Ping', frame: { event: 'pusher:ping', data: {} } }],
  },
  'pusher:pong': {
    summary: 'Answers a `pusher:ping`.',
    schema: Pong,
    examples: () => [{ title: 'Answer a ping', frame: { event: 'pusher:pong', data: {} } }],
  },
  'pusher:subscribe': {
    summary:
      'Subscribes to a public, `private-`, `private-encrypted-` (passed through) or `presence-` channel, each also as `cache-`. All but public ones need `auth`, a signature.',
    schema: Subscribe,
    examples: (ids) => [
      { title: 'Subscribe to a public channel', first: true, frame: subscribe({ channel: 'playground' }) },
      ...subscriptionExamples('the session’s private channel', `private-session-${ids.session}`, ids),
      ...subscriptionExamples('the user’s private channel', `private-user-${ids.owner}`, ids),
    ],
  },
  'pusher:unsubscribe': {
    summary: 'Leaves a channel; no effect if it is not subscribed.',
    schema: Unsubscribe,
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
    schema: SignIn,
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
    schema: Envelope.extend({ event: z.string().startsWith('client-'), channel: z.string() }),
    examples: ({ session }) => [
      {
        title: 'Send a client event on a private channel',
        frame: { event: 'client-event', channel: `private-session-${session}`, data: { typing: true } },
      },
    ],
  },
});

// Out

/** Data is sent as a string of JSON; strings are sent unchanged. */
export const encodedData = (data: unknown): string =>
  typeof data === 'string' ? data : JSON.stringify(data ?? null);

/** An event encoded for any number of sockets. */
export const encoded = (event: string, channel: string | undefined, data: unknown): string =>
  JSON.stringify({ event, channel, data: encodedData(data) });

type ServerFrame = BodyOf<typeof outbound>;
/** Unlike other frames, errors have an object as data, not a string; Pusher does the same. */
export type ErrorFrame = Extract<ServerFrame, { event: 'pusher:error' }>;
export type SubscriptionError = Extract<ServerFrame, { event: 'pusher:subscription_error' }>;

/** A message without a channel. */
const sent = <Event extends string, Data extends z.ZodType>(
  event: Event,
  summary: string,
  [data, example]: readonly [Data, z.input<Data>],
) => ({
  summary,
  schema: z.strictObject({ event: z.literal(event), data }),
  example: { event, data: example },
});

const onChannel = <Event extends string, Data extends z.ZodType>(
  event: Event,
  summary: string,
  [channel, data, example]: readonly [string, Data, z.input<Data>],
) => ({
  summary,
  schema: z.strictObject({ event: z.literal(event), channel: z.string(), data }),
  example: { event, channel, data: example },
});

function outbound() {
  const json = (what: string) => z.string().describe(`JSON: ${what}`);
  return {
    'pusher:connection_established': {
      ...sent('pusher:connection_established', 'The first frame: {socket_id, activity_timeout 120}.', [
        json('{socket_id, activity_timeout}'),
        '{"socket_id":"123.456","activity_timeout":120}',
      ]),
      ids: [{ id: 'socket', at: 'data.socket_id' }],
    },
    'pusher:ping': sent('pusher:ping', 'Sent after 120 s of silence; no answer in 30 s closes with 4201.', [
      json('{}'),
      '{}',
    ]),
    'pusher:pong': sent('pusher:pong', 'The answer to `pusher:ping`.', [json('{}'), '{}']),
    'pusher_internal:subscription_succeeded': onChannel(
      'pusher_internal:subscription_succeeded',
      'The socket is subscribed. On presence channels `data` lists the members.',
      ['playground', json('{} or {presence: {ids, hash, count}}'), '{}'],
    ),
    'pusher_internal:member_added': onChannel(
      'pusher_internal:member_added',
      'The first socket of a user has joined a presence channel.',
      ['presence-room', json('{user_id, user_info?}'), '{"user_id":"ada"}'],
    ),
    'pusher_internal:member_removed': onChannel(
      'pusher_internal:member_removed',
      'The last socket of a user has left a presence channel.',
      ['presence-room', json('{user_id}'), '{"user_id":"ada"}'],
    ),
    'pusher:subscription_error': onChannel(
      'pusher:subscription_error',
      'A subscription was refused. `status` is 400 for a bad name or member, 401 for a missing or bad signature, 403 for a channel without a permit, 413 for a limit.',
      [
        'private-room',
        z.strictObject({ type: z.string(), error: z.string(), status: z.number() }),
        { type: 'AuthError', error: 'The signature is missing', status: 401 },
      ],
    ),
    'pusher:signin_success': sent('pusher:signin_success', 'The user has signed in.', [
      json('{user_data}'),
      '{"user_data":"{\\"id\\":\\"ada\\"}"}',
    ]),
    'pusher:cache_miss': onChannel('pusher:cache_miss', 'A cache channel has no last event.', [
      'cache-news',
      json('{}'),
      '{}',
    ]),
    'pusher:error': sent('pusher:error', 'A frame was refused, or the connection is closed.', [
      z.strictObject({ code: z.number(), message: z.string() }),
      { code: 4300, message: 'Unknown event hello' },
    ]),
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
  } satisfies Readonly<Record<string, OutboundMessage>>;
}

// HTTP

const isSocketId = (text: string): boolean => /^\d{1,20}\.\d{1,20}$/.test(text);
const SocketId = z.string().refine(isSocketId, { error: 'is not a socket id' });
const ChannelName = z
  .string()
  .refine((name) => isChannelName(name), { error: 'is not a valid channel name' });

const event = {
  name: z
    .string()
    .min(1)
    .max(LIMITS.eventNameLength)
    .refine((name) => !/^pusher(_internal)?:/.test(name), { error: 'is reserved for the protocol' }),
  data: z.unknown().optional(),
  socket_id: SocketId.nullish(),
  info: z.string().nullish(),
};

export const TriggerRequest = z
  .object({
    ...event,
    channel: ChannelName.optional(),
    channels: z.array(ChannelName).min(1).max(LIMITS.channelsPerEvent).optional(),
  })
  .refine(({ channel, channels }) => (channel === undefined) !== (channels === undefined), {
    error: 'either channel or channels is needed',
  });

export const BatchRequest = z.object({
  batch: z
    .array(z.object({ ...event, channel: ChannelName }))
    .min(1)
    .max(LIMITS.eventsPerBatch),
});

export const ChannelRequest = z.object({ socket_id: SocketId, channel_name: z.string().min(1).max(300) });
export const UserRequest = z.object({ socket_id: SocketId });

/** The schemas of answers, by the names that the endpoints use. */
export function answers() {
  const ChannelAttributes = z.object({
    user_count: z.number().int().optional(),
    subscription_count: z.number().int().optional(),
  });
  const Channels = z.record(z.string(), ChannelAttributes);
  return {
    ChannelAttributes,
    ChannelPermit: z.object({ auth: z.string(), channel_data: z.string().optional() }),
    UserPermit: z.object({ auth: z.string(), user_data: z.string() }),
    Triggered: z.object({ channels: Channels.optional() }),
    BatchTriggered: z.object({ batch: z.array(ChannelAttributes).optional() }),
    ChannelList: z.object({ channels: Channels }),
    Channel: ChannelAttributes.extend({ occupied: z.boolean() }),
    ChannelUsers: z.object({ users: z.array(z.object({ id: z.string() })) }),
    Nothing: z.object({}),
  };
}

const error = (text: string) => ({ description: text, type: 'text/plain', schema: z.string() });

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

export function description(): Description {
  const schemas = answers();
  nameSchemas({ ...schemas, ChannelRequest, UserRequest, TriggerRequest, BatchRequest });
  return {
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
    messages: { in: inbound(), out: outbound() },
    schemas,
    errors: {
      400: error('Invalid request'),
      401: error('Missing or invalid token or signature'),
      403: error('The channel belongs to another user'),
      404: error('Unknown application'),
      413: error('The event or the request is too large'),
      503: error('Channels are off'),
    },
  };
}
