/**
 * Asks the user: interactively on a terminal, or one line of piped input each. Questions are written to
 * stderr.
 */
import { createInterface } from 'node:readline/promises';
import { CommandError } from '../command.ts';

const ENTER = new Set(['\r', '\n']);
const BACKSPACE = new Set(['\u007f', '\b']);
const INTERRUPT = '\u0003';
const END_OF_INPUT = '\u0004';

let piped: AsyncIterator<string> | null = null;

async function pipedLine(question: string): Promise<string> {
  piped ??= console[Symbol.asyncIterator]();
  const { value, done } = await piped.next();
  if (done) throw new CommandError(`no answer to "${question.trim()}" on standard input`, 2);
  return value;
}

/** `fallback` is used for an empty line. Repeats until there is an answer. */
export async function ask(question: string, fallback = ''): Promise<string> {
  if (!process.stdin.isTTY) return (await pipedLine(question)).trim() || fallback;
  const reader = createInterface({ input: process.stdin, output: process.stderr });
  const interrupted = Promise.withResolvers<never>();
  const stop = () => interrupted.reject(new CommandError('interrupted', 130));
  reader.once('SIGINT', stop);
  reader.once('close', stop);
  try {
    for (;;) {
      const answer = (await Promise.race([reader.question(question), interrupted.promise])).trim();
      if (answer !== '' || fallback !== '') return answer || fallback;
    }
  } finally {
    reader.off('close', stop);
    reader.close();
  }
}

/** One of the options, by its number or its name. */
export async function choose(
  question: string,
  options: readonly string[],
  fallback: string,
): Promise<string> {
  const list = options.map((option, index) => `  ${index + 1}  ${option}\n`).join('');
  for (;;) {
    process.stderr.write(`${question}\n${list}`);
    const answer = await ask(`Number or name [${fallback}]: `, fallback);
    const chosen = options[Number(answer) - 1] ?? options.find((option) => option === answer);
    if (chosen !== undefined) return chosen;
    if (!process.stdin.isTTY) throw new CommandError(`"${answer}" is not one of ${options.join(', ')}`, 2);
  }
}

/** Reads input without echo. */
export function askSecretly(question: string): Promise<string> {
  if (!process.stdin.isTTY) return pipedLine(question);
  const { stdin, stderr } = process;
  stdin.setEncoding('utf8');
  // Disable echo first, so that nothing typed after the prompt is visible.
  stdin.setRawMode(true);
  stdin.resume();
  stderr.write(question);
  return new Promise((resolve, reject) => {
    let typed: string[] = [];
    const finish = (settle: () => void) => {
      stdin.off('data', onData);
      stdin.setRawMode(false);
      stdin.pause();
      stderr.write('\n');
      settle();
    };
    const onData = (chunk: string) => {
      for (const character of chunk) {
        if (ENTER.has(character)) return finish(() => resolve(typed.join('')));
        if (character === INTERRUPT) return finish(() => reject(new CommandError('interrupted', 130)));
        if (character === END_OF_INPUT) return finish(() => reject(new CommandError('no password given', 1)));
        typed = BACKSPACE.has(character) ? typed.slice(0, -1) : [...typed, character];
      }
    };
    stdin.on('data', onData);
  });
}
