/** Faults of an attempt that the vendor did not report. */
import { type AnswerLimit, answerTooLong } from '../core/ports/answer-limits.ts';
import type { WireFault } from './wire.ts';

export const CANCELLED: WireFault = {
  code: 'cancelled',
  message: 'The answer was cancelled.',
  retryable: false,
};
export const REDIRECTED: WireFault = {
  code: 'provider_rejected',
  message: "The model's address redirects to another one, which is not followed: check the base URL.",
  retryable: false,
};
export const COMPRESSED: WireFault = {
  code: 'provider_rejected',
  message: "The model's answer is compressed in a way that is not understood.",
  retryable: false,
};
export const BUG: WireFault = {
  code: 'internal',
  message: "The model's answer could not be read.",
  retryable: false,
};
export const tooLong = (limit: AnswerLimit, max: number): WireFault => ({
  ...answerTooLong(limit, max),
  retryable: false,
});
export const ENDLESS: WireFault = {
  code: 'answer_too_long',
  message: "The model's answer was stopped: it goes on without saying anything.",
  retryable: false,
};
export const unavailable = (message: string): WireFault => ({
  code: 'provider_unavailable',
  message,
  retryable: true,
});
