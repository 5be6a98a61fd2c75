/**
 * `pusher`: protocol 7 of Pusher Channels, for `pusher-js` and what is built on it. It is no projection of sessions:
 * clients subscribe to channels, and whoever publishes on one reaches them. Not spoken: watchlists, subscription
 * counts, filters by tag and delta compression; a frame that asks for one is answered with an error.
 */
export { openPusher } from './inbound.ts';
export { type Knock, knockOf } from './knock.ts';
