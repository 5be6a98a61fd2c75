/** `parlance login`: signs in to a server, for `parlance chat` and other commands. */
import { connect, ParlanceError } from '@parlance/sdk';
import { CommandError, parseFlags, SWITCH, TEXT } from '../command.ts';
import {
  defaultUrl,
  noServer,
  SERVER_FLAGS,
  type ServerAddress,
  serverAddress,
} from '../connection/address.ts';
import { signInAndStore } from '../connection/login-prompt.ts';
import { forgetLogin, storedLogin, storedUrls } from '../connection/logins.ts';
import { columns } from '../terminal/layout.ts';

const USAGE = `Usage: parlance login [--url URL] [--user NAME]

Asks for name and password, and stores an API key for that server in the configuration folder
(~/.config/parlance/logins.json, mode 0600). The key is valid for 90 days. It is listed with the
API keys of the user, where it can be revoked.

  --url URL     the server (PARLANCE_URL). Without it: your server that uses the data folder, or else
                your server at http://127.0.0.1:3000 (HOST, PORT)
  --user NAME   do not ask for the name
  --logout      revoke the key of that server and forget it
  --list        list the stored logins

The password is read from standard input if it is not a terminal.`;

export async function login(argv: readonly string[]): Promise<number> {
  const { values, positionals } = parseFlags(argv, {
    ...SERVER_FLAGS,
    user: TEXT,
    logout: SWITCH,
    list: SWITCH,
  });
  if (values.help) return print(USAGE);
  if (positionals.length > 0) throw new CommandError('login takes no argument', 2);
  if (values.list) return print(listed());
  const server = await serverAddress(values);
  if (values.logout) return logout(server);
  if (!server) throw noServer();
  await signInAndStore(server, { user: values.user });
  const { url } = server;
  const stored = storedLogin(url);
  return print(`signed in at ${url} as ${stored?.user} until ${stored?.expiresAt.slice(0, 10)}`);
}

/** Without a server, the login at the default address is forgotten. */
async function logout(server: ServerAddress | null): Promise<number> {
  const { url, fetch } = server ?? { url: defaultUrl(), fetch: () => Promise.reject(noServer()) };
  const stored = storedLogin(url);
  if (!stored) {
    forgetLogin(url);
    return print(`not signed in at ${url}`);
  }
  const parlance = connect({ url, fetch, token: stored.key, attempts: 2 });
  const problem = await parlance.keys.revoke(stored.id).then(
    () => null,
    (error: unknown) => error,
  );
  forgetLogin(url);
  // A key that the server does not know counts as revoked.
  const isGone = problem instanceof ParlanceError && ['unauthenticated', 'not_found'].includes(problem.code);
  if (problem === null || isGone) return print(`signed out at ${url}`);
  throw new CommandError(`removed the login, but its key ${stored.id} could not be revoked at ${url}`, 4, {
    cause: problem,
  });
}

function listed(): string {
  const rows = storedUrls().map((url) => {
    const login = storedLogin(url);
    return [url, login?.user ?? '', login ? `until ${login.expiresAt.slice(0, 10)}` : 'expired'];
  });
  return rows.length === 0 ? 'no stored logins' : columns(rows);
}

function print(text: string): number {
  console.log(text);
  return 0;
}
