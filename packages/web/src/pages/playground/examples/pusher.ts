/** Client events of Pusher protocol 7. */
import type { Example, Known } from './example.ts';

const channelOf = ({ session }: Known): string =>
  session === '' ? 'playground' : `private-session-${session}`;

export const PUSHER: readonly Example[] = [
  {
    type: 'pusher:subscribe',
    title: 'Subscribe to a public channel',
    frame: () => ({ event: 'pusher:subscribe', data: { channel: 'playground' } }),
  },
  {
    type: 'pusher:subscribe',
    title: 'Subscribe to the session’s private channel (signed)',
    signed: { path: '/api/pusher/auth', channel: channelOf },
    frame: (known) => ({
      event: 'pusher:subscribe',
      data: {
        channel: channelOf(known),
        auth: known.signature ?? 'the answer of POST /api/pusher/auth',
      },
    }),
  },
  {
    type: 'client-',
    title: 'Send a client event on a private channel',
    frame: (known) => ({
      event: 'client-typing',
      channel: channelOf({ ...known, session: known.session || 'id' }),
      data: { typing: true },
    }),
  },
  {
    type: 'pusher:unsubscribe',
    title: 'Unsubscribe from a channel',
    frame: () => ({ event: 'pusher:unsubscribe', data: { channel: 'playground' } }),
  },
  {
    type: 'pusher:signin',
    title: 'Sign in as a user (signed)',
    signed: { path: '/api/pusher/user-auth' },
    frame: ({ signature = 'the answer of POST /api/pusher/user-auth', userData = '{"id":"local"}' }) => ({
      event: 'pusher:signin',
      data: { auth: signature, user_data: userData },
    }),
  },
  {
    type: 'pusher:ping',
    title: 'Ping',
    frame: () => ({ event: 'pusher:ping', data: {} }),
  },
  { type: 'pusher:pong', title: 'Answer a ping', frame: () => ({ event: 'pusher:pong', data: {} }) },
];
