/** Frames of Pusher protocol 7, in both directions. */
import { jsonNestsDeeper } from '@parlance/protocol';
import { z } from 'zod';

// In

/** Clients send `data` as JSON or as a string of JSON. */
const unpacked = (data: unknown): unknown => {
  if (typeof data !== 'string' || jsonNestsDeeper(data)) return data;
  try {
    return JSON.parse(data);
  } catch {
    return data; // the schema reports what is wrong
  }
};

/** Client messages. Events whose name starts with `client-` go to other clients. */
export const KNOWN_EVENTS = [
  'pusher:ping',
  'pusher:pong',
  'pusher:subscribe',
  'pusher:unsubscribe',
  'pusher:signin',
] as const;
type KnownEvent = (typeof KNOWN_EVENTS)[number];

export const isKnown = (event: string): event is KnownEvent => KNOWN_EVENTS.some((known) => known === event);

export const Message = z.object({
  event: z.string().min(1),
  channel: z.string().nullish(),
  data: z.unknown().optional(),
});
export type Message = z.infer<typeof Message>;

export const Subscribe = z.preprocess(
  unpacked,
  z.object({ channel: z.string(), auth: z.string().nullish(), channel_data: z.string().nullish() }),
);
export type Subscribe = z.infer<typeof Subscribe>;

export const Unsubscribe = z.preprocess(unpacked, z.object({ channel: z.string() }));

export const SignIn = z.preprocess(unpacked, z.object({ auth: z.string(), user_data: z.string() }));
export type SignIn = z.infer<typeof SignIn>;

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

// Out

/** Data is sent as a string of JSON; strings are sent unchanged. */
export const encodedData = (data: unknown): string =>
  typeof data === 'string' ? data : JSON.stringify(data ?? null);

/** An event encoded for any number of sockets. */
export const encoded = (event: string, channel: string | undefined, data: unknown): string =>
  JSON.stringify({ event, channel, data: encodedData(data) });

export type RelayedEvent = {
  readonly event: string;
  readonly channel: string;
  readonly data: unknown;
  /** the sender, on presence channels */
  readonly user_id?: string;
};

/** A client event is relayed with `data` unchanged. */
export const relayed = ({ event, channel, data, user_id }: RelayedEvent): string =>
  JSON.stringify({ event, channel, data, user_id });

/** Unlike other frames, errors have an object as data, not a string; Pusher does the same. */
export const errorFrame = (code: number, message: string): object => ({
  event: 'pusher:error',
  data: { code, message },
});

/** Why a subscription is refused. */
export type Refusal = { readonly type: string; readonly error: string; readonly status: number };

export const subscriptionError = (channel: string, { type, error, status }: Refusal): object => ({
  event: 'pusher:subscription_error',
  channel,
  data: { type, error, status },
});

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
