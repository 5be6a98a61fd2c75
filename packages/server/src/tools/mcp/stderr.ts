/** Logs the stderr of an MCP server: bounded, rate limited and redacted. A server that floods it is disconnected. */
import type { Readable } from 'node:stream';
import type { Log } from '../../core/ports/logger.ts';
import { cutText } from '../cut.ts';
import type { Budget } from './budget.ts';
import type { Redact } from './secrets.ts';

const LINE_CHARACTERS = 2_000;
/** Maximum number of lines per minute; further lines are dropped until the next minute. */
const LINES_A_MINUTE = 200;

type StderrOptions = {
  readonly server: string;
  readonly redact: Redact;
  readonly keep: (line: string) => void;
  readonly budget: Budget;
};

export function logStderr(stream: Readable, { server, redact, keep, budget }: StderrOptions, log: Log): void {
  const decoder = new TextDecoder();
  const writeLine = limited((raw) => {
    const line = cutText(redact(raw), LINE_CHARACTERS);
    keep(line);
    log.info({ server, line }, 'MCP server stderr');
  });
  let rest = '';
  stream.on('data', (chunk: Uint8Array) => {
    if (!budget.logged(chunk.length)) return;
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) if (line.trim() !== '') writeLine(line);
    if (rest.length > LINE_CHARACTERS * 10) {
      writeLine(rest);
      rest = '';
    }
  });
  stream.on('end', () => {
    if (rest.trim() !== '') writeLine(rest);
  });
  stream.on('error', (error) => log.debug({ server, err: error }, 'MCP server stderr ended with an error'));
}

function limited(writeLine: (line: string) => void): (line: string) => void {
  let minute = 0;
  let count = 0;
  return (line) => {
    const now = Math.floor(Date.now() / 60_000);
    if (now !== minute) [minute, count] = [now, 0];
    if (count < LINES_A_MINUTE) writeLine(line);
    if (count === LINES_A_MINUTE) writeLine('(more lines, left out)');
    count++;
  };
}
