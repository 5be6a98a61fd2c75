/**
 * `a2a`: clients of the Agent2Agent protocol 1.0 with its bindings JSON-RPC and HTTP+JSON, and of 0.3 with JSON-RPC. A context is a
 * session and a task is a turn, of this or any other dialect. A disconnect does not end a task: the client subscribes to it again,
 * or cancels it, or has its updates sent to an address. gRPC is not supported.
 */
import { defineDialect } from '../kit/dialect.ts';
import { rpcRest } from '../kit/json-rpc.ts';
import {
  CARD_PATH,
  description,
  httpFailure,
  isRpc,
  RPC_PATH,
  refusal,
  rpcError,
  statusOf,
} from './contract.ts';
import { CardTimes, endpoints } from './inbound.ts';
import { projection } from './outbound.ts';
import { PushNotifications, Settings } from './push.ts';

const rpc = rpcRest(rpcError, statusOf);

export const a2a = defineDialect({
  name: 'a2a',
  listen: [{ http: `${RPC_PATH}/*` }, { http: `${RPC_PATH}/`, sameAs: RPC_PATH }, { http: CARD_PATH }],
  settings: Settings,
  inbound: (ctx, hub) => {
    const { pushNotifications } = ctx.settings;
    const push = pushNotifications === 'off' ? null : new PushNotifications(ctx, pushNotifications === 'any');
    return {
      rest: { ...ctx, hub, cards: new CardTimes(), push },
      resume: async () => push?.start(),
      close: () => push?.close(),
    };
  },
  rest: {
    ...rpc,
    fault(fault, c) {
      if (isRpc(c.req.path)) return rpc.fault(fault, c);
      const { status, body } = httpFailure(fault);
      return c.json(body, status);
    },
    endpoints,
  },
  projection,
  faults: { refusal },
  describe: async () => description(),
});
