/**
 * Terminal colours and styles: the terminal's 16-colour palette. On a light background, where its yellow, green and cyan are
 * often hard to read, darker ones of the 256 colours take their place.
 */

export type Style = (text: string) => string;

const NAMES = [
  'bold',
  'dim',
  'italic',
  'underline',
  'strike',
  'inverse',
  'red',
  'green',
  'yellow',
  'blue',
  'magenta',
  'cyan',
] as const;

export type Theme = Readonly<Record<(typeof NAMES)[number], Style>>;

const CODES: Readonly<Record<(typeof NAMES)[number], readonly [on: number, off: number]>> = {
  bold: [1, 22],
  dim: [2, 22],
  italic: [3, 23],
  underline: [4, 24],
  strike: [9, 29],
  inverse: [7, 27],
  red: [31, 39],
  green: [32, 39],
  yellow: [33, 39],
  blue: [34, 39],
  magenta: [35, 39],
  cyan: [36, 39],
};

const styles = (make: (codes: readonly [number, number]) => Style): Theme =>
  Object.fromEntries(NAMES.map((name) => [name, make(CODES[name])])) as Theme;

export const PLAIN = styles(() => (text) => text);

/** Restarts the style after a nested one that ends with the same code. */
function styleOf([on, off]: readonly [number | string, number]): Style {
  const [start, end] = [`\x1b[${on}m`, `\x1b[${off}m`];
  return (text) => (text === '' ? '' : `${start}${text.replaceAll(end, `${end}${start}`)}${end}`);
}

export const COLOURED = styles(styleOf);

/** From the palette of 256 colours: at least 4.5 : 1 on white. */
const DARKER = { yellow: 130, green: 28, cyan: 30 } as const;

export const ON_LIGHT: Theme = {
  ...COLOURED,
  ...Object.fromEntries(
    Object.entries(DARKER).map(([name, colour]) => [name, styleOf([`38;5;${colour}`, 39])]),
  ),
};

export type Background = 'dark' | 'light';

/** What a terminal answers when it is asked for its background: `11;rgb:ffff/ffff/ffff`. Null if it is something else. */
export function backgroundIn(answer: string): Background | null {
  const channels = /^11;rgba?:([\da-f]{1,4})\/([\da-f]{1,4})\/([\da-f]{1,4})/i.exec(answer)?.slice(1);
  if (!channels) return null;
  const [red = 0, green = 0, blue = 0] = channels.map(
    (digits) => Number.parseInt(digits, 16) / (16 ** digits.length - 1),
  );
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue > 0.5 ? 'light' : 'dark';
}

/** `COLORFGBG` is `foreground;background` in numbers of the palette. Null if it does not say. */
export function backgroundFrom({ COLORFGBG = '' }: Environment): Background | null {
  const number = /^[^;]*;(?:[^;]*;)?(\d{1,2})$/.exec(COLORFGBG)?.[1];
  return number === undefined ? null : number === '7' || Number(number) > 8 ? 'light' : 'dark';
}

type Environment = Readonly<Record<string, string | undefined>>;

/** No colours in files and pipes, with NO_COLOR (https://no-color.org), and on terminals without colours. */
function hasColours(stream: { readonly isTTY?: boolean }, env: Environment = process.env): boolean {
  return stream.isTTY === true && !env.NO_COLOR && env.TERM !== 'dumb';
}

/** Terminals without 256 colours keep the palette. */
const hasManyColours = ({ TERM = '', COLORTERM = '' }: Environment): boolean =>
  TERM.includes('256color') || COLORTERM !== '';

export const themeFor = (
  stream: { readonly isTTY?: boolean },
  background: Background | null = null,
  env: Environment = process.env,
): Theme =>
  !hasColours(stream, env) ? PLAIN : background === 'light' && hasManyColours(env) ? ON_LIGHT : COLOURED;
