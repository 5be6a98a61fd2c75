/** Failures as data: one closed set of codes, one error class. */
import { z } from 'zod';

export const FaultCode = z.enum([
  /** malformed message */
  'invalid',
  /** well-formed but empty message */
  'empty',
  /** larger than the limit */
  'too_large',
  /** the body of a request did not arrive in time */
  'too_slow',
  /** missing or invalid token */
  'unauthenticated',
  /** authenticated, but not allowed */
  'forbidden',
  /** no such session, turn, approval or tool for this principal */
  'not_found',
  /** there is no turn to cancel */
  'no_turn',
  /** the approval or question was already answered, or none is pending */
  'no_approval',
  /** unknown tool or invalid tool input */
  'tool_invalid',
  /** a tool ran and failed */
  'tool_failed',
  /** not possible while a turn is running */
  'busy',
  /** there is nothing to compact */
  'nothing_to_compact',
  /** the turn was cancelled or superseded */
  'cancelled',
  /** the turn exceeded its maximum of steps; only in older logs, see `paused` of `turn.ended` */
  'too_many_steps',
  /** the model API is unreachable or returned a server error */
  'provider_unavailable',
  /** the vendor's rate limit or quota */
  'provider_limited',
  /** the vendor refused the key or the request */
  'provider_rejected',
  /** the prompt exceeds the model's context */
  'context_too_long',
  /** the model's answer exceeds the server's limit */
  'answer_too_long',
  /** a limit on money or tokens is used up; a retry does not help until it is reset or raised */
  'budget_exhausted',
  /** a limit of the caller: too many messages, sockets or sessions */
  'limited',
  /** the server is overloaded */
  'overloaded',
  /** the server is draining */
  'shutting_down',
  /** the store cannot be written or read */
  'storage_unavailable',
  /** a bug or a system error; the cause is in the log, not in the message */
  'internal',
]);
export type FaultCode = z.infer<typeof FaultCode>;

export const FaultData = z.object({
  code: FaultCode,
  message: z.string(),
  /** delay before a retry */
  retryAfterMs: z.number().int().positive().optional(),
  /** HTTP status with which the model API refused the request */
  vendorStatus: z.number().int().optional(),
});
export type FaultData = z.infer<typeof FaultData>;

/** The only error thrown on purpose. `message` is one sentence for clients. */
export class Fault extends Error {
  override readonly name = 'Fault';
  /** delay before a retry */
  readonly retryAfterMs: number | undefined;
  /** HTTP status with which the model API refused the request */
  readonly vendorStatus: number | undefined;

  constructor(
    readonly code: FaultCode,
    message: string,
    options: ErrorOptions & Partial<Omit<FaultData, 'code' | 'message'>> = {},
  ) {
    super(message, options);
    this.retryAfterMs = options.retryAfterMs;
    this.vendorStatus = options.vendorStatus;
  }

  static from({ code, message, ...more }: FaultData): Fault {
    return new Fault(code, message, more);
  }

  data(): FaultData {
    const { code, message, retryAfterMs, vendorStatus } = this;
    return {
      code,
      message,
      ...(retryAfterMs !== undefined && { retryAfterMs }),
      ...(vendorStatus !== undefined && { vendorStatus }),
    };
  }
}

/** Converts anything thrown into a fault. Anything but a `Fault` is a bug: its cause is kept but not shown. */
export function asFault(thrown: unknown): Fault {
  return thrown instanceof Fault ? thrown : new Fault('internal', 'Something went wrong.', { cause: thrown });
}
