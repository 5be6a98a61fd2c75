/**
 * The sets of the carrier, for the registry. Does nothing while disconnected and never throws: a failing
 * carrier reports that it is disconnected.
 */
import type { Carrier } from './carrier.ts';

export type RegistrySetsOptions = {
  readonly carrier: Carrier;
  /** prefix of all keys, so that clusters can share a carrier */
  readonly prefix: string;
  readonly expiryMs: number;
  readonly now: () => number;
};

export class RegistrySets {
  connected = false;
  #last: Promise<unknown> = Promise.resolve();

  constructor(private readonly options: RegistrySetsOptions) {}

  now(): number {
    return this.options.now();
  }

  renew(key: string, member: string): void {
    if (!this.connected) return;
    const { carrier, prefix, expiryMs } = this.options;
    this.#last = carrier.renew(prefix + key, [member], expiryMs).catch(reportedElsewhere);
  }

  /** Resolves with whether the member was removed. */
  remove(key: string, member: string): Promise<boolean> {
    if (!this.connected) return Promise.resolve(false);
    const { carrier, prefix } = this.options;
    const removed = carrier.remove(prefix + key, [member]).then(
      () => true,
      () => false,
    );
    this.#last = removed;
    return removed;
  }

  /** Resolves when all earlier calls are done; calls are executed in order. */
  async settled(): Promise<void> {
    await this.#last;
  }

  /** Null if the set cannot be read now. */
  async members(key: string): Promise<readonly string[] | null> {
    if (!this.connected) return null;
    const { carrier, prefix } = this.options;
    return carrier.members(prefix + key).catch(() => null);
  }
}

const reportedElsewhere = (): void => undefined;
