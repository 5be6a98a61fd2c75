/** `parlance pair CODE`: connects the browser extension that displays the code. */
import { createInterface } from 'node:readline/promises';
import { CommandError, parseFlags, SWITCH, showUsage } from '../command.ts';
import {
  noServer,
  SERVER_FLAGS,
  SERVER_HELP,
  type ServerAddress,
  serverAddress,
} from '../connection/address.ts';

const USAGE = `Usage: parlance pair CODE [--url URL] [--token TOKEN] [--yes]

Connects the browser extension whose side panel shows the code. It acts as you until you disconnect
it, in the settings of the console or in the side panel. If you signed in with parlance login, it is
also disconnected when that login ends: by its expiry, by parlance login --logout, or by signing in again.

${SERVER_HELP}
  --yes          do not ask whether the extension is the right one`;

type Pairing = { readonly name: string; readonly owner: string; readonly expiresAt?: string | null };
type Extension = { readonly name: string; readonly origin: string };

export async function pair(argv: readonly string[]): Promise<number> {
  const { values, positionals } = parseFlags(argv, { ...SERVER_FLAGS, yes: SWITCH });
  const [code, extra] = positionals;
  if (values.help || code === undefined) return showUsage(USAGE, values.help);
  if (extra !== undefined) throw new CommandError('pair takes one code', 2);
  const server = await serverAddress(values);
  if (!server) throw noServer();
  const found = await ask<Extension>(server, 'find', { code });
  if (!values.yes && !(await confirmed(found))) {
    await ask(server, 'answer', { code, allow: false });
    console.log(`denied ${found.name}`);
    return 1;
  }
  const { name, owner, expiresAt } = await ask<Pairing>(server, 'answer', { code, allow: true });
  const until = expiresAt ? ` until ${expiresAt.slice(0, 10)}` : '';
  console.log(`connected ${name} as ${owner}${until}`);
  return 0;
}

/** Asks only on a terminal. */
async function confirmed({ name, origin }: Extension): Promise<boolean> {
  if (!process.stdin.isTTY) return true;
  const lines = createInterface({ input: process.stdin, output: process.stdout });
  try {
    const answer = await lines.question(`Connect ${name} (${origin})? [Y/n] `);
    return !/^n/i.test(answer.trim());
  } finally {
    lines.close();
  }
}

async function ask<Answer>(
  { url, token, fetch }: ServerAddress,
  what: 'find' | 'answer',
  body: { readonly code: string; readonly allow?: boolean },
): Promise<Answer> {
  const headers = {
    'content-type': 'application/json',
    ...(token === null ? {} : { authorization: `Bearer ${token}` }),
  };
  const request = { method: 'POST', headers, body: JSON.stringify(body) };
  const response = await fetch(`${url}/v1/pairings/${what}`, request).catch((cause) => {
    throw new CommandError(`cannot reach ${url}: start the server, or name it with --url`, 1, { cause });
  });
  if (response.status === 204) return null as Answer;
  const answer = (await response.json().catch(() => ({}))) as { detail?: string };
  if (response.status === 401)
    throw new CommandError(`${url} requires a login: give --token, or run parlance login first`, 1);
  if (!response.ok) throw new CommandError(answer.detail ?? `${url} answered ${response.status}`, 1);
  return answer as Answer;
}
