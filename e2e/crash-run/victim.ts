/** The server that is killed and restarted on the same folder. */
import { within } from '../../packages/server/src/testing/until.ts';
import { type ServerProcess, type StartingProcess, spawnProcess } from '../server-process.ts';

export type Life = { readonly number: number; readonly server: ServerProcess };

/** The servers of a run, as its clients use them. */
export interface ServerLives {
  /** Resolves with a listening server. */
  up(): Promise<Life>;
  /** Resolves with true if that process has ended, with false on timeout. */
  over(number: number, patienceMs: number): Promise<boolean>;
}

export class Victim implements ServerLives {
  kills = 0;
  /** from the spawn until the server listens, in milliseconds */
  readonly starts: number[] = [];
  #number = 0;
  #process: StartingProcess | null = null;
  #spawnedAt = 0;
  #dead = Promise.withResolvers<void>();
  #listening = Promise.withResolvers<Life>();
  #up = false;
  #acknowledged = Promise.withResolvers<void>();

  constructor(
    private readonly folder: string,
    private readonly settings: Record<string, string>,
  ) {}

  /** Does not wait until the server listens: it may be killed before. */
  start(): void {
    this.#number++;
    this.#dead = Promise.withResolvers();
    this.#acknowledged = Promise.withResolvers();
    this.#spawnedAt = performance.now();
    const starting = spawnProcess(this.folder, this.settings);
    const number = this.#number;
    this.#process = starting;
    starting.listening.then(
      (server) => {
        if (this.#process !== starting) return;
        this.#up = true;
        this.starts.push(performance.now() - this.#spawnedAt);
        this.#listening.resolve({ number, server });
      },
      (thrown) => {
        // Killed during its start: the next one will listen. A server that exits by itself is not restarted.
        if (this.#process === starting) this.#listening.reject(thrown);
      },
    );
    this.#listening.promise.catch(() => undefined);
  }

  async kill(): Promise<void> {
    const killed = this.#process;
    this.#process = null;
    // Waiters of a server that never listened get the next one.
    if (this.#up) this.#listening = Promise.withResolvers();
    this.#up = false;
    this.kills++;
    await killed?.kill();
    this.#dead.resolve();
  }

  /** Ends the last process, which does not count as a kill. */
  async end(): Promise<void> {
    await this.#process?.kill();
    this.#process = null;
  }

  up(): Promise<Life> {
    return this.#listening.promise;
  }

  async over(number: number, patienceMs: number): Promise<boolean> {
    if (number !== this.#number || this.#process === null) return true;
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const timer = setTimeout(() => resolve(false), patienceMs);
    this.#dead.promise.then(() => resolve(true));
    return promise.finally(() => clearTimeout(timer));
  }

  /** Resolves with true when this process has acknowledged a message, with false if it has not for too long. */
  recovered(): Promise<boolean> {
    const acknowledged = this.#listening.promise.then(() => this.#acknowledged.promise);
    return within(acknowledged, 'no acknowledgement').then(
      () => true,
      () => false,
    );
  }

  /** A message was acknowledged. */
  acknowledged(): void {
    if (this.#process !== null) this.#acknowledged.resolve();
  }
}
