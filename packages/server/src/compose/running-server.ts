/** A server that serves, and how it stops. */
import type { Config } from '../config/config.ts';
import type { Backend } from './engine.ts';
import type { Front } from './front.ts';
import { resumeTurns } from './resume.ts';

export type RunningServer = {
  readonly host: string;
  readonly port: number;
  readonly doors: readonly { readonly dialect: string; readonly port: number }[];
  /** the password of the user `admin`, if this start created it */
  readonly adminPassword: string | null;
  /** how many turns are running */
  readonly running: () => number;
  /** Drains: no new turns, a grace period for running ones, clients are notified, everything is closed. */
  stop(): Promise<void>;
};

export type ServerParts = {
  readonly backend: Backend;
  readonly front: Front;
  readonly adminPassword: string | null;
};

/** From now on the server is ready and unfinished turns go on. `opened` is closed by `stop`. */
export function runServer(config: Config, parts: ServerParts, opened: AsyncDisposableStack): RunningServer {
  const { engine, log } = parts.backend;
  const { state, sockets, readiness } = parts.front;
  readiness.serving();
  const resuming = resumeTurns(engine, log);
  const [{ port } = { port: config.port }, ...doors] = [...state.listening];
  async function stop(): Promise<void> {
    readiness.draining();
    await engine.drain(config.grace);
    await resuming;
    sockets.drain();
    await opened.disposeAsync();
  }
  return {
    host: config.host,
    port,
    doors,
    adminPassword: parts.adminPassword,
    running: () => engine.running,
    stop,
  };
}
