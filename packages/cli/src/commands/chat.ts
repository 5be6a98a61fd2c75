/** `parlance chat`: a conversation in the terminal, or one message from a script. */
import { fstatSync } from 'node:fs';
import { approveFrom } from '../chat/approvals.ts';
import { CommandError, parseFlags, printStderr, SWITCH, TEXT } from '../command.ts';
import { SERVER_FLAGS, SERVER_HELP, type ServerAddress } from '../connection/address.ts';
import { type Connection, openConnection } from '../connection/open.ts';
import { safeLine } from '../terminal/safe-text.ts';

const USAGE = `Usage: parlance chat [MESSAGE]
       parlance chat -p MESSAGE [--json]
       COMMAND | parlance chat [-p MESSAGE]

Talks to an agent. With -p, or if input or output is not a terminal, it sends one message, writes
the answer and exits. What is piped in follows the message.

  -p, --print MESSAGE  the message of a script
  --json               one event per line instead of the text of the answer
  --session ID         continue a session, or begin one with this name
  -c, --continue       continue the last session
  -r, --resume         choose a session
  --agent NAME         the agent of the session
  --model NAME         the model of the session
  --approve WHEN       calls that need approval: ask (default), all: allow each once, never: deny
  --file PATH          attach an image or a text file; can be repeated

${SERVER_HELP}

Without a running server, an agent works in this process with the settings of parlance serve.

Exit codes: 0 answered, 1 the turn failed or reached its limit of steps, 2 wrong usage, 3 a call needs approval, 4 the server cannot
be reached or needs a login, 130 interrupted, 141 nobody reads the output.`;

export async function chat(argv: readonly string[]): Promise<number> {
  const { values, positionals } = parseFlags(argv, {
    ...SERVER_FLAGS,
    print: { ...TEXT, short: 'p' },
    json: SWITCH,
    session: TEXT,
    continue: { ...SWITCH, short: 'c' },
    resume: { ...SWITCH, short: 'r' },
    agent: TEXT,
    model: TEXT,
    approve: TEXT,
    file: { ...TEXT, multiple: true },
  });
  if (values.help) {
    console.log(USAGE);
    return 0;
  }
  const approve = approveFrom(values.approve);
  const { agent, model, print, json = false } = values;
  if ([values.session, values.continue, values.resume].filter(Boolean).length > 1)
    throw new CommandError('--session, --continue and --resume exclude each other', 2);
  if (values.session === '') throw new CommandError('--session needs a value', 2);
  const isScript = print !== undefined || json || !process.stdin.isTTY || !process.stdout.isTTY;
  if (isScript && values.resume) throw new CommandError('--resume needs a terminal: use --session', 2);
  if (!isScript && process.env.TERM === 'dumb')
    throw new CommandError('this terminal (TERM=dumb) cannot show a conversation: use -p', 2);
  const message = [...(print === undefined ? [] : [print]), positionals.join(' ')].filter(Boolean).join(' ');
  const text = isScript ? withPiped(message, await pipedInput()) : message;
  if (isScript && text.trim() === '' && !values.file)
    throw new CommandError('there is no message: use -p', 2);

  // Loaded while the server answers.
  const app = isScript ? null : import('../chat/app.ts');
  const connection = await openConnection(values, isScript ? {} : { signIn: signInHere });
  try {
    const session = values.continue ? await recentSession(connection) : (values.session ?? null);
    const common = { settings: { agent, model }, session, approve };
    if (app === null) {
      const { url, about } = connection;
      if (url !== null && process.stderr.isTTY)
        printStderr(`parlance: ${url} as ${safeLine(about.principal.id)}`);
      const { runScript } = await import('../chat/script.ts');
      return await runScript(connection, { ...common, text, files: values.file ?? [], json });
    }
    const { ChatApp } = await app;
    const files = (values.file ?? []).map((path) => `@"${path}"`);
    const message = [text, ...files].filter(Boolean).join(' ');
    return await new ChatApp(connection, { ...common, pick: values.resume ?? false, message }).run();
  } finally {
    await connection.close();
  }
}

async function signInHere(server: ServerAddress): Promise<string> {
  const { signInAndStore } = await import('../connection/login-prompt.ts');
  return signInAndStore(server);
}

const withPiped = (message: string, piped: string): string =>
  [message, piped.trimEnd()].filter((part) => part !== '').join('\n\n');

/** Larger input is not a message. */
const MAX_PIPED_BYTES = 4 * 1024 * 1024;

/** Input from a pipe or a file; empty for a terminal or `/dev/null`. */
async function pipedInput(): Promise<string> {
  const input = fstatSync(0, { throwIfNoEntry: false } as object);
  if (process.stdin.isTTY || !(input?.isFIFO() || input?.isFile() || input?.isSocket())) return '';
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of Bun.stdin.stream()) {
    size += chunk.length;
    if (size > MAX_PIPED_BYTES) throw new CommandError('standard input is longer than 4 MB', 2);
    chunks.push(chunk);
  }
  return new TextDecoder().decode(Buffer.concat(chunks));
}

// Finds the most recently changed session.

async function recentSession({ parlance, about }: Connection): Promise<string> {
  // Admins also see sessions of other users.
  for await (const { id, owner } of parlance.sessions.all({ limit: 50 }))
    if (owner === about.principal.id) return id;
  throw new CommandError('there is no session to continue', 1);
}
