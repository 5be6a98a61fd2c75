/**
 * `a2a`: clients of the Agent2Agent protocol 1.0 with its JSON-RPC binding. A context is a session and a task
 * is a turn, of this or any other dialect. A disconnect does not end a task: the client subscribes to it again,
 * or cancels it. Push notifications and the other bindings are not supported.
 */
import { defineDialect } from '../kit/dialect.ts';
import { rpcRest } from '../kit/json-rpc.ts';
import { CARD_PATH, description, RPC_PATH, refusal, rpcError, statusOf } from './contract.ts';
import { endpoints } from './inbound.ts';
import { projection } from './outbound.ts';

export const a2a = defineDialect({
  name: 'a2a',
  listen: [{ http: RPC_PATH }, { http: CARD_PATH }],
  inbound: (ctx, hub) => ({ rest: { ...ctx, hub } }),
  rest: { ...rpcRest(rpcError, statusOf), endpoints },
  projection,
  faults: { refusal },
  describe: async () => description(),
});
