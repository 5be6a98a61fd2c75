/** Faults as JSON-RPC errors. */
import type { Fault, FaultCode, JsonObject } from '@parlance/protocol';
import { retryText } from '../shared/retry.ts';
import { CODES, failure, type Id } from './json-rpc.ts';

const FAULTS = {
  invalid: CODES.invalidParams,
  empty: CODES.invalidParams,
  too_large: CODES.invalidParams,
  tool_invalid: CODES.invalidParams,
  unauthenticated: CODES.authentication,
  not_found: CODES.notFound,
  too_slow: CODES.internal,
  forbidden: CODES.internal,
  no_turn: CODES.internal,
  no_approval: CODES.internal,
  tool_failed: CODES.internal,
  busy: CODES.internal,
  nothing_to_compact: CODES.internal,
  cancelled: CODES.internal,
  too_many_steps: CODES.internal,
  provider_unavailable: CODES.internal,
  provider_limited: CODES.internal,
  provider_rejected: CODES.internal,
  context_too_long: CODES.internal,
  answer_too_long: CODES.internal,
  limited: CODES.internal,
  overloaded: CODES.internal,
  shutting_down: CODES.internal,
  storage_unavailable: CODES.internal,
  internal: CODES.internal,
} satisfies Record<FaultCode, number>;

export const faultFrame = (id: Id, fault: Fault): JsonObject =>
  failure(id, FAULTS[fault.code], retryText(fault));
