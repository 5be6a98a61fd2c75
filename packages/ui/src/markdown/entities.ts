/** Decodes character references such as `&amp;`. React escapes the result, so it cannot become markup. */

const NAMED: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: '\u00a0',
  copy: '©',
  reg: '®',
  trade: '™',
  hellip: '…',
  ndash: '–',
  mdash: '—',
  lsquo: '‘',
  rsquo: '’',
  ldquo: '“',
  rdquo: '”',
  laquo: '«',
  raquo: '»',
  times: '×',
  deg: '°',
  larr: '←',
  rarr: '→',
  le: '≤',
  ge: '≥',
  ne: '≠',
  middot: '·',
  bull: '•',
};

export function decodeEntities(text: string): string {
  if (!text.includes('&')) return text;
  return text.replace(/&(?:#(\d{1,7})|#x([\da-f]{1,6})|(\w{2,8}));/gi, (whole, ...[decimal, hex, name]) => {
    if (name !== undefined) return Object.hasOwn(NAMED, name) ? (NAMED[name] ?? whole) : whole;
    const point = decimal === undefined ? Number.parseInt(hex, 16) : Number(decimal);
    const surrogate = point >= 0xd800 && point <= 0xdfff;
    return point === 0 || point > 0x10ffff || surrogate ? '\ufffd' : String.fromCodePoint(point);
  });
}
