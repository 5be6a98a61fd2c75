/** Structured logs on standard error; standard output is reserved for the lines that scripts wait for. */
import pino from 'pino';
import type { Log } from '../core/ports/logger.ts';
import { readableLine } from './readable-log.ts';

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
