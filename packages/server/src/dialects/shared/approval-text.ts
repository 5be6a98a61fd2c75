/** The text of a pending approval, for dialects without approval frames. */
import type { Ask } from '@parlance/protocol';

export const waitingText = (ask: Ask): string =>
  `Waiting for approval: ${ask.description} (answer yes or no)`;

/** For clients that cannot answer the approval. */
export const elsewhereText = ({ description }: Ask): string =>
  `${description.replace(/[.!?]$/, '')}: waits for approval elsewhere.`;

/** The approval as a question in a message, for clients that show only answers. */
export const questionText = ({ description }: Ask): string =>
  `${description}${/[.!?]$/.test(description) ? '' : '.'} Allow it? Answer yes or no.`;
