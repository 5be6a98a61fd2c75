/**
 * The sets of the carrier as the registry uses them. Nothing is done while it is disconnected, and nothing is thrown: a
 * carrier that fails reports that it is disconnected.
 */
import type { Wire } from './wire.ts';

export type RegistryCarrierOptions = {
  readonly wire: Wire;
  /** before every key, so that clusters can share a carrier */
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

  /** Resolves with whether it has happened. */
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

  /** Resolves when what was asked for so far has happened: calls are carried out in order. */
  async settled(): Promise<void> {
    await this.#last;
  }

  /** Null if it cannot be read now. */
  async members(key: string): Promise<readonly string[] | null> {
    if (!this.connected) return null;
    const { wire, prefix } = this.options;
    return wire.members(prefix + key).catch(() => null);
  }
}

const reportedElsewhere = (): void => undefined;
