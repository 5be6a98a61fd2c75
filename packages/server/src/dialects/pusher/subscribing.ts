/** Decides whether a socket may subscribe to a channel, and as which member. */
import { isOurs } from './application.ts';
import type { Member } from './member.ts';
import { isChannelName, kindOf, userChannel } from './names.ts';
import { ChannelData, type Refusal, type Subscribe } from './protocol.ts';
import type { PusherServer } from './server.ts';
import { isSubscriptionAuth } from './signature.ts';

export type Admission = { readonly member: Member | null } | Refusal;

const refused = (type: string, error: string, status: number): Refusal => ({ type, error, status });
const BAD_AUTH = refused('AuthError', 'The connection is unauthorized.', 401);
const NOT_PERMITTED = refused('AuthError', 'The channel was not permitted to this connection.', 403);

/** A socket and its signed-in user. */
export type SubscriberInfo = { readonly socketId: string; readonly user: Member | null };

export function admit(
  request: Subscribe,
  { socketId, user }: SubscriberInfo,
  { application, connected, limits }: PusherServer,
): Admission {
  const { channel, auth, channel_data } = request;
  if (!isChannelName(channel, limits)) return refused('InvalidChannel', 'Invalid channel name', 400);
  const kind = kindOf(channel);
  if (kind === 'public') return { member: null };
  if (kind === 'user') return user && channel === userChannel(user.user_id) ? { member: null } : BAD_AUTH;
  const data = kind === 'presence' ? channel_data : null;
  if (!auth || !isSubscriptionAuth(application, { socketId, channel, channelData: data }, auth))
    return BAD_AUTH;
  if (application.known && isOurs(channel) && !connected.redeem(socketId, channel)) return NOT_PERMITTED;
  if (kind !== 'presence') return { member: null };
  return data == null && user ? { member: user } : memberOf(data, limits);
}

function memberOf(data: string | null | undefined, limits: PusherServer['limits']): Admission {
  const parsed = ChannelData.safeParse(data);
  if (!parsed.success) return refused('InvalidMember', 'channel_data must be JSON with a user_id', 400);
  const { user_id, user_info } = parsed.data;
  if (user_id.length > limits.userIdLength)
    return refused('LimitReached', `user_id is longer than ${limits.userIdLength} characters`, 413);
  if (Buffer.byteLength(JSON.stringify(user_info ?? null)) > limits.userInfoBytes)
    return refused('LimitReached', `user_info is larger than ${limits.userInfoBytes} bytes`, 413);
  return { member: { user_id, user_info } };
}
