/**
 * What the server provides to a dialect. A dialect declares the part it uses: `Pick<DialectContext, 'engine' |
 * 'log'>`.
 */
import type { Engine, Figures, Log, PreferenceStore } from '../../core/api/index.ts';
import type { Authenticator } from '../../http/authenticator.ts';
import type { OpenStream } from '../../http/connection.ts';
import type { ReadBody } from '../../http/read-body.ts';
import type { About, Administration } from './about.ts';
import type { ChannelBus } from './channel-bus.ts';
import type { ConnectionRegistry } from './connection-registry.ts';

export type DialectContext<Settings = unknown> = {
  readonly engine: Engine;
  readonly authenticator: Authenticator;
  readonly log: Log;
  /** the part of the configuration that the dialect's `settings` schema picks */
  readonly settings: Settings;
  /** public information about the server */
  readonly about: About;
  /** current counters and gauges */
  readonly figures: () => Promise<Readonly<Record<string, Figures>>>;
  /** why the server cannot serve requests at the moment; null if it can */
  readonly problem: () => Promise<{ readonly reason: string; readonly detail: string } | null>;
  /** for admins */
  readonly administration: Administration;
  readonly readBody: ReadBody;
  /** the address of the client */
  readonly addressOf: (request: Request) => string;
  /** scheme, host and port by which the client reaches the server */
  readonly originOf: (request: Request) => string;
  readonly now: () => number;
  readonly newId: () => string;
  readonly connections: ConnectionRegistry;
  /** answers with server-sent events */
  readonly stream: OpenStream;
  /** publishes to the subscribers of named channels */
  readonly channels: ChannelBus;
  /** preferences of users */
  readonly preferences: PreferenceStore;
  /** Counts a request. Throws `limited` if its caller sends too many. */
  readonly countRequest: (request: Request) => void;
  /** counts a request that was refused because of that limit */
  readonly refused: (limit: string) => void;
};
