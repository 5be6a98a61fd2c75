/** Messages between nodes about channels and their sockets. */
import { z } from 'zod';

export const KINDS = {
  event: 'channel.event',
  terminate: 'channel.terminate',
  state: 'channel.state',
  last: 'channel.last',
  /** signed, because it opens a channel */
  permit: 'channel.permit',
  close: 'channel.close',
  closed: 'channel.closed',
} as const;

/** An event as subscribers receive it. */
export const RemoteEvent = z.object({
  channel: z.string(),
  text: z.string(),
  /** the socket to skip */
  except: z.string().optional(),
  /** keep it for later subscribers of a cache channel */
  remember: z.boolean(),
});
export type RemoteEvent = z.infer<typeof RemoteEvent>;

export const Terminate = z.object({ user: z.string() });

/** Selects channels: the named ones, or all with a prefix. */
export const StateQuery = z.union([
  z.object({ names: z.array(z.string()) }),
  z.object({ prefix: z.string() }),
]);
export type StateQuery = z.infer<typeof StateQuery>;

export const ChannelStates = z.record(
  z.string(),
  z.object({ subscribers: z.number(), users: z.array(z.string()) }),
);
export type ChannelStates = z.infer<typeof ChannelStates>;

export const LastQuery = z.object({ channel: z.string() });
export type LastQuery = z.infer<typeof LastQuery>;

/**
 * The last event of a cache channel as subscribers receive it. Sent with its age, because clocks of nodes
 * differ.
 */
export const LastEvent = z.object({ text: z.string(), ageMs: z.number() });
export type LastEvent = z.infer<typeof LastEvent>;

export const Permit = z.object({
  socket: z.string(),
  channel: z.string().nullable(),
  /** names the token that the sender watches; null if there is none */
  watch: z.string().nullable(),
});
export type Permit = z.infer<typeof Permit>;

/** `elsewhere`: the node has no such socket. */
export const Permitted = z.enum(['permitted', 'elsewhere', 'refused']);

export const Close = z.object({ socket: z.string(), reason: z.string() });
export const Closed = z.object({ socket: z.string(), watch: z.string() });

export const MemberEntry = z.object({ user_id: z.string(), user_info: z.json().optional() });
