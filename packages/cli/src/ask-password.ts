/** Reads a password: typed without echo at a terminal, or as one line of piped input. */
import { CommandError } from './command-error.ts';

const ENTER = new Set(['\r', '\n']);
const BACKSPACE = new Set(['\u007f', '\b']);
const INTERRUPT = '\u0003';
const END_OF_INPUT = '\u0004';

function typeUnseen(question: string): Promise<string> {
  const { stdin, stderr } = process;
  stdin.setEncoding('utf8');
  // Switch echo off first, so that nothing typed after the prompt shows.
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
        if (character === INTERRUPT || character === END_OF_INPUT)
          return finish(() => reject(new CommandError('no password given', 1)));
        typed = BACKSPACE.has(character) ? typed.slice(0, -1) : [...typed, character];
      }
    };
    stdin.on('data', onData);
  });
}

async function readLine(): Promise<string> {
  for await (const line of console) return line;
  throw new CommandError('no password given: write it to standard input, or use --password', 1);
}

export async function askPassword(name: string): Promise<string> {
  if (!process.stdin.isTTY) return readLine();
  const password = await typeUnseen(`Password for ${name}: `);
  if (password !== (await typeUnseen('Repeat: '))) throw new CommandError('the passwords do not match', 1);
  return password;
}
