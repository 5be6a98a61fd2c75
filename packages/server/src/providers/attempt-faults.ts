/** Faults of an attempt that the vendor did not report. */
import { type AnswerLimit, answerTooLong } from '../core/ports/provider.ts';
import type { ApiFault } from './model-api.ts';

export const CANCELLED: ApiFault = {
  code: 'cancelled',
  message: 'The answer was cancelled.',
  retryable: false,
};
export const REDIRECTED: ApiFault = {
  code: 'provider_rejected',
  message: "The model's address redirects to another one, which is not followed: check the base URL.",
  retryable: false,
};
export const COMPRESSED: ApiFault = {
  code: 'provider_rejected',
  message: "The model's answer is compressed in a way that is not understood.",
  retryable: false,
};
export const BUG: ApiFault = {
  code: 'internal',
  message: "The model's answer could not be read.",
  retryable: false,
};
export const tooLong = (limit: AnswerLimit, max: number): ApiFault => ({
  ...answerTooLong(limit, max),
  retryable: false,
});
export const ENDLESS: ApiFault = {
  code: 'answer_too_long',
  message: "The model's answer was stopped: it goes on without saying anything.",
  retryable: false,
};
export const unavailable = (message: string): ApiFault => ({
  code: 'provider_unavailable',
  message,
  retryable: true,
});
