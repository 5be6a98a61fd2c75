/** Values that become known during startup, for parts created before. */
import type { ServedDialect } from '../dialects/kit/routes.ts';
import type { OpenStreams } from '../http/open-streams.ts';
import type { RefusedOrigins } from '../http/refused-origins.ts';

export type ListeningPort = {
  readonly dialect: string;
  readonly port: number;
  /** sockets are counted by this number */
  readonly number: number;
};

/** A stored listener that could not be opened. */
export type FailedPort = { readonly dialect: string; readonly port: number; readonly problem: string };

export type ServerState = {
  readonly served: ServedDialect[];
  /** the default listener first; empty until all are listening */
  readonly listening: ListeningPort[];
  readonly failed: FailedPort[];
  readonly refusedOrigins: RefusedOrigins;
  readonly streams: OpenStreams;
};
