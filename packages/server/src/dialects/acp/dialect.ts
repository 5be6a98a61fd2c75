/**
 * `acp`: editors that use the Agent Client Protocol, version 1, with one JSON-RPC message per frame; `parlance
 * acp` connects it to standard input and output. A disconnect does not end a turn: `session/load` and
 * `session/resume` return to it. Not supported: file system, terminal and MCP servers of the client.
 *
 * The protocol is in `dialect.ts`, `contract.ts`, `inbound.ts` and `outbound.ts`. Beside it: `client.ts`, the state of one socket.
 */
import { defineDialect } from '../kit/dialect.ts';
import type { SubscriptionHub } from '../kit/subscription-hub.ts';
import { description } from './contract.ts';
import { open } from './inbound.ts';
import { projection, type State } from './outbound.ts';

export const acp = defineDialect({
  name: 'acp',
  listen: [{ ws: '/acp', badToken: 'anonymous', idHeader: 'Acp-Connection-Id' }],
  inbound: (ctx, hub: SubscriptionHub<State>) => ({ open: (socket) => open(socket, ctx, hub) }),
  projection,
  describe: async () => description(),
});
