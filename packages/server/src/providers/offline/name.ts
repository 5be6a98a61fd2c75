/** Finds the name that a user gives. */
import { shorten } from './text/quote.ts';

const NAME =
  /\b(?:my name is|my name's|call me(?! (?:when|if|later|back|once|after|at|tomorrow|maybe|a|an|the)\b)|the user's name is)\s+([\p{L}\p{M}][\p{L}\p{M}'’. -]{0,59})/iu;
const NAME_END = /\s+(?:and|but|please|so|then|by the way|what|who)\b.*$|[.,;!?\s]+$/i;

/** The name in a text, at any position. */
export function nameIn(text: string): string | null {
  const name = NAME.exec(text.slice(0, 20_000))?.[1]?.replace(NAME_END, '').trim();
  return name ? shorten(name, 40) : null;
}
