/** Terminal colours and styles: uses the terminal's 16-colour palette, so that it works on any background. */

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

const styles = (styleOf: (codes: readonly [number, number]) => Style): Theme =>
  Object.fromEntries(NAMES.map((name) => [name, styleOf(CODES[name])])) as Theme;

export const PLAIN = styles(() => (text) => text);

/** Restarts the style after a nested one that ends with the same code. */
export const COLOURED = styles(([on, off]) => {
  const [start, end] = [`\x1b[${on}m`, `\x1b[${off}m`];
  return (text) => (text === '' ? '' : `${start}${text.replaceAll(end, `${end}${start}`)}${end}`);
});

type Environment = Readonly<Record<string, string | undefined>>;

/** No colours in files and pipes, with NO_COLOR (https://no-color.org), and on terminals without colours. */
function hasColours(stream: { readonly isTTY?: boolean }, env: Environment = process.env): boolean {
  return stream.isTTY === true && !env.NO_COLOR && env.TERM !== 'dumb';
}

export const themeFor = (stream: { readonly isTTY?: boolean }): Theme =>
  hasColours(stream) ? COLOURED : PLAIN;
