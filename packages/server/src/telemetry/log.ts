/** Structured logs on standard error; standard output is reserved for the lines that scripts wait for. */
import pino from 'pino';
import type { Log } from '../core/ports/logger.ts';

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

export const openLog = (level: string): Log =>
  pino({ level, base: undefined, redact: SECRETS }, pino.destination({ dest: 2, sync: true }));
