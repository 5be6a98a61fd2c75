/**
 * The transcripts in the documentation: fenced blocks of the language `console`.
 *
 *     $ curl …                    a request, and the lines of its response
 *     $ npx wscat -c ws://…       a socket: `>` is sent, `<` is received
 *
 * `…` stands for any text, a line with nothing else for any lines. `<name>` stands for a value that appears first
 * in what the server sends, and may be sent back later.
 */

export type Exchange = { readonly command: string; readonly lines: readonly string[] };

export function exchangesIn(markdown: string): Exchange[] {
  return [...markdown.matchAll(/^```console\n([\s\S]*?)^```/gm)].flatMap(([, block = '']) =>
    exchangesOf(block),
  );
}

function exchangesOf(block: string): Exchange[] {
  const joined = block.replace(/\\\n\s*/g, '');
  return joined
    .split(/^\$ /m)
    .slice(1)
    .map((part) => {
      const [command = '', ...lines] = part.split('\n').filter((line) => line.trim() !== '');
      return { command, lines: lines.map((line) => line.trim()) };
    });
}

/** Values of `<name>`, shared by the exchanges of one page. */
export type Names = Map<string, string>;

const NAME = /<([a-z]+)>/;

export const filledIn = (text: string, names: Names): string =>
  text.replace(/<([a-z]+)>/g, (whole, name: string) => names.get(name) ?? whole);

/** Whether the server sent this line. Learns the names in it. */
export function fits(line: string, shown: string, names: Names): boolean {
  const learned: string[] = [];
  const pattern = filledIn(shown, names)
    .split(/(…|<[a-z]+>)/)
    .map((part) => {
      const name = NAME.exec(part)?.[1];
      if (name === undefined) return part === '…' ? '.*' : RegExp.escape(part);
      learned.push(name);
      return '([^"\\s]+)';
    })
    .join('');
  const found = new RegExp(`^${pattern}$`, 's').exec(line);
  for (const [index, name] of learned.entries()) if (found) names.set(name, found[index + 1] ?? '');
  return found !== null;
}

/** The first shown line that the server did not send, with what it sent instead; null if all fit. */
export function difference(sent: readonly string[], shown: readonly string[], names: Names): string | null {
  let at = 0;
  let anyLines = false;
  for (const line of shown) {
    if (line === '…') {
      anyLines = true;
      continue;
    }
    while (anyLines && at < sent.length && !fits(sent[at] ?? '', line, names)) at += 1;
    if (at >= sent.length || !fits(sent[at] ?? '', line, names))
      return `shown: ${line}\nsent:  ${sent.slice(at, at + 3).join('\n       ')}`;
    at += 1;
    anyLines = false;
  }
  return anyLines || at === sent.length ? null : `not shown: ${sent.slice(at).join('\n')}`;
}
