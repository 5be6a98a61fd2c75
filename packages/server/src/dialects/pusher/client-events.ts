/** Limits of client events. */
import type { Clock } from './clock.ts';
import type { Limits } from './limits.ts';
import { kindOf } from './names.ts';
import { encodedData, type Message } from './protocol.ts';

export const isClientEvent = (event: string): boolean => event.startsWith('client-');

/** Allows at most `perSecond` calls within any second. */
export function rateOf(perSecond: number, clock: Clock): () => boolean {
  const taken: number[] = [];
  return () => {
    const now = clock.now();
    const oldest = taken.length < perSecond ? undefined : taken[0];
    if (oldest !== undefined && now - oldest < 1_000) return false;
    if (oldest !== undefined) taken.shift();
    taken.push(now);
    return true;
  };
}

/** The reason to refuse the event, or null. */
export function refusalOf(
  { event, channel, data }: Message,
  subscribed: ReadonlySet<string>,
  { eventNameLength, eventBytes }: Limits,
): string | null {
  if (!channel || !subscribed.has(channel)) return 'the sender is not subscribed to the channel';
  const kind = kindOf(channel);
  if (kind !== 'private' && kind !== 'presence')
    return 'only private and presence channels that are not encrypted take client events';
  if (event.length > eventNameLength) return `its name is longer than ${eventNameLength} characters`;
  const text = encodedData(data);
  return Buffer.byteLength(text) > eventBytes ? `its data is larger than ${eventBytes} bytes` : null;
}
