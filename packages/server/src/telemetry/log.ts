/** Structured logs on standard error; standard output belongs to the lines an operator waits for. */
import pino from 'pino';
import type { Log } from '../core/ports/logger.ts';

/** Whatever a log line is given, these never appear in it. */
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
