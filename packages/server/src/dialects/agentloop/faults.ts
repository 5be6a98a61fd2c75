/** Faults as the `error` frame of the contract. */
import type { Fault, FaultCode } from '@parlance/protocol';
import { HTTP_STATUS } from '../kit/http-status.ts';
import { retryField, retryText } from '../kit/retry.ts';
import type { ClientFrame } from './schemas.ts';

/** `retryAfter` is in seconds. */
export type Details = { error: string; code: number; retryAfter?: number } | null;

export const FAILED: Record<ClientFrame['type'], string> = {
  user_input: 'Failed to process user input',
  approval_response: 'Failed to process approval response',
  get_context_info: 'Failed to get context info',
  manual_compact: 'Failed to compact context',
};

/** The value of `details.code`: the HTTP status of the same failure. */
export const FAULTS: Record<FaultCode, number> = HTTP_STATUS;

export const detailsOf = (fault: Fault): Details => ({
  error: retryText(fault),
  code: FAULTS[fault.code],
  ...retryField('retryAfter', fault),
});

export function refusal(type: ClientFrame['type'], fault: Fault): [string, Details] {
  return [fault.code === 'no_approval' ? 'No pending approval request' : FAILED[type], detailsOf(fault)];
}
