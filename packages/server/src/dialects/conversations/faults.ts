/** Faults as error codes of the socket and as HTTP statuses. */
import { Fault, type FaultCode } from '@parlance/protocol';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import { HTTP_STATUS } from '../kit/http-status.ts';
import { retryField, retryText } from '../kit/retry.ts';
import { errorBody } from './bodies.ts';
import type { Body, ErrorCode } from './contract.ts';

const FAULTS = {
  invalid: 'bad_request',
  empty: 'bad_request',
  too_large: 'bad_request',
  too_slow: 'bad_request',
  unauthenticated: 'forbidden',
  forbidden: 'forbidden',
  not_found: 'not_found',
  no_turn: 'not_found',
  no_approval: 'tool_execute_failed',
  tool_invalid: 'tool_request_failed',
  tool_failed: 'tool_execute_failed',
  busy: 'bad_request',
  nothing_to_compact: 'bad_request',
  cancelled: 'cancelled',
  too_many_steps: 'stream_error',
  provider_unavailable: 'stream_error',
  provider_limited: 'stream_error',
  provider_rejected: 'stream_error',
  context_too_long: 'stream_error',
  answer_too_long: 'stream_error',
  limited: 'bad_request',
  overloaded: 'stream_error',
  shutting_down: 'stream_error',
  storage_unavailable: 'stream_error',
  internal: 'stream_error',
} satisfies Record<FaultCode, ErrorCode>;

/** The `error` frame of a fault. */
export const faultBody = (fault: Fault, conversationId?: string): Body =>
  errorBody(FAULTS[fault.code], retryText(fault), { conversationId, ...retryField('retryAfter', fault) });

/** Replaces the messages of some faults with those of the contract. */
export async function withMessages(
  work: Promise<unknown>,
  messages: Partial<Record<FaultCode, string>>,
): Promise<void> {
  try {
    await work;
  } catch (thrown) {
    const text = thrown instanceof Fault ? messages[thrown.code] : undefined;
    if (!(thrown instanceof Fault) || text === undefined) throw thrown;
    throw new Fault(thrown.code, text, { cause: thrown });
  }
}

/** Input that does not match its schema is answered with 422. */
export const STATUSES: Record<FaultCode, ContentfulStatusCode> = {
  ...HTTP_STATUS,
  invalid: 422,
  empty: 422,
  no_turn: 404,
  provider_limited: 503,
};
