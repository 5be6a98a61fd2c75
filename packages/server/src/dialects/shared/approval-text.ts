/** The text of a pending approval, for dialects without approval frames. */
import type { Ask } from '@parlance/protocol';

export const waitingText = (ask: Ask): string =>
  `Waiting for approval: ${ask.description} (answer yes or no)`;

/** The approval as a question in a message, for clients that show only answers. */
export const questionText = ({ description }: Ask): string =>
  `${description}${/[.!?]$/.test(description) ? '' : '.'} Allow it? Answer yes or no.`;
