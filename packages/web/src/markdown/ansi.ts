/** Colours of terminal output: SGR sequences as runs of text with classes. Other control sequences are dropped. Pure. */

export type AnsiRun = { readonly text: string; readonly className: string };

const COLOURS = ['black', 'red', 'green', 'yellow', 'blue', 'magenta', 'cyan', 'white'] as const;

/** An SGR sequence, another CSI or OSC sequence, or a lone escape. */
const SEQUENCE =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what it looks for
  /\x1b\[([\d;:]*)m|\x1b\[[\d;:?<=>!]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[@-_]?/g;

type Style = { colour: string | null; bold: boolean; dim: boolean; italic: boolean; underline: boolean };

const PLAIN: Readonly<Style> = { colour: null, bold: false, dim: false, italic: false, underline: false };

export const hasAnsi = (text: string): boolean => text.includes('\x1b');

export function ansiRuns(text: string): AnsiRun[] {
  const runs: AnsiRun[] = [];
  let style: Style = { ...PLAIN };
  let from = 0;
  const add = (to: number) => {
    if (to > from) runs.push({ text: text.slice(from, to), className: classOf(style) });
  };
  for (const match of text.matchAll(SEQUENCE)) {
    add(match.index);
    from = match.index + match[0].length;
    if (match[1] !== undefined) style = styled(style, match[1].split(/[;:]/).map(Number));
  }
  add(text.length);
  return runs;
}

const classOf = ({ colour, ...marks }: Style): string =>
  [
    colour === null ? '' : `ansi-${colour}`,
    ...Object.entries(marks).map(([mark, on]) => (on ? `ansi-${mark}` : '')),
  ]
    .filter(Boolean)
    .join(' ');

function styled(before: Style, codes: readonly number[]): Style {
  let style = { ...before };
  for (let at = 0; at < codes.length; at++) {
    const code = codes[at] ?? 0;
    if (code === 38 || code === 48) {
      // A colour of the palette or in RGB: the palette's first sixteen have names.
      const [kind, index = 0] = codes.slice(at + 1);
      if (code === 38) style.colour = kind === 5 && index < 16 ? (COLOURS[index % 8] ?? null) : null;
      at += kind === 5 ? 2 : 4;
    } else style = marked(style, code);
  }
  return style;
}

function marked(style: Style, code: number): Style {
  if (code === 0) return { ...PLAIN };
  if (code === 1) return { ...style, bold: true };
  if (code === 2) return { ...style, dim: true };
  if (code === 3) return { ...style, italic: true };
  if (code === 4) return { ...style, underline: true };
  if (code === 22) return { ...style, bold: false, dim: false };
  if (code === 23) return { ...style, italic: false };
  if (code === 24) return { ...style, underline: false };
  if (code === 39) return { ...style, colour: null };
  const colour = COLOURS[code >= 90 ? code - 90 : code - 30];
  return colour === undefined ? style : { ...style, colour };
}
