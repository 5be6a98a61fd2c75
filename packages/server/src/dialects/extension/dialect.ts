/**
 * `extension`: browser extensions and C clients. A socket receives the sessions that it chats in, clears, or
 * was opened with; after registration it may also be asked to run tools. The contract has no frames for
 * streaming, approval or cancel: text is sent whole, and a cancelled turn ends with an `error`. A pending
 * approval is sent as `agent_status` using_tool and, for popups that render only responses, as an
 * `agent_response` with the question; a chat message that is just yes or no answers it. A turn whose socket is
 * lost continues on the socket that registers with the same `metadata.deviceId`. Messages of other users
 * in a session are not sent.
 *
 * The protocol is in `dialect.ts`, `contract.ts`, `inbound.ts` and `outbound.ts`. Beside it: `routes.ts`, two HTTP endpoints, and
 * `lost-turns.ts`, turns whose socket was lost.
 */
import { defineDialect } from '../kit/dialect.ts';
import type { SubscriptionHub } from '../kit/subscription-hub.ts';
import { description } from './contract.ts';
import { open } from './inbound.ts';
import { LostTurns } from './lost-turns.ts';
import { projection, type State } from './outbound.ts';
import { rest, Settings } from './routes.ts';

export const extension = defineDialect({
  name: 'extension',
  listen: [{ ws: '/extension' }, { ws: '/' }, { http: '/health' }, { http: '/api/summarize' }],
  settings: Settings,
  inbound(ctx, hub: SubscriptionHub<State>) {
    const lost = new LostTurns(hub, ctx);
    return {
      open: (socket) => open(socket, { ...ctx, lost }, hub),
      rest: ctx,
      resume: () => lost.resume(),
    };
  },
  rest,
  projection,
  describe: async () => description(),
});
