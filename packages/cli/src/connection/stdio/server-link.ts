/** Connects stdio commands to a server: a running one, or an embedded one. */
import { CommandError } from '../../command.ts';
import { storedLogin } from '../logins.ts';

export type SocketEvents = {
  message(text: string): void;
  /** Called once, even if the socket never opened. */
  closed(reason: string): void;
};

export type LinkSocket = {
  /** Sends one frame. Frames sent before the socket is open wait for it. */
  send(frame: Buffer): void;
  close(): void;
};

export type ServerLink = {
  /** True if the server runs in this process and ends with the command. */
  readonly embedded: boolean;
  /** Requests a path such as `/mcp`, as the caller of this link. */
  fetch(path: string, init?: RequestInit): Promise<Response>;
  /** Opens a socket at a path such as `/acp`. */
  connect(path: string, events: SocketEvents): LinkSocket;
  /** Turns of an embedded server that have not ended within `graceMs` resume at its next start. */
  close(graceMs: number): Promise<void>;
};

type Flags = { url: string; token: string; readonly rest: string[] };

/**
 * With a URL (`--url` or `PARLANCE_URL`), connects to that server with the token of `--token` or
 * `PARLANCE_TOKEN`, or of `parlance login`; without a URL, starts a server with the settings of `parlance serve` in this process.
 */
export async function openServerLink(argv: readonly string[], env = process.env): Promise<ServerLink> {
  const { url, token, rest } = readFlags(argv, {
    url: env.PARLANCE_URL ?? '',
    token: env.PARLANCE_TOKEN ?? '',
    rest: [],
  });
  if (url === '') return (await import('./embedded-link.ts')).openEmbeddedLink(rest);
  if (rest.length > 0) throw new CommandError(`${rest[0]} is a setting of the server, which is at ${url}`, 2);
  const { openRemoteLink } = await import('./remote-link.ts');
  return openRemoteLink(url, token === '' ? (storedLogin(url)?.key ?? '') : token);
}

function readFlags(argv: readonly string[], flags: Flags): Flags {
  for (let index = 0; index < argv.length; index++) {
    const [, name, value] = /^--(url|token)(?:=(.*))?$/s.exec(argv[index] ?? '') ?? [];
    if (name !== 'url' && name !== 'token') flags.rest.push(argv[index] ?? '');
    else {
      const given = value ?? argv[++index];
      if (given === undefined) throw new CommandError(`--${name} needs a value`, 2);
      flags[name] = given;
    }
  }
  return flags;
}
