/**
 * Parses an action as deployed clients of the copilot contract do: the characters between two quotes of the same kind are taken
 * verbatim, and commas outside of strings separate arguments. Independent of the server's own parser.
 */
export type ReadAction = { readonly name: string; readonly args: readonly (string | number | boolean)[] };

/** Throws if a deployed client would stop. */
export function readAction(text: string): ReadAction {
  const open = text.indexOf('(');
  if (open < 1 || !text.endsWith(')')) throw new Error(`the client cannot read ${text}`);
  const name = text.slice(0, open);
  const pieces = piecesOf(text.slice(open + 1, -1));
  return { name, args: pieces.map(argumentOf) };
}

function piecesOf(inner: string): string[] {
  const pieces: string[] = [];
  let piece = '';
  let quote = '';
  for (const character of inner) {
    if (quote === '' && character === ',') {
      pieces.push(piece.trim());
      piece = '';
      continue;
    }
    if (quote === '' && (character === '"' || character === "'" || character === '`')) quote = character;
    else if (character === quote) quote = '';
    piece += character;
  }
  if (quote !== '') throw new Error(`the client waits for ${quote} in ${inner}`);
  if (piece.trim() !== '') pieces.push(piece.trim());
  return pieces;
}

function argumentOf(piece: string): string | number | boolean {
  if (piece === 'true' || piece === 'false') return piece === 'true';
  const [first = ''] = piece;
  if (`"'\``.includes(first) && piece.length > 1 && piece.endsWith(first)) return piece.slice(1, -1);
  const number = Number(piece);
  if (piece === '' || Number.isNaN(number)) throw new Error(`the client cannot read the argument ${piece}`);
  return number;
}
