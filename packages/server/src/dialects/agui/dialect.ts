/**
 * `agui`: front ends and runtimes that speak AG-UI 1.0. A thread is a session; its log is the truth, and what a request has
 * beyond it is new. Front-end tools are deferred calls of the core, approvals are interrupts. State, activities and steps are
 * not sent. A client that hangs up ends the turn that its request began, because the protocol has no other way to stop.
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
