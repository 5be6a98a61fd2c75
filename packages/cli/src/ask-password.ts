/** Reads a new password: typed twice without echo at a terminal, or as one line of piped input. */
import { askSecretly } from './ask.ts';
import { CommandError } from './command-error.ts';

async function readLine(): Promise<string> {
  for await (const line of console) return line;
  throw new CommandError('no password given: write it to standard input, or use --password', 1);
}

export async function askPassword(name: string): Promise<string> {
  if (!process.stdin.isTTY) return readLine();
  const password = await askSecretly(`Password for ${name}: `);
  if (password !== (await askSecretly('Repeat: '))) throw new CommandError('the passwords do not match', 1);
  return password;
}
