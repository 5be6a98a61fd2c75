/** Structured logs on standard error; standard output is reserved for the lines that scripts wait for. */
import pino from 'pino';
import type { Log } from '../core/ports/telemetry.ts';

/** Redacted in every log line. */
const SECRETS = [
  'token',
  'password',
  'authorization',
  'secret',
  '*.token',
  '*.password',
  '*.authorization',
  '*.secret',
];

/** Lines of JSON, or readable ones on a terminal. */
export const openLog = (level: string): Log =>
  pino({ level, base: undefined, redact: SECRETS }, process.stderr.isTTY ? terminal() : standardError());

const standardError = () => pino.destination({ dest: 2, sync: true });

function terminal(): pino.DestinationStream {
  const hasColours = !process.env.NO_COLOR;
  const out = standardError();
  return { write: (line) => out.write(readableLine(line, hasColours)) };
}

/** Log lines for a person at a terminal. */

const LEVELS: Readonly<Record<number, readonly [name: string, colour: string]>> = {
  10: ['trace', '2'],
  20: ['debug', '2'],
  30: ['info', '32'],
  40: ['warn', '33'],
  50: ['error', '31'],
  60: ['fatal', '31'],
};

/** `line` is a line of pino. */
function readableLine(line: string, hasColours: boolean): string {
  const { level, time, msg, err, ...data } = JSON.parse(line);
  const [name, colour] = LEVELS[level] ?? ['log', '0'];
  const paint = (text: string, code: string) => (hasColours ? `\x1b[${code}m${text}\x1b[0m` : text);
  const fields = Object.entries(data).map(([key, value]) => `${key}=${shown(value)}`);
  const head = [
    paint(new Date(time).toTimeString().slice(0, 8), '2'),
    paint(name.padEnd(5), colour),
    printable(String(msg ?? '')),
    paint(fields.join(' '), '2'),
  ];
  const cause = err ? `\n${paint(indented(err.stack ?? err.message ?? shown(err)), '2')}` : '';
  return `${head.join(' ').trimEnd()}${cause}\n`;
}

const shown = (value: unknown): string =>
  typeof value === 'string' && /^[\w.:/@+-]+$/.test(value) ? value : printable(JSON.stringify(value));

const indented = (text: string): string =>
  text
    .split('\n')
    .map((line) => `  ${printable(line)}`)
    .join('\n');

/** Text from clients must not control the terminal. */
const printable = (text: string): string => text.replace(/\p{Cc}/gu, '\u{fffd}');
