/** The text of a pending approval, for dialects without approval frames. */
import type { Ask } from '@parlance/protocol';

export const waitingText = (ask: Ask): string => `Waiting for approval: ${wholeText(ask)} (answer yes or no)`;

/** The description, and the exact command or patch unless the description contains it: users approve what they see. */
export function wholeText({ description, command, patch }: Ask): string {
  const exact = patch ?? command.join(' ');
  return unquoted(description).includes(unquoted(exact)) ? description : `${description}\n\n${exact}\n\n`;
}

const unquoted = (text: string): string => text.replace(/['"\\]/g, '');

/** For clients that cannot answer the approval. */
export const elsewhereText = ({ description }: Ask): string =>
  `${description.replace(/[.!?]$/, '')}: waits for approval elsewhere.`;

/** The approval as a question in a message, for clients that show only answers. */
export const questionText = (ask: Ask): string => {
  const text = wholeText(ask);
  return `${text}${/[.!?\n]$/.test(text) ? '' : '.'} Allow it? Answer yes or no.`;
};
