/** Splits a request into clauses, without polite phrases. */

const BEFORE =
  /^(?:please|pls|kindly|hey|hi|hello|ok|okay|now|then|just|also|so|well|finally|(?:can|could|would|will) you|(?:i(?:'d| would) like|i want|i need) (?:you )?to|let's|go ahead and)(?=[\s,:!])[\s,:!]*/i;
const AFTER = /[\s,]+(?:please|pls|for me|thanks|thank you|thx|on (?:this|the) page|on here)$/i;
const STOPS = /(?<=[^\s/.!?…])[.!…]+$/;

/** Quoted text. An apostrophe inside a word is not a quote. */
const QUOTED = /`[^`]*`|"[^"]*"|“[^”]*”|«[^»]*»|(?<=^|\s)'[^']*'(?=$|[\s,.;])/;
const QUOTED_OR_BLANKS = new RegExp(`(${QUOTED.source})|\\s+`, 'g');

/** A question keeps its mark, but "could you …?" is not one. Blanks and line breaks in quotes are preserved. */
export function normalised(request: string): string {
  let text = request.trim().replace(QUOTED_OR_BLANKS, (_, quoted?: string) => quoted ?? ' ');
  if (/^(?:(?:please|hey|hi|hello|ok|okay)[\s,]+)*(?:can|could|would|will) you\b/i.test(text))
    text = text.replace(/\s*\?+$/, '');
  for (;;) {
    const rest = text.replace(BEFORE, '').replace(STOPS, '').trim();
    const polite = /[?]$/.test(rest) ? rest : withoutEnding(rest);
    if (polite === text || polite === '') return text;
    text = polite;
  }
}

/** Only checks the end, so that a long run of commas is cheap. */
function withoutEnding(text: string): string {
  const at = Math.max(0, text.length - 40);
  return text.slice(0, at) + text.slice(at).replace(AFTER, '');
}

/** Removes quotes around the whole text. */
export function unquoted(text: string): string {
  const match = /^(?:"([^"]*)"|“([^”]*)”|'([^']*)'|‘([^’]*)’|`([^`]*)`|«([^»]*)»)$/.exec(text.trim());
  return match ? (match.slice(1).find((inner) => inner !== undefined) ?? '') : text.trim();
}

const CONNECTOR =
  /(?:\s*[,;]\s*|\s+)(?:and\s+then|after\s+that|afterwards|and\s+also|and\s+finally|and|then|finally)\s+|\s*[;,]\s+|[.!]\s+(?=\S)|\s*\n\s*/gi;

/** Maximum length; a longer text is one request. */
const MAX_SPLITS = 20;
const MAX_REQUEST_LENGTH = 2_000;

export type Split = { readonly left: string; readonly rest: string };

/** All positions at which one request may end and the next begin, in order; none is inside quotes. */
export function splitsOf(text: string): Split[] {
  if (text.length > MAX_REQUEST_LENGTH) return [];
  const open = withoutQuoted(text);
  return [...open.matchAll(CONNECTOR)].slice(0, MAX_SPLITS).flatMap((match) => {
    const left = text.slice(0, match.index).trim();
    const rest = text.slice(match.index + match[0].length).trim();
    return left === '' || rest === '' ? [] : [{ left, rest }];
  });
}

/** Same length, with quoted text masked. */
const withoutQuoted = (text: string): string =>
  text.replace(new RegExp(QUOTED, 'g'), (span) => '\u0000'.repeat(span.length));
