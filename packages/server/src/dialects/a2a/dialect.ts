/**
 * `a2a`: clients of the Agent2Agent protocol 1.0 with its JSON-RPC binding. A context is a session and a task
 * is a turn, of this or any other dialect. A disconnect does not end a task: the client subscribes to it again,
 * or cancels it. Push notifications and the other bindings are not supported.
 */
import { defineDialect } from '../shared/dialect.ts';
import { CARD_PATH, RPC_PATH } from './card.ts';
import { refusal } from './faults.ts';
import { projection } from './projection.ts';
import { routes } from './routes.ts';
import { Tasks } from './tasks.ts';

export const a2a = defineDialect({
  name: 'a2a',
  listen: [{ http: RPC_PATH }, { http: CARD_PATH }],
  inbound: (ctx, hub) => ({
    routes: (app) => routes(app, { ...ctx, hub, tasks: new Tasks({ engine: ctx.engine, hub }) }),
  }),
  projection,
  faults: { refusal },
  describe: async () => (await import('./describe.ts')).description,
});
