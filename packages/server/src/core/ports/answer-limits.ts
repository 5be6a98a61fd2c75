/**
 * Limits on the length of a model's answer. If one is exceeded, the answer fails and its stream is closed.
 */
import type { FaultData } from '@parlance/protocol';

export type AnswerLimits = {
  /** characters of text and reasoning */
  readonly answerCharacters: number;
  /** characters of the arguments of all calls, and of sealed vendor data */
  readonly argumentCharacters: number;
  readonly answerCalls: number;
};

export type AnswerLimit = keyof AnswerLimits;

const UNITS: Record<AnswerLimit, string> = {
  answerCharacters: 'characters of text and reasoning',
  argumentCharacters: 'characters of arguments',
  answerCalls: 'calls',
};

/** The message names the limit by its setting. */
export const answerTooLong = (limit: AnswerLimit, max: number): FaultData => ({
  code: 'answer_too_long',
  message: `The model's answer was stopped: it has more than ${max.toLocaleString('en')} ${UNITS[limit]} (${limit}).`,
});
