/** What the name of a channel tells about it. */
import type { Limits } from './limits.ts';

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

/** The channel for events to a signed-in user. */
export const userChannel = (user: string): string => USER_CHANNEL + user;

export function isChannelName(name: string, { channelNameLength, userIdLength }: Limits): boolean {
  if (name.startsWith(USER_CHANNEL)) {
    const user = name.slice(USER_CHANNEL.length);
    return user !== '' && user.length <= userIdLength;
  }
  return name.length <= channelNameLength && ALLOWED.test(name);
}

export const isSocketId = (text: string): boolean => /^\d{1,20}\.\d{1,20}$/.test(text);
