/** Failures as data: one closed set of codes, one error class. */
import { z } from 'zod';

export const FaultCode = z.enum([
  /** the message does not have the shape it must have */
  'invalid',
  /** the message is well formed but says nothing */
  'empty',
  /** larger than we take */
  'too_large',
  /** the body of a request did not arrive in time */
  'too_slow',
  /** no or a bad token */
  'unauthenticated',
  /** known, but not allowed */
  'forbidden',
  /** no such session, turn, approval or tool for this principal */
  'not_found',
  /** there is no turn to cancel */
  'no_turn',
  /** the approval was answered already, or none is waiting */
  'no_approval',
  /** a tool was asked for that does not exist, or with input that does not fit */
  'tool_invalid',
  /** a tool ran and failed */
  'tool_failed',
  /** not possible while a turn is running */
  'busy',
  /** there is nothing to compact */
  'nothing_to_compact',
  /** the turn was cancelled or superseded */
  'cancelled',
  /** the turn took more steps than it may */
  'too_many_steps',
  /** the model's address cannot be reached, or answered with a server error */
  'provider_unavailable',
  /** the vendor limits our rate or quota */
  'provider_limited',
  /** the vendor refused the key or the request */
  'provider_rejected',
  /** the prompt is longer than the model takes */
  'context_too_long',
  /** the model's answer is longer than the server takes */
  'answer_too_long',
  /** the caller has reached a limit of its own: too many messages, sockets or sessions */
  'limited',
  /** the server has more to do than it takes on */
  'overloaded',
  /** the server is draining */
  'shutting_down',
  /** nothing can be stored just now, or what was stored cannot be read */
  'storage_unavailable',
  /** a bug or a broken machine; the cause is in the log, not in the message */
  'internal',
]);
export type FaultCode = z.infer<typeof FaultCode>;

export const FaultData = z.object({
  code: FaultCode,
  message: z.string(),
  /** when it may be worth to try again */
  retryAfterMs: z.number().int().positive().optional(),
});
export type FaultData = z.infer<typeof FaultData>;

/** The only error we throw on purpose. `message` is one sentence that a client may be shown. */
export class Fault extends Error {
  override readonly name = 'Fault';
  /** when it may be worth to try again */
  readonly retryAfterMs: number | undefined;

  constructor(
    readonly code: FaultCode,
    message: string,
    options: ErrorOptions & { readonly retryAfterMs?: number | undefined } = {},
  ) {
    super(message, options);
    this.retryAfterMs = options.retryAfterMs;
  }

  data(): FaultData {
    const { code, message, retryAfterMs } = this;
    return retryAfterMs === undefined ? { code, message } : { code, message, retryAfterMs };
  }
}

/** Turns anything thrown into a fault. What is not a `Fault` is a bug: it keeps its cause and shows none of it. */
export function asFault(thrown: unknown): Fault {
  return thrown instanceof Fault ? thrown : new Fault('internal', 'Something went wrong.', { cause: thrown });
}
