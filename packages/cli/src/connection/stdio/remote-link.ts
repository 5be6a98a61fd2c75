/** A running server, by its URL. */
import { CommandError } from '../../command.ts';
import type { LinkSocket, ServerLink, SocketEvents } from './server-link.ts';

/** Maximum bytes of frames waiting for a socket to open. */
const MAX_WAITING_BYTES = 64 * 1024 * 1024;

export function openRemoteLink(url: string, token: string): ServerLink {
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
