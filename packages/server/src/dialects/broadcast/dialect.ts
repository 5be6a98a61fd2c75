/**
 * `broadcast`: simple chat pages and REPLs. Every socket receives all sessions of its principal. The contract
 * has no frames for streaming, approval, cancel or ping: text is sent whole, and a cancelled turn ends with an
 * `error`. A pending approval is sent as `agent_thinking` and, when it is requested, also as an
 * `agent_message`, because some pages render nothing else; a chat message that is just yes or no answers it.
 * Pages whose next chat would not answer it are told that it waits elsewhere.
 */

import { type DialectContext, defineDialect, noToken } from '../kit/dialect.ts';
import { endpointOf } from '../kit/endpoint.ts';
import { HTTP_STATUS } from '../kit/faults.ts';
import type { SubscriptionHub } from '../kit/subscription-hub.ts';
import { description, type schemas } from './contract.ts';
import { open } from './inbound.ts';
import { projection, type State } from './outbound.ts';

const endpoint = endpointOf<Pick<DialectContext, 'engine'>, ReturnType<typeof schemas>>();

const health = endpoint({
  method: 'get',
  path: '/api/health',
  summary: 'Liveness',
  security: 'nobody',
  limited: false,
  answers: { 200: { description: 'Alive', schema: 'Health' } },
  handle: () => ({ status: 'ok' }),
});

const config = endpoint({
  method: 'get',
  path: '/api/config',
  summary: 'Settings for chat pages',
  limited: false,
  answers: { 200: { description: 'The settings', schema: 'Settings' } },
  errors: [401],
  handle: (_, { engine }) => ({ max_iterations: engine.maxSteps, working_dir: engine.root }),
});

export const broadcast = defineDialect({
  name: 'broadcast',
  listen: [
    { ws: '/broadcast' },
    { ws: '/ws', when: noToken },
    { http: '/api/health' },
    { http: '/api/config' },
  ],
  inbound: (ctx, hub: SubscriptionHub<State>) => ({ open: (socket) => open(socket, ctx, hub), rest: ctx }),
  rest: {
    endpoints: [health, config],
    fault: ({ code, message }, c) => c.json({ error: message, detail: message }, HTTP_STATUS[code]),
  },
  projection,
  describe: async () => description(),
});
