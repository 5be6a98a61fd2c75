import { append } from './append.ts';
import { bus } from './bus.ts';
import { cluster } from './cluster.ts';
import { coldStart } from './cold-start.ts';
import { compaction } from './compaction.ts';
import { consoleTable } from './console.ts';
import { dom } from './dom.ts';
import { engineFlags } from './engine-flags.ts';
import { fanOut } from './fan-out.ts';
import { gateway } from './gateway.ts';
import { history } from './history.ts';
import { httpClients } from './http-clients.ts';
import { idleSockets } from './idle-sockets.ts';
import { load } from './load.ts';
import { manySessions } from './many-sessions.ts';
import { relay } from './relay.ts';
import type { Table } from './table.ts';

/** In order of measurement and display. */
export const TABLES: readonly Table[] = [
  relay,
  gateway,
  httpClients,
  engineFlags,
  fanOut,
  load,
  append,
  bus,
  cluster,
  history,
  manySessions,
  coldStart,
  idleSockets,
  compaction,
  dom,
  consoleTable,
];
