/** What a person asks for, without the words that only make it polite, cut into the things that are asked. */

const BEFORE =
  /^(?:please|pls|kindly|hey|hi|hello|ok|okay|now|then|just|also|so|well|finally|(?:can|could|would|will) you|(?:i(?:'d| would) like|i want|i need) (?:you )?to|let's|go ahead and)(?=[\s,:!])[\s,:!]*/i;
const AFTER = /[\s,]+(?:please|pls|for me|thanks|thank you|thx|on (?:this|the) page|on here)$/i;
const STOPS = /(?<=[^\s/.!?…])[.!…]+$/;

/** What stands between quotes. An apostrophe inside a word is no quote. */
const QUOTED = /`[^`]*`|"[^"]*"|“[^”]*”|«[^»]*»|(?<=^|\s)'[^']*'(?=$|[\s,.;])/;
const QUOTED_OR_BLANKS = new RegExp(`(${QUOTED.source})|\\s+`, 'g');

/** A question keeps its mark, but "could you …?" is none. Blanks and line breaks between quotes stay as they are. */
export function bare(said: string): string {
  let text = said.trim().replace(QUOTED_OR_BLANKS, (_, quoted?: string) => quoted ?? ' ');
  if (/^(?:(?:please|hey|hi|hello|ok|okay)[\s,]+)*(?:can|could|would|will) you\b/i.test(text))
    text = text.replace(/\s*\?+$/, '');
  for (;;) {
    const rest = text.replace(BEFORE, '').replace(STOPS, '').trim();
    const polite = /[?]$/.test(rest) ? rest : withoutEnding(rest);
    if (polite === text || polite === '') return text;
    text = polite;
  }
}

/** Only the end is looked at: a long run of commas is no reason to look at all of it. */
function withoutEnding(text: string): string {
  const at = Math.max(0, text.length - 40);
  return text.slice(0, at) + text.slice(at).replace(AFTER, '');
}

/** Quotes around the whole of a text are the writer's. */
export function unquoted(text: string): string {
  const match = /^(?:"([^"]*)"|“([^”]*)”|'([^']*)'|‘([^’]*)’|`([^`]*)`|«([^»]*)»)$/.exec(text.trim());
  return match ? (match.slice(1).find((inner) => inner !== undefined) ?? '') : text.trim();
}

const CONNECTOR =
  /(?:\s*[,;]\s*|\s+)(?:and\s+then|after\s+that|afterwards|and\s+also|and\s+finally|and|then|finally)\s+|\s*[;,]\s+|[.!]\s+(?=\S)|\s*\n\s*/gi;

/** Nobody asks for more in one go; a text that is longer is one request. */
const MOST_CUTS = 20;
const LONGEST_REQUEST = 2_000;

export type Cut = { readonly left: string; readonly rest: string };

/** All the places where one request may end and the next begin, the first one first; nothing between quotes is one. */
export function cutsOf(text: string): Cut[] {
  if (text.length > LONGEST_REQUEST) return [];
  const open = withoutQuoted(text);
  return [...open.matchAll(CONNECTOR)].slice(0, MOST_CUTS).flatMap((match) => {
    const left = text.slice(0, match.index).trim();
    const rest = text.slice(match.index + match[0].length).trim();
    return left === '' || rest === '' ? [] : [{ left, rest }];
  });
}

/** Same length, with everything between quotes made unreadable. */
const withoutQuoted = (text: string): string =>
  text.replace(new RegExp(QUOTED, 'g'), (span) => '\u0000'.repeat(span.length));
