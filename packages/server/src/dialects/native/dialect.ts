/**
 * `native`: the core's own events and commands over HTTP, for the console, the SDK and scripts. Every event and command of
 * the core is available. There are no sockets: events are read in pages or as server-sent events.
 */
import { defineDialect } from '../shared/dialect.ts';
import { projection } from './projection.ts';
import { routes } from './routes.ts';

export const native = defineDialect<null>({ name: 'native', projection, routes });
