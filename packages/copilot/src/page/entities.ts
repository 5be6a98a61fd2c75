/** HTML character references: Latin letters, common punctuation and all numeric ones. Others stay as they are. */

const LATIN =
  'nbsp iexcl cent pound curren yen brvbar sect uml copy ordf laquo not shy reg macr deg plusmn sup2 sup3 acute micro para middot ' +
  'cedil sup1 ordm raquo frac14 frac12 frac34 iquest Agrave Aacute Acirc Atilde Auml Aring AElig Ccedil Egrave Eacute Ecirc Euml ' +
  'Igrave Iacute Icirc Iuml ETH Ntilde Ograve Oacute Ocirc Otilde Ouml times Oslash Ugrave Uacute Ucirc Uuml Yacute THORN szlig ' +
  'agrave aacute acirc atilde auml aring aelig ccedil egrave eacute ecirc euml igrave iacute icirc iuml eth ntilde ograve oacute ' +
  'ocirc otilde ouml divide oslash ugrave uacute ucirc uuml yacute thorn yuml';

const NAMED = new Map<string, string>([
  ...LATIN.split(' ').map((name, index): [string, string] => [name, String.fromCharCode(160 + index)]),
  ...Object.entries({
    ...{ amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", AMP: '&', LT: '<', GT: '>', QUOT: '"' },
    ...{ hellip: '…', mdash: '—', ndash: '–', lsquo: '‘', rsquo: '’', ldquo: '“', rdquo: '”', sbquo: '‚' },
    ...{ bdquo: '„', lsaquo: '‹', rsaquo: '›', bull: '•', trade: '™', euro: '€', prime: '′', Prime: '″' },
    ...{
      larr: '←',
      uarr: '↑',
      rarr: '→',
      darr: '↓',
      harr: '↔',
      check: '✓',
      cross: '✗',
      star: '☆',
      starf: '★',
    },
    ...{
      ensp: ' ',
      emsp: ' ',
      thinsp: ' ',
      zwnj: '\u200c',
      zwj: '\u200d',
      minus: '−',
      ne: '≠',
      le: '≤',
      ge: '≥',
    },
    ...{ OElig: 'Œ', oelig: 'œ', Scaron: 'Š', scaron: 'š', Yuml: 'Ÿ', infin: '∞', permil: '‰', dagger: '†' },
    ...{
      lbrack: '[',
      rbrack: ']',
      lpar: '(',
      rpar: ')',
      num: '#',
      excl: '!',
      quest: '?',
      colon: ':',
      semi: ';',
    },
    ...{ comma: ',', period: '.', sol: '/', bsol: '\\', lowbar: '_', vert: '|', dollar: '$', percnt: '%' },
    ...{ plus: '+', equals: '=', ast: '*', commat: '@', Tab: '\t', NewLine: '\n', hyphen: '‐', grave: '`' },
  }),
]);

const REFERENCE = /&(?:#(\d{1,8})|#[xX]([0-9a-fA-F]{1,8})|([a-zA-Z][a-zA-Z0-9]{1,31}))(;?)/g;
/** Valid without the semicolon, as in browsers. */
const BARE = new Set(['amp', 'lt', 'gt', 'quot', 'AMP', 'LT', 'GT', 'QUOT', 'copy', 'reg', 'nbsp']);
/** Numbers 128 to 159 mean Windows-1252. */
const windows = new TextDecoder('windows-1252');

export function decodeEntities(text: string): string {
  if (!text.includes('&')) return text;
  return text.replace(REFERENCE, (whole: string, ...groups: (string | undefined)[]) => {
    const [decimal, hex, name, end] = groups;
    if (name === undefined)
      return characterOf(decimal === undefined ? Number.parseInt(hex ?? '', 16) : Number(decimal));
    if (end !== ';' && !BARE.has(name)) return whole;
    return NAMED.get(name) ?? whole;
  });
}

function characterOf(code: number): string {
  if (code >= 128 && code < 160) return windows.decode(Uint8Array.of(code));
  const impossible = code === 0 || code > 0x10ffff || (code >= 0xd800 && code < 0xe000);
  return impossible ? '\ufffd' : String.fromCodePoint(code);
}
