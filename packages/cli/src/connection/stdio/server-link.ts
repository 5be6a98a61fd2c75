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

// A running server, by its URL.

/** Maximum bytes of frames waiting for a socket to open. */
const MAX_WAITING_BYTES = 64 * 1024 * 1024;

function openRemoteLink(url: string, token: string): ServerLink {
  const base = baseOf(url);
  const authorization: Record<string, string> = token === '' ? {} : { authorization: `Bearer ${token}` };
  return {
    embedded: false,
    fetch(path, init = {}) {
      const headers = new Headers(init.headers);
      for (const [name, value] of Object.entries(authorization)) headers.set(name, value);
      return fetch(base + path, { ...init, headers });
    },
    connect: (path, events) => openSocket(base.replace('http', 'ws') + path, authorization, events),
    close: async () => undefined,
  };
}

/** Without a trailing slash; a path is a prefix of the server's routes. */
function baseOf(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:')
    throw new CommandError(`PARLANCE_URL must be an http or https URL, not "${text}"`, 2);
  return (url.origin + url.pathname).replace(/\/+$/, '');
}

function openSocket(url: string, headers: Record<string, string>, events: SocketEvents): LinkSocket {
  const socket = new WebSocket(url, { headers });
  let waiting: Buffer[] = [];
  let bytes = 0;
  let isOver = false;
  const over = (reason: string) => {
    if (isOver) return;
    isOver = true;
    waiting = [];
    events.closed(reason);
  };
  socket.addEventListener('open', () => {
    for (const frame of waiting) socket.send(frame);
    waiting = [];
  });
  socket.addEventListener('message', ({ data }) => {
    if (!isOver) events.message(String(data));
  });
  socket.addEventListener('close', ({ reason }) => over(reason || 'The connection to the server was lost.'));
  socket.addEventListener('error', () => over('The server cannot be reached.'));
  return {
    send(frame) {
      if (isOver) return;
      if (socket.readyState === WebSocket.OPEN) return void socket.send(frame);
      bytes += frame.length;
      if (bytes > MAX_WAITING_BYTES) return over('Too many messages are waiting for the server.');
      waiting.push(frame);
    },
    close() {
      isOver = true;
      socket.close();
    },
  };
}
