/**
 * Makes text from models, tools and files safe for a terminal: it must not move the cursor, change settings
 * or hide anything.
 */

const ESCAPE = '\u001b';
const C1 = { csi: '\u009b', strings: '\u0090\u0098\u009d\u009e\u009f', end: '\u009c' };

/** CSI, OSC (also DCS, SOS, PM, APC) and short sequences; an unfinished one up to the end of its line. */
const SEQUENCE = new RegExp(
  [
    `(?:${ESCAPE}\\[|${C1.csi})[0-?]*[ -/]*[@-~]?`,
    `(?:${ESCAPE}[\\]PX^_]|[${C1.strings}])[^\\u0007${ESCAPE}${C1.end}\n]*(?:\\u0007|${ESCAPE}\\\\|${C1.end})?`,
    `${ESCAPE}[ -/]*[0-~]?`,
  ].join('|'),
  'g',
);
/** Colours and marks: SGR with at most ten numbers. */
const COLOUR = new RegExp(`^${ESCAPE}\\[(?:\\d{0,3}[;:]?){0,10}m$`);
/** Other control characters, and those that reorder text. */
const CONTROL = /(?![\n\t])\p{Cc}|[\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu;

const TAB = '    ';

const withoutControl = (text: string): string => text.replace(CONTROL, '').replaceAll('\t', TAB);

/** Keeps line breaks; tabs become blanks. */
export const safeText = (text: string): string => withoutControl(text.replace(SEQUENCE, ''));

/** As a single line. */
export const safeLine = (text: string): string =>
  safeText(text)
    .replace(/\s*\n\s*/g, ' ')
    .trim();

/**
 * Output of a program: keeps colours if `colours` is true, and only the last version of an overwritten line.
 */
export const safeOutput = (text: string, colours: boolean): string =>
  text
    .split('\n')
    .map((line) => line.replace(/\r+$/, ''))
    .map((line) => safeOutputLine(line.slice(line.lastIndexOf('\r') + 1), colours))
    .join('\n');

function safeOutputLine(line: string, colours: boolean): string {
  let shown = '';
  let isColoured = false;
  let from = 0;
  for (const { index, 0: sequence } of line.matchAll(SEQUENCE)) {
    shown += withoutControl(line.slice(from, index));
    from = index + sequence.length;
    if (!colours || !COLOUR.test(sequence)) continue;
    shown += sequence;
    isColoured = true;
  }
  return shown + withoutControl(line.slice(from)) + (isColoured ? `${ESCAPE}[0m` : '');
}
