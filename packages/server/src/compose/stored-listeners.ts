/** Extra listeners that admins add and remove while the server runs. */
import type { Door } from '../config/config.ts';
import type { Log } from '../core/api/index.ts';
import type { FailedPort } from './state.ts';

export type OpenListener = {
  /** Accepts nothing new and closes its sockets. Resolves when its requests have ended, or a limit has passed. */
  drain(): Promise<void>;
  /** Closes all connections immediately. */
  close(): Promise<void>;
};

export type StoredListenerParts = {
  /** Throws if the port cannot be used. */
  readonly open: (door: Door) => OpenListener;
  /** those that could not be opened, for the administration */
  readonly failed: FailedPort[];
  readonly log: Log;
};

export const isIn = (doors: readonly Door[], { dialect, port }: Door): boolean =>
  doors.some((door) => door.dialect === dialect && door.port === port);

export class StoredListeners {
  #opened: readonly { readonly door: Door; readonly listener: OpenListener }[] = [];
  readonly #draining = new Set<OpenListener>();

  constructor(private readonly parts: StoredListenerParts) {}

  /** Drains those that are no longer wanted and opens new ones. The others stay open. */
  replace(configured: readonly Door[]): void {
    const { open, failed, log } = this.parts;
    const gone = this.#opened.filter(({ door }) => !isIn(configured, door));
    const kept = this.#opened.filter((opened) => !gone.includes(opened));
    for (const { door, listener } of gone) this.#drain(door, listener);
    failed.length = 0;
    const opened = [...kept];
    for (const door of configured) {
      if (opened.some((one) => isIn([one.door], door))) continue;
      try {
        opened.push({ door, listener: open(door) });
        log.info(door, 'listener opened');
      } catch (err) {
        failed.push({ ...door, problem: problemOf(err) });
        log.error({ ...door, err }, 'failed to open listener');
      }
    }
    this.#opened = opened;
  }

  #drain(door: Door, listener: OpenListener): void {
    const { log } = this.parts;
    this.#draining.add(listener);
    listener
      .drain()
      .then(() => log.info(door, 'listener closed'))
      .catch((err) => log.error({ ...door, err }, 'failed to close listener'))
      .finally(() => this.#draining.delete(listener));
  }

  /** Ends drains in progress, too. */
  async close(): Promise<void> {
    const open = this.#opened.map(({ listener }) => listener);
    await Promise.all([...open, ...this.#draining].map((listener) => listener.close()));
  }
}

/** The messages of `listen` name a flag; here the port is changed in the console. */
function problemOf(thrown: unknown): string {
  const code = thrown instanceof Error ? (thrown.cause ?? thrown) : thrown;
  if (code instanceof Error && 'code' in code) {
    if (code.code === 'EADDRINUSE') return 'The port is in use.';
    if (code.code === 'EACCES') return 'The server may not use this port.';
  }
  return 'The listener could not be opened.';
}
