/** Models that failed recently, for all sessions of this process. */
import type { FaultCode, FaultData } from '@parlance/protocol';
import { LruMap } from '../../lib/lru-map.ts';
import { type Candidate, coolDownMs } from '../session/fallback.ts';

/** Callers may name any model. */
const MAX_MODELS = 1_000;

type CoolDown = {
  readonly until: number;
  readonly failures: number;
  readonly code: FaultCode;
  /** when the cool-down is over, one step asks the model; the others wait for its outcome */
  probing: boolean;
};

const keyOf = ({ name, model }: Candidate): string => `${name}:${model}`;

export class CoolDowns {
  readonly #models = new LruMap<CoolDown>(MAX_MODELS);

  constructor(
    private readonly now: () => number,
    private readonly firstMs: number,
  ) {}

  /** When the model may be asked again; undefined: now. */
  until(candidate: Candidate): number | undefined {
    const found = this.#models.get(keyOf(candidate));
    if (!found) return undefined;
    const now = this.now();
    if (found.probing) return Math.max(found.until, now + 1);
    return found.until > now ? found.until : undefined;
  }

  /** Why it cools down. Without the vendor's words: those belong to another session. */
  reason(candidate: Candidate): FaultCode {
    return this.#models.get(keyOf(candidate))?.code ?? 'provider_unavailable';
  }

  /** Asks the model. Dispose it after its answer. `isProbe`: it has failed before, and others do not ask it meanwhile. */
  ask(candidate: Candidate): Disposable & { readonly isProbe: boolean } {
    const key = keyOf(candidate);
    const found = this.#models.get(key);
    if (!found || found.probing) return { isProbe: false, [Symbol.dispose]: () => undefined };
    found.probing = true;
    return {
      isProbe: true,
      [Symbol.dispose]: () => {
        found.probing = false;
      },
    };
  }

  answered(candidate: Candidate): void {
    this.#models.delete(keyOf(candidate));
  }

  /** Returns until when it cools down. */
  failed(candidate: Candidate, { code, retryAfterMs }: FaultData): number {
    const key = keyOf(candidate);
    const before = this.#models.get(key);
    // Failures of steps that ran at the same time are one.
    const isSame = before !== undefined && !before.probing && before.until > this.now();
    const failures = Math.min((before?.failures ?? 0) + (isSame ? 0 : 1), 30);
    const until = this.now() + coolDownMs(this.firstMs, failures, retryAfterMs);
    this.#models.set(key, {
      until: Math.max(until, before?.until ?? 0),
      failures,
      code,
      probing: false,
    });
    return until;
  }
}
