/** The core as one object, the only entry point for dialects, the console and scripts. */
import type { Transport } from '../ports/transport.ts';
import { type Commands, commands } from './commands.ts';
import { assemble, type EngineParts } from './engine-internals.ts';
import { type Lifecycle, lifecycle } from './lifecycle.ts';
import { type Queries, queries } from './queries.ts';
import { type Search, searching } from './search.ts';
import { type Sharing, sharing } from './shares.ts';
import { type Subscriptions, subscriptions } from './subscriptions.ts';
import { type Turns, turnQueries } from './turns.ts';

export type Engine = Commands &
  Subscriptions &
  Queries &
  Search &
  Sharing &
  Turns &
  Lifecycle &
  Pick<EngineParts, 'catalog' | 'maxSteps' | 'root'> & {
    readonly clients: NonNullable<EngineParts['clients']>;
    /** transport to the other nodes; null on a single node */
    readonly transport: Transport | null;
    /** number of turns running on this node */
    readonly running: number;
    /** whether `drain` has been called */
    readonly draining: boolean;
  };

export function createEngine(parts: EngineParts): Engine {
  const internals = assemble(parts);
  const { catalog, maxSteps, root } = parts;
  const reading = queries(internals);
  return {
    ...reading,
    ...commands(internals, reading),
    ...subscriptions(internals),
    ...searching(internals),
    ...sharing(internals),
    ...turnQueries(internals),
    ...lifecycle(internals),
    catalog,
    maxSteps,
    root,
    clients: internals.deps.clients,
    transport: parts.cluster?.transport ?? null,
    get running() {
      return internals.queue.running;
    },
    get draining() {
      return internals.queue.draining;
    },
  };
}
