/**
 * `conversations`: multi-agent chat applications with logins. Every socket needs a token; one without is accepted and
 * closed with 1008. A socket receives the conversations that it starts, sends to or names by `?session=`, and those that
 * closed sockets of its user left unfinished. The contract has no frames for the messages of other users, the progress of a
 * call and compaction: these are not sent. It has no standing approval: an answer counts once.
 */
import { defineDialect } from '../shared/dialect.ts';
import { open } from './inbound.ts';
import { Inheritance } from './inheritance.ts';
import { projection, type State } from './projection.ts';
import { routes } from './routes.ts';

export const conversations = defineDialect<State>({
  name: 'conversations',
  projection,
  open,
  resume: (ctx, hub) => Inheritance.of(hub, ctx).resume(),
  routes,
});
