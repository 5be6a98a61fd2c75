/** Describes content parts in words, for models without support for them. */
import type { Part } from '@parlance/protocol';

type FilePart = Extract<Part, { type: 'file' }>;

const TEXTUAL =
  /^(?:text\/|application\/(?:json|xml|javascript|typescript|yaml|x-yaml|toml|sql|x-sh)\b)|\+(?:json|xml)\b/i;

/** A text file with its name; null for any other. */
export const fileText = ({ name, mime, data }: FilePart): string | null =>
  TEXTUAL.test(mime) ? `File ${name}:\n${Buffer.from(data, 'base64').toString('utf8')}` : null;

export const notShown = ({ name, mime }: FilePart): string => `[File ${name} (${mime}) cannot be shown.]`;

export const dataUrl = ({ mime, data }: { mime: string; data: string }): string =>
  `data:${mime};base64,${data}`;

/** For APIs that refuse a message without content, or a conversation that does not end with the user. */
export const NO_WORDS = '(The user said nothing.)';
export const FOLLOW_INSTRUCTIONS = 'Follow your instructions now.';

/** For models that have no role for instructions in the middle of a conversation. */
export const systemText = (text: string): string => `<system>\n${text}\n</system>`;

export const summaryText = (text: string): string =>
  `This is a summary of the conversation so far:\n\n${text}`;

/** Ids of calls may come from other vendors and be too long for this one. The same id is always shortened in the same way. */
export const shortId = (id: string, longest: number): string =>
  id.length <= longest ? id : `call_${Bun.hash(id).toString(36)}`;
