/** Runs a protocol over stdio until the input ends. */
import { once } from 'node:events';
import { printStderr } from '../../command.ts';
import { inputLines, LineOutput, TOO_LONG } from './lines.ts';
import { openServerLink, type ServerLink } from './server-link.ts';

/** One connection of a line-based client. */
export type StdioProtocol = {
  /** Handles one non-empty line. The next one is read when the promise resolves. */
  receive(line: Buffer): void | Promise<void>;
  /** Called for a line longer than `MAX_BYTES`, which is dropped. */
  onTooLong(): void;
  /** Called at the end of the input. Resolves when all requests have been answered. */
  settled(): Promise<void>;
};

/** Maximum size of a message. */
const MAX_BYTES = 64 * 1024 * 1024;

/** Maximum time for responses after the end of the input. Turns of a running server continue. */
const SETTLE_MS = 1_000;
/** Maximum time for an embedded server to stop. Stored data is safe without it. */
const STOP_MS = 5_000;

/**
 * Resolves with the exit code: 0 if the input has ended, the reader is gone or a signal arrived. Rejects if
 * no server can be reached or started.
 * @example
 * runStdio(argv, (link, write) => new Bridge(link, write));
 */
export async function runStdio(
  argv: readonly string[],
  open: (link: ServerLink, write: (text: string) => void) => StdioProtocol,
): Promise<number> {
  const link = await openServerLink(argv);
  const output = new LineOutput(process.stdout);
  const protocol = open(link, (text) => output.write(text));
  const signalled = Promise.race([once(process, 'SIGTERM'), once(process, 'SIGINT')]);
  const ended = readAll(protocol);
  const reason = await Promise.race([ended, output.closed, signalled.then(() => 'signalled')]);
  if (reason === 'ended') await Promise.race([protocol.settled(), Bun.sleep(SETTLE_MS)]);
  await Promise.race([link.close(0), Bun.sleep(STOP_MS)]);
  await Promise.race([output.flushed(), Bun.sleep(SETTLE_MS)]);
  return 0;
}

async function readAll(protocol: StdioProtocol): Promise<'ended'> {
  try {
    for await (const line of inputLines(Bun.stdin.stream(), MAX_BYTES)) {
      if (line === TOO_LONG) protocol.onTooLong();
      else await protocol.receive(line);
    }
  } catch (error) {
    printStderr(
      `parlance: standard input cannot be read (${error instanceof Error ? error.message : error})`,
    );
  }
  return 'ended';
}
