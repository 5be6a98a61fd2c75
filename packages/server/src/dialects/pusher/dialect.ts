/**
 * `pusher`: protocol 7 of Pusher Channels, for `pusher-js` and libraries built on it. It is not a projection of
 * sessions: clients subscribe to channels, and every publisher on a channel reaches them. Not supported:
 * watchlists, subscription counts, tag filters and delta compression; frames that request them are answered
 * with an error.
 */
import { defineDialect } from '../kit/dialect.ts';
import { Settings } from './context.ts';
import { serve } from './serve.ts';

/**
 * The client sends the protocol version in the query. Private channels are authorised one by one, so no token
 * is needed.
 */
const APPLICATION = { query: ['protocol'], anonymous: true };

export const pusher = defineDialect({
  name: 'pusher',
  listen: [
    { ws: '/app/:key', ...APPLICATION },
    { ws: '/app/:key/', ...APPLICATION },
    { http: '/apps/*' },
    { http: '/api/pusher/auth' },
    { http: '/api/pusher/user-auth' },
  ],
  settings: Settings,
  inbound: serve,
  describe: async () => (await import('./describe.ts')).description,
});
