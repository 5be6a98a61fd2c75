/** A running server and its shutdown. */
import { Fault } from '@parlance/protocol';
import type { Changeable, Config } from '../config/config.ts';
import { localFetch } from './embedded.ts';
import type { Backend } from './engine.ts';
import type { Gateway } from './gateway.ts';
import { resumeTurns } from './resume.ts';

const SHUTTING_DOWN = new Fault('shutting_down', 'The server is shutting down.');

/** Time for the last events of streams to be written, in milliseconds. */
const LAST_EVENT_MS = 1_000;

export type RunningServer = {
  readonly host: string;
  readonly port: number;
  readonly listeners: readonly { readonly dialect: string; readonly port: number }[];
  /** password of the user `admin`, if this start created it */
  readonly adminPassword: string | null;
  /** the default model, also if it was set up in the console */
  readonly model: () => Changeable['model'];
  /** number of running turns */
  readonly running: () => number;
  /** Handles a request of this user to a path such as `/v1/sessions`, from a socket in the data folder. */
  fetch(path: string, init?: RequestInit): Promise<Response>;
  /**
   * Drains: starts no new turns, waits for running ones for a grace period, notifies clients, closes
   * everything.
   */
  stop(): Promise<void>;
};

export type ServerParts = {
  readonly backend: Backend;
  readonly gateway: Gateway;
  readonly adminPassword: string | null;
};

/** Marks the server as ready and resumes unfinished turns. `stop` closes `opened`. */
export function runServer(config: Config, parts: ServerParts, opened: AsyncDisposableStack): RunningServer {
  const { engine, log, setup } = parts.backend;
  const { state, sockets, readiness } = parts.gateway;
  readiness.serving();
  const resuming = resumeTurns(engine, log);
  const [{ port } = { port: config.port }, ...listeners] = [...state.listening];
  async function stop(): Promise<void> {
    readiness.draining();
    await engine.drain(config.grace);
    await resuming;
    sockets.drain();
    await state.streams.close(SHUTTING_DOWN, { withinMs: LAST_EVENT_MS });
    await opened.disposeAsync();
  }
  return {
    host: config.host,
    port,
    listeners,
    adminPassword: parts.adminPassword,
    model: () => setup.live.current.model,
    running: () => engine.running,
    fetch: localFetch(parts.gateway.routes),
    stop,
  };
}
