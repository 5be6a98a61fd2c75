/**
 * Colours of terminal output: SGR sequences as runs of text with classes. Every colour becomes the nearest of eight that
 * can be read in both themes. Other control sequences are dropped. Pure.
 */

export type AnsiRun = { readonly text: string; readonly className: string };

const COLOURS = ['black', 'red', 'green', 'yellow', 'blue', 'magenta', 'cyan', 'white'] as const;
type Colour = (typeof COLOURS)[number];

/** An SGR sequence, another CSI or OSC sequence, or a lone escape. */
const SEQUENCE =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what it looks for
  /\x1b\[([\d;:]*)m|\x1b\[[\d;:?<=>!]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[@-_]?/g;

/** What a carriage return overwrites, such as the earlier states of a progress bar. */
const OVERWRITTEN = /^[^\n]*\r(?=[^\r\n])/gm;

type Style = {
  colour: Colour | null;
  background: Colour | null;
  bold: boolean;
  dim: boolean;
  italic: boolean;
  underline: boolean;
  inverse: boolean;
};

const PLAIN: Readonly<Style> = {
  colour: null,
  background: null,
  bold: false,
  dim: false,
  italic: false,
  underline: false,
  inverse: false,
};

export const hasAnsi = (text: string): boolean => text.includes('\x1b') || text.includes('\r');

export function ansiRuns(output: string): AnsiRun[] {
  const text = output.replace(OVERWRITTEN, '');
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

/** On a background, the text has the colour of the page: other pairs of colours cannot be read in both themes. */
function classOf({ colour, background, inverse, ...marks }: Style): string {
  const behind = inverse ? (colour ?? 'white') : background;
  return [
    behind !== null ? `ansi-on-${behind}` : colour !== null ? `ansi-${colour}` : '',
    ...Object.entries(marks).map(([mark, on]) => (on ? `ansi-${mark}` : '')),
  ]
    .filter(Boolean)
    .join(' ');
}

function styled(before: Style, codes: readonly number[]): Style {
  let style = { ...before };
  for (let at = 0; at < codes.length; at++) {
    const code = codes[at] ?? 0;
    if (code === 38 || code === 48) {
      const [kind, ...values] = codes.slice(at + 1);
      const colour = kind === 5 ? ofPalette(values[0] ?? 0) : nearest(values);
      style = code === 38 ? { ...style, colour } : { ...style, background: colour };
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
  if (code === 7) return { ...style, inverse: true };
  if (code === 22) return { ...style, bold: false, dim: false };
  if (code === 23) return { ...style, italic: false };
  if (code === 24) return { ...style, underline: false };
  if (code === 27) return { ...style, inverse: false };
  if (code === 39) return { ...style, colour: null };
  if (code === 49) return { ...style, background: null };
  const colour = COLOURS[code >= 90 ? code - 90 : code - 30];
  if (colour !== undefined) return { ...style, colour };
  const background = COLOURS[code >= 100 ? code - 100 : code - 40];
  return background === undefined ? style : { ...style, background };
}

/** Of 256: sixteen with names, a cube of 6 × 6 × 6, and 24 greys. */
function ofPalette(index: number): Colour {
  if (index < 16) return COLOURS[index % 8] ?? 'white';
  if (index >= 232) return index < 244 ? 'black' : 'white';
  const cube = index - 16;
  const steps = [Math.floor(cube / 36), Math.floor(cube / 6) % 6, cube % 6];
  return nearest(steps.map((step) => (step === 0 ? 0 : 55 + step * 40)));
}

/** By hue: a channel counts if it is nearer to the strongest one than to none. Greys are black or white. */
function nearest([red = 0, green = 0, blue = 0]: readonly number[]): Colour {
  const most = Math.max(red, green, blue);
  if (most - Math.min(red, green, blue) < 32) return most < 128 ? 'black' : 'white';
  const bits = [red, green, blue].map((channel) => (channel * 2 > most ? 1 : 0));
  return COLOURS[(bits[0] ?? 0) + 2 * (bits[1] ?? 0) + 4 * (bits[2] ?? 0)] ?? 'white';
}
