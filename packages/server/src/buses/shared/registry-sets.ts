/**
 * The sets of the carrier, for the registry, with signed members. Does nothing while disconnected and never throws: a failing
 * carrier reports that it is disconnected.
 */
import type { Carrier } from './carrier.ts';
import { SIGNATURE_LENGTH, type Signatures } from './signatures.ts';

export type RegistrySetsOptions = {
  readonly carrier: Carrier;
  /** prefix of all keys, so that clusters can share a carrier */
  readonly prefix: string;
  readonly expiryMs: number;
  readonly now: () => number;
  readonly signatures: Signatures;
  /** Called for each member without a valid signature. */
  readonly onForged: () => void;
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
    this.#last = carrier.renew(prefix + key, [this.#signed(key, member)], expiryMs).catch(reportedElsewhere);
  }

  /** Resolves with whether the member was removed. */
  remove(key: string, member: string): Promise<boolean> {
    if (!this.connected) return Promise.resolve(false);
    const { carrier, prefix } = this.options;
    const removed = carrier.remove(prefix + key, [this.#signed(key, member)]).then(
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
    const { carrier, prefix, onForged } = this.options;
    const signed = await carrier.members(prefix + key).catch(() => null);
    return (
      signed?.flatMap((text) => {
        const member = text.slice(SIGNATURE_LENGTH);
        if (this.#signed(key, member) === text) return [member];
        onForged();
        return [];
      }) ?? null
    );
  }

  #signed(key: string, member: string): string {
    const { prefix, signatures } = this.options;
    return signatures.of(`set ${prefix}${key}`, member) + member;
  }
}

const reportedElsewhere = (): void => undefined;
