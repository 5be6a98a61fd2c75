/**
 * The sets of the carrier, for the registry. Does nothing while disconnected and never throws: a failing
 * carrier reports that it is disconnected.
 */
import type { Wire } from './wire.ts';

export type RegistryCarrierOptions = {
  readonly wire: Wire;
  /** prefix of all keys, so that clusters can share a carrier */
  readonly prefix: string;
  readonly expiryMs: number;
  readonly now: () => number;
};

export class RegistryCarrier {
  connected = false;
  #last: Promise<unknown> = Promise.resolve();

  constructor(private readonly options: RegistryCarrierOptions) {}

  now(): number {
    return this.options.now();
  }

  renew(key: string, member: string): void {
    if (!this.connected) return;
    const { wire, prefix, expiryMs } = this.options;
    this.#last = wire.renew(prefix + key, [member], expiryMs).catch(reportedElsewhere);
  }

  /** Resolves with whether the member was removed. */
  remove(key: string, member: string): Promise<boolean> {
    if (!this.connected) return Promise.resolve(false);
    const { wire, prefix } = this.options;
    const removed = wire.remove(prefix + key, [member]).then(
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
    const { wire, prefix } = this.options;
    return wire.members(prefix + key).catch(() => null);
  }
}

const reportedElsewhere = (): void => undefined;
