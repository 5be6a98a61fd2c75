/**
 * `conversations`: multi-agent chat applications with logins. Every socket needs a token; one without is
 * accepted and closed with 1008. A socket receives the conversations that it starts, sends to or names with
 * `?session=`, and those that its predecessor left unfinished. The contract has no frames for
 * messages of other users, progress of a call, or compaction; these are not sent. It has no standing approval:
 * an answer applies once.
 *
 * The protocol is in `contract.ts`, `inbound.ts` and `outbound.ts` (the socket), and `routes.ts` (REST). Beside it: `dialect.ts` joins them,
 * `detached-streams.ts` keeps what lost sockets still expected, `resume.ts` sends it to their successors.
 */
import { defineDialect, noToken, withToken } from '../kit/dialect.ts';
import type { SubscriptionHub } from '../kit/subscription-hub.ts';
import { description, KNOWN_TYPES } from './contract.ts';
import { open } from './inbound.ts';
import { projection, type State } from './outbound.ts';
import { StreamResume } from './resume.ts';
import { HTTP_PATHS, rest } from './routes.ts';

/** A client without a token that uses this dialect at a shared path gets the reason when it is disconnected. */
const WITHOUT_TOKEN = {
  when: noToken,
  firstFrame: new Set<string>(KNOWN_TYPES),
  refuse: 'A token is required.',
};

export const conversations = defineDialect({
  name: 'conversations',
  listen: [
    { ws: '/conversations' },
    { ws: '/ws', when: withToken },
    { ws: '/ws', ...WITHOUT_TOKEN },
    ...HTTP_PATHS.map((path) => ({ http: `/v1${path}` })),
  ],
  inbound(ctx, hub: SubscriptionHub<State>) {
    const resume = new StreamResume(hub, ctx);
    const own = { ...ctx, resume };
    return {
      open: (socket) => open(socket, own, hub),
      rest: ctx,
      resume: () => resume.resume(),
    };
  },
  rest,
  projection,
  describe: async () => description(),
});
