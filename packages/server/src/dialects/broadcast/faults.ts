/** Faults as the `error` frame of the contract. */
import type { Fault, FaultCode } from '@parlance/protocol';
import { retryField, retryText } from '../kit/retry.ts';
import type { Body } from './schemas.ts';

export const CANCELLED = {
  cancelled: 'The turn was cancelled.',
  superseded: 'The turn was superseded by a newer message.',
  denied: 'The turn was ended by a denial.',
};

const asIs = (message: string): string => message;
const serverError = (message: string): string => `Server error: ${message}`;

export const FAULTS = {
  invalid: serverError,
  too_large: serverError,
  too_slow: serverError,
  internal: serverError,
  empty: () => 'Empty message received',
  unauthenticated: asIs,
  forbidden: asIs,
  not_found: asIs,
  no_turn: asIs,
  no_approval: asIs,
  tool_invalid: asIs,
  tool_failed: asIs,
  busy: asIs,
  nothing_to_compact: asIs,
  cancelled: asIs,
  too_many_steps: asIs,
  provider_unavailable: asIs,
  provider_limited: asIs,
  provider_rejected: asIs,
  context_too_long: asIs,
  answer_too_long: asIs,
  limited: asIs,
  overloaded: asIs,
  shutting_down: asIs,
  storage_unavailable: asIs,
} satisfies Record<FaultCode, (message: string) => string>;

export const error = (text: string): Body => ({ type: 'error', error: text });

export const faultFrame = (fault: Fault): Body => ({
  ...error(FAULTS[fault.code](retryText(fault))),
  ...retryField('retry_after', fault),
});
