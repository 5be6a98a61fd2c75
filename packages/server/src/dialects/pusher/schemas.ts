/** Requests of server packages and clients over HTTP. */
import { z } from 'zod';
import { LIMITS, type Limits } from './limits.ts';
import { isChannelName, isSocketId } from './names.ts';

export function eventSchemas(limits: Limits = LIMITS) {
  const channel = z
    .string()
    .refine((name) => isChannelName(name, limits), { error: 'is not a valid channel name' });
  const one = {
    name: z
      .string()
      .min(1)
      .max(limits.eventNameLength)
      .refine((name) => !/^pusher(_internal)?:/.test(name), { error: 'is reserved for the protocol' }),
    data: z.unknown().optional(),
    socket_id: z.string().refine(isSocketId, { error: 'is not a socket id' }).nullish(),
    info: z.string().nullish(),
  };
  const Trigger = z
    .object({
      ...one,
      channel: channel.optional(),
      channels: z.array(channel).min(1).max(limits.channelsPerEvent).optional(),
    })
    .refine((event) => (event.channel === undefined) !== (event.channels === undefined), {
      error: 'either channel or channels is needed',
    });
  const Batch = z.object({
    batch: z
      .array(z.object({ ...one, channel }))
      .min(1)
      .max(limits.eventsPerBatch),
  });
  return { Trigger, Batch };
}

const SocketId = z.string().refine(isSocketId);
export const ChannelRequest = z.object({ socket_id: SocketId, channel_name: z.string().min(1).max(300) });
export const UserRequest = z.object({ socket_id: SocketId });
