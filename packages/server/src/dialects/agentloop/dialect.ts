/**
 * `agentloop`: terminal and web front ends of a coding agent. One socket is one conversation: the session named
 * by `?session=` or a `previousResponseId`, or a new one. The contract has no cancel and no ping; a second
 * input supersedes the running turn. A handoff between agents is sent as a system message.
 */
import { defineDialect } from '../kit/dialect.ts';
import type { SubscriptionHub } from '../kit/subscription-hub.ts';
import { description, KNOWN_TYPES } from './contract.ts';
import { open } from './inbound.ts';
import { projection, type State } from './outbound.ts';

export const agentloop = defineDialect({
  name: 'agentloop',
  listen: [{ ws: '/agentloop' }, { ws: '/', firstFrame: KNOWN_TYPES }],
  inbound: (ctx, hub: SubscriptionHub<State>) => ({ open: (socket) => open(socket, ctx, hub) }),
  projection,
  describe: async () => description(),
});
