/** The text of a pending approval, for dialects without approval frames. */
import type { Ask } from '@parlance/protocol';

export const waitingWords = (ask: Ask): string =>
  `Waiting for approval: ${ask.description} (answer yes or no)`;

/** The question as a message, for clients that show answers only. */
export const questionWords = ({ description }: Ask): string =>
  `${description}${/[.!?]$/.test(description) ? '' : '.'} Allow it? Answer yes or no.`;
