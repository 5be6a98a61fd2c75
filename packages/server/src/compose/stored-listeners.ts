/** Extra listeners that admins add and remove while the server runs. */
import type { Door } from '../config/config.ts';
import type { Log } from '../core/api/index.ts';
import type { FailedPort } from './state.ts';

export type OpenListener = { close(): Promise<void> };

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

  constructor(private readonly parts: StoredListenerParts) {}

  /** Closes those that are no longer wanted, with their connections, and opens new ones. The others stay open. */
  replace(wanted: readonly Door[]): void {
    const { open, failed, log } = this.parts;
    const gone = this.#opened.filter(({ door }) => !isIn(wanted, door));
    const kept = this.#opened.filter((opened) => !gone.includes(opened));
    for (const { door, listener } of gone) {
      listener.close().catch((err) => log.error({ ...door, err }, 'failed to close listener'));
    }
    failed.length = 0;
    const opened = [...kept];
    for (const door of wanted) {
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

  async close(): Promise<void> {
    await Promise.all(this.#opened.map(({ listener }) => listener.close()));
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
