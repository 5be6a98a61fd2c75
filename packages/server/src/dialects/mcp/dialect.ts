/**
 * `mcp`: Parlance as a server of the Model Context Protocol, revisions 2025-03-26, 2025-06-18, 2025-11-25 and
 * 2026-07-28. Sessions are used through tools, and read as resources. Nothing that a client needs to reconnect
 * is only in memory: the agreed version is in its session id, and the turn that a call follows in the ids and
 * states that the client sends back. The operator's tools, prompts and resources are offered beside them. Tasks are not supported.
 */
import { defineDialect } from '../kit/dialect.ts';
import { HTTP_STATUS } from '../kit/faults.ts';
import { rpcRest } from '../kit/json-rpc.ts';
import { Clients, Settings } from './clients.ts';
import { description, errorOf, PATH, refusal } from './contract.ts';
import { endpoints } from './inbound.ts';
import { projection } from './outbound.ts';

export const mcp = defineDialect({
  name: 'mcp',
  listen: [{ http: PATH }],
  settings: Settings,
  inbound: (ctx) => {
    const clients = new Clients(ctx.engine?.transport ?? null);
    const stop = ctx.own?.onChange((change) => clients.tell({ type: 'changed', change }));
    return { rest: { ...ctx, clients }, close: () => stop?.() };
  },
  rest: { ...rpcRest(errorOf, ({ code }) => HTTP_STATUS[code]), endpoints },
  projection,
  faults: { refusal },
  describe: async () => description(),
});
