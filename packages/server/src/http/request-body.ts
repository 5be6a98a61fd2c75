/** Reads HTTP request bodies with limits on size, time and total buffered bytes. */
import { Fault } from '@parlance/protocol';
import { type Meter, NO_METER } from '../core/ports/telemetry.ts';
import type { ByteBudgets } from './byte-budget.ts';
import type { BodySender, ReadBody } from './read-body.ts';

/** The minimum rate is averaged over this time: an honest upload may stall briefly. */
const RATE_WINDOW_MS = 30_000;

const RETRY_MS = 5_000;

export type BodyLimits = {
  readonly maxBody: number;
  readonly maxLoginBody: number;
  /** in milliseconds */
  readonly bodyWithin: number;
  /** in milliseconds, for anonymous senders */
  readonly identifyWithin: number;
  /** in bytes per second; 0 for no minimum */
  readonly bodyRate: number;
  readonly rateWindowMs?: number;
};

export type BodyDeps = {
  readonly budgets: ByteBudgets;
  readonly addressOf: (request: Request) => string;
  readonly meter?: Meter;
};

export function bodyReader(limits: BodyLimits, deps: BodyDeps): ReadBody {
  const { budgets, addressOf, meter = NO_METER } = deps;
  const allowed = (sender: BodySender) =>
    sender === 'anonymous'
      ? {
          limit: 'maxLoginBody',
          bytes: Math.min(limits.maxLoginBody, limits.maxBody),
          within: Math.min(limits.identifyWithin, limits.bodyWithin),
        }
      : { limit: 'maxBody', bytes: limits.maxBody, within: limits.bodyWithin };

  function refused(limit: string, fault: Fault): Fault {
    meter.add('refusals', limit);
    return fault;
  }

  return async (request, sender, max = Number.POSITIVE_INFINITY) => {
    const { limit, bytes, within } = allowed(sender);
    const largest = Math.min(bytes, max);
    const tooLarge = () =>
      refused(limit, new Fault('too_large', `The body is larger than ${largest} bytes.`));
    if (Number(request.headers.get('content-length') ?? 0) > largest) throw tooLarge();
    if (request.body === null) return new Uint8Array();

    const budget = budgets[sender];
    const address = addressOf(request);
    const reader = request.body.getReader();
    const pace = new Pace({ ...limits, within }, () => void reader.cancel().catch(() => undefined));
    const chunks: Uint8Array[] = [];
    let received = 0;
    let held = 0;
    try {
      for (;;) {
        const { done, value } = await reader.read();
        if (pace.missed !== null)
          throw refused(pace.missed, new Fault('too_slow', 'The body did not arrive in time.'));
        if (done) return chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks, received);
        received += value.byteLength;
        pace.received += value.byteLength;
        if (received > largest) throw tooLarge();
        if (!budget.take(value.byteLength, address)) throw refused(budgetName[sender], overloaded());
        held += value.byteLength;
        chunks.push(value);
      }
    } catch (thrown) {
      // Cancelling the reader discards the rest as it arrives.
      void reader.cancel().catch(() => undefined);
      if (thrown instanceof Fault) throw thrown;
      throw new Fault('invalid', 'The body is incomplete.', { cause: thrown });
    } finally {
      pace.stop();
      budget.giveBack(held, address);
    }
  };
}

const budgetName = { anonymous: 'anonymousBytes', identified: 'bodyBytes' } as const satisfies Record<
  BodySender,
  string
>;

const overloaded = (): Fault =>
  new Fault('overloaded', 'The server is receiving too much at once.', { retryAfterMs: RETRY_MS });

/** Calls `tooSlow` once if the deadline passes, or if the rate within a window is below the minimum. */
class Pace {
  received = 0;
  missed: 'bodyWithin' | 'bodyRate' | null = null;
  readonly #deadline: Timer;
  readonly #windows: Timer | undefined;

  constructor(
    { within, bodyRate, rateWindowMs = RATE_WINDOW_MS }: BodyLimits & { readonly within: number },
    private readonly tooSlow: () => void,
  ) {
    this.#deadline = setTimeout(() => this.#miss('bodyWithin'), within);
    if (bodyRate === 0) return;
    const min = (bodyRate * rateWindowMs) / 1_000;
    this.#windows = setInterval(() => {
      if (this.received < min) this.#miss('bodyRate');
      this.received = 0;
    }, rateWindowMs);
  }

  stop(): void {
    clearTimeout(this.#deadline);
    clearInterval(this.#windows);
  }

  #miss(limit: 'bodyWithin' | 'bodyRate'): void {
    this.stop();
    this.missed = limit;
    this.tooSlow();
  }
}
