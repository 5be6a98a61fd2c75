/** Faults as the `error` frame of the contract. */
import { type Fault, type FaultCode, isObject, SessionId } from '@parlance/protocol';
import { retryText } from '../kit/retry.ts';
import type { Content, ErrorCode } from './bodies.ts';

export const CANCELLED = {
  cancelled: 'The turn was cancelled.',
  superseded: 'The turn was superseded by a newer message.',
  denied: 'The turn was ended by a denial.',
};

type ErrorFields = { message: string; code: ErrorCode; details?: string };

const malformed = (details: string): ErrorFields => ({
  message: `Invalid message: ${details}`,
  code: 'INVALID_MESSAGE',
  details,
});
const refused = (message: string): ErrorFields => ({ message, code: 'HANDLER_ERROR' });

const FAULTS = {
  invalid: malformed,
  empty: malformed,
  too_large: malformed,
  too_slow: refused,
  unauthenticated: refused,
  forbidden: refused,
  not_found: refused,
  no_turn: refused,
  no_approval: refused,
  tool_invalid: refused,
  tool_failed: refused,
  busy: refused,
  nothing_to_compact: refused,
  cancelled: refused,
  too_many_steps: refused,
  provider_unavailable: refused,
  provider_limited: refused,
  provider_rejected: refused,
  context_too_long: refused,
  answer_too_long: refused,
  limited: refused,
  overloaded: refused,
  shutting_down: refused,
  storage_unavailable: refused,
  internal: refused,
} satisfies Record<FaultCode, (message: string) => ErrorFields>;

/** The response to the sender of a frame that failed. */
export function refusal(frame: unknown, fault: Fault): Content {
  const answered = {
    ...FAULTS[fault.code](retryText(fault)),
    ...(fault.retryAfterMs === undefined ? {} : { retryAfter: fault.retryAfterMs }),
  };
  const { type, sessionId } = isObject(frame) ? frame : {};
  if (type === 'client_registration')
    return { type: 'error', ...answered, message: 'Registration failed', details: retryText(fault) };
  return { type: 'error', ...answered, sessionId: SessionId.safeParse(sessionId).data };
}
