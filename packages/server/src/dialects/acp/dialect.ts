/**
 * `acp`: editors that speak the Agent Client Protocol, version 1: one JSON-RPC message per frame; `parlance acp` connects it
 * to standard input and output. A hang-up ends no turn: `session/load` and `session/resume` come back to it. Not spoken: file
 * system and terminal of the client, MCP servers of the client, `session/delete`, configuration options.
 */
import { defineDialect } from '../shared/dialect.ts';
import type { SubscriptionHub } from '../shared/subscription-hub.ts';
import { open } from './inbound.ts';
import { projection, type State } from './projection.ts';

export const acp = defineDialect({
  name: 'acp',
  listen: [{ ws: '/acp', badToken: 'anonymous' }],
  inbound: (ctx, hub: SubscriptionHub<State>) => ({ open: (socket) => open(socket, ctx, hub) }),
  projection,
  describe: async () => (await import('./describe.ts')).description,
});
