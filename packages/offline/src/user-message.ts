/** A message without polite phrases. */

export type UserMessage = {
  /** the whole text, from the first meaningful word on */
  readonly text: string;
  /** the first line without trailing punctuation; empty if it is too long to be a request */
  readonly line: string;
  readonly single: boolean;
  /** the first line with leading polite words */
  readonly whole: string;
};

const MAX_REQUEST_LENGTH = 2_000;

const BEFORE =
  /^(?:please|pls|kindly|hey|hi|hello|ok|okay|now|just|also|so|well|parlance|(?:can|could|would|will) you|(?:i(?:'d| would) like|i want|i need) you to|i(?:'d| would) like to|i want to|let's|go ahead and)(?=[\s,:!])[\s,:!]*/i;
const AFTER = /[\s,]+(?:please|pls|for me|thanks|thank you|thx)$/i;
/** A full stop after a blank or a slash is a path, not the end of a sentence. */
const STOPS = /(?<=[^\s/.!?…])[.!?…]+$/;

export function parseMessage(request: string): UserMessage {
  const trimmed = request.trim();
  let text = trimmed;
  for (;;) {
    const rest = text.replace(BEFORE, '');
    if (rest === text || rest === '') break;
    text = rest;
  }
  return { text, line: firstLine(text), single: !text.includes('\n'), whole: firstLine(trimmed) };
}

function firstLine(text: string): string {
  const end = text.indexOf('\n');
  const line = end === -1 ? text : text.slice(0, end);
  return line.length > MAX_REQUEST_LENGTH ? '' : bare(line);
}

function bare(line: string): string {
  let text = line.trim();
  for (;;) {
    const rest = text.replace(STOPS, '').replace(AFTER, '');
    if (rest === text) return text;
    text = rest;
  }
}
