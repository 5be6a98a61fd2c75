/** Normalizes words for comparison: case, accents, plurals and common synonyms. */

const PHRASES: readonly (readonly [RegExp, string])[] = [
  [/\b(?:log|sign)[\s-]*(?:in|on)(?:to)?\b/g, 'login'],
  [/\blogged\s+in\b/g, 'login'],
  [/\b(?:log|sign)[\s-]*(?:out|off)\b/g, 'logout'],
  [/\bsign[\s-]*up\b/g, 'register'],
  [/\be-?\s?mail\b/g, 'email'],
  [/\buser[\s-]+name\b/g, 'username'],
  [/\bpass[\s-]+word\b/g, 'password'],
  [/\bcheck[\s-]+out\b/g, 'checkout'],
  [/\bcheck[\s-]+box(es)?\b/g, 'checkbox'],
  [/\btick[\s-]*box(es)?\b/g, 'checkbox'],
  [/\bdrop[\s-]*down\b/g, 'dropdown'],
  [/\btext[\s-]+(?:box|field|area)\b/g, 'textbox'],
  [/\bradio[\s-]+button\b/g, 'radio'],
  [/\bcombo[\s-]+box\b/g, 'combobox'],
  [/\bzip[\s-]*code\b|\bpost(?:al)?[\s-]*code\b/g, 'postcode'],
];

const SAME = new Map(
  Object.entries({
    colour: 'color',
    grey: 'gray',
    favourite: 'favorite',
    basket: 'cart',
    trolley: 'cart',
    bag: 'cart',
    mail: 'email',
    signin: 'login',
    logon: 'login',
    signup: 'register',
    telephone: 'phone',
    mobile: 'phone',
    prev: 'previous',
    okay: 'ok',
    agree: 'accept',
    'terms&conditions': 'term',
    passcode: 'password',
    pwd: 'password',
    surname: 'lastname',
    forename: 'firstname',
    zip: 'postcode',
    remove: 'delete',
    cost: 'price',
    query: 'search',
  }),
);

/** Few texts contain any of the phrases: only those are searched for each. */
const TRIGGER = /\b(?:logg?|sign|e-?\s?mail|user|pass|check|tick|drop|text|radio|combo|zip|post)/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: all of ASCII is meant
const ASCII = /^[\u0000-\u007f]*$/;

/** Lower case, without accents, phrases of two words joined. */
export function folded(text: string): string {
  let plain = (ASCII.test(text) ? text : unaccented(text)).toLowerCase();
  if (TRIGGER.test(plain)) for (const [phrase, word] of PHRASES) plain = plain.replace(phrase, word);
  return plain.replace(/\s+/g, ' ').trim();
}

const unaccented = (text: string): string =>
  text
    .normalize('NFKD')
    .replace(/\p{M}+/gu, '')
    .replace(/[’‘`]/g, "'");

const WORD = /[\p{L}\p{N}]+(?:[.@'][\p{L}\p{N}]+)*/gu;
const PLAIN_WORD = /[a-z0-9]+(?:[.@'][a-z0-9]+)*/g;

export function wordsOf(text: string): string[] {
  const plain = folded(text);
  const words = plain.match(ASCII.test(plain) ? PLAIN_WORD : WORD);
  return words ? words.map(oneWord) : [];
}

function oneWord(word: string): string {
  const single = singular(word.includes("'") ? word.replace(/'s?$/, '') : word);
  return SAME.get(single) ?? single;
}

function singular(word: string): string {
  if (word.length < 4 || !word.endsWith('s') || /(?:ss|us|is)$/.test(word)) return word;
  if (word.length > 4 && word.endsWith('ies')) return `${word.slice(0, -3)}y`;
  if (/(?:xes|ches|shes|sses|zes)$/.test(word)) return word.slice(0, -2);
  return word.slice(0, -1);
}
