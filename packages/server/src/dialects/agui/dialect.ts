/**
 * `agui`: front ends and runtimes that use AG-UI 1.0. A thread is a session. The log is authoritative: messages
 * of a request that it does not have are new. Front-end tools are deferred calls of the core, approvals are
 * interrupts. State, activities and steps are not sent. A disconnect ends the turn that the request started,
 * because the protocol has no other way to stop.
 */
import { defineDialect } from '../shared/dialect.ts';
import { refusal } from './faults.ts';
import { projection } from './projection.ts';
import { routes } from './routes.ts';

export const agui = defineDialect({
  name: 'agui',
  listen: [{ http: '/agui/*' }],
  inbound: (ctx) => ({ routes: (app) => routes(app, ctx) }),
  projection,
  faults: { refusal },
  describe: async () => (await import('./describe.ts')).description,
});
