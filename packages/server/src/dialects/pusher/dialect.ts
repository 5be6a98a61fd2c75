/**
 * `pusher`: protocol 7 of Pusher Channels, for `pusher-js` and what is built on it. It is no projection of sessions:
 * clients subscribe to channels, and whoever publishes on one reaches them. Not spoken: watchlists, subscription
 * counts, filters by tag and delta compression; a frame that asks for one is answered with an error.
 */
import { defineDialect } from '../shared/dialect.ts';
import { Settings } from './context.ts';
import { serve } from './serve.ts';

/** The client names the protocol version in the query. Private channels are granted one by one: no token is needed. */
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
