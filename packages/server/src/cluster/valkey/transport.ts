/** The transport between the nodes of a cluster, over Valkey or Redis. */

import { connect, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { PubSubTransport, type TransportOptions } from '../pub-sub-transport.ts';
import type { Transport } from '../transport.ts';
import { deadline, ValkeyPubSub, type ValkeyServer } from './pub-sub.ts';

export type ValkeyOptions = TransportOptions & { readonly server: ValkeyServer };

/**
 * Resolves after the first connection attempt. If the server cannot be reached, the node starts without it
 * and connects as soon as possible. Rejects if the server refuses the password, or its certificate is not
 * trusted.
 */
export async function openValkeyTransport({ server, ...options }: ValkeyOptions): Promise<Transport> {
  let firstAttempt: Promise<Error | null> = Promise.resolve(null);
  const transport = new PubSubTransport(options, (channels, events) => {
    const pubSub = new ValkeyPubSub(server, channels, events);
    firstAttempt = pubSub.firstAttempt;
    return pubSub;
  });
  const failure = await firstAttempt;
  if (!failure) return transport;
  const { reason, permanent } = await diagnose(server, failure);
  if (permanent && !transport.up) {
    await transport.close();
    throw new Error(`REDIS_URL: ${reason}`, { cause: failure });
  }
  options.log.warn({ reason }, 'bus unreachable');
  return transport;
}

// Diagnoses why a server cannot be used: the client reports every connection failure as a closed connection.

type Diagnosis = {
  readonly reason: string;
  /** The settings are wrong: retrying does not help. */
  readonly permanent: boolean;
};

const MAX_MS = 2_000;
const DEFAULT_PORT = 6379;
/** System error codes that mean the server is unreachable. TLS errors have other codes. */
const AWAY = /^E(CONN|HOST|NET|NOTFOUND|AI_AGAIN|TIMEDOUT|PIPE)/;

async function diagnose(server: ValkeyServer, failure: Error): Promise<Diagnosis> {
  if (failure.message.startsWith('NOPERM')) return { reason: failure.message, permanent: true };
  const sockets: Socket[] = [];
  try {
    return await deadline(tryOut(server, sockets), MAX_MS);
  } catch (thrown) {
    const { code = '', message } = thrown as NodeJS.ErrnoException;
    const away = message.startsWith('no response') || AWAY.test(code);
    return { reason: code && !message.includes(code) ? `${message} (${code})` : message, permanent: !away };
  } finally {
    for (const socket of sockets) socket.destroy();
  }
}

async function tryOut(server: ValkeyServer, sockets: Socket[]): Promise<Diagnosis> {
  const url = new URL(server.url);
  const secure = /^(rediss|valkeys|redis\+tls|valkey\+tls):$/.test(url.protocol);
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const port = Number(url.port || DEFAULT_PORT);
  const socket = secure ? connectTls({ host, port, ca: server.authority }) : connect({ host, port });
  sockets.push(socket);
  await happens(socket, secure ? 'secureConnect' : 'connect');
  const [user, password] = [url.username, url.password].map(decodeURIComponent);
  if (password) socket.write(encode(['AUTH', ...(user ? [user] : []), password]));
  socket.write(encode(['PING']));
  const answer = await firstAnswer(socket);
  if (answer === null)
    return {
      reason: 'the server closed the connection: use rediss:// for a server with TLS',
      permanent: !secure,
    };
  const refused = /^-(WRONGPASS|NOAUTH|NOPERM|ERR)/.test(answer);
  return { reason: answer.startsWith('-') ? answer.slice(1) : 'connection closed', permanent: refused };
}

const encode = (parts: readonly string[]): string =>
  `*${parts.length}\r\n${parts.map((part) => `$${Buffer.byteLength(part)}\r\n${part}\r\n`).join('')}`;

const happens = (socket: Socket, event: string): Promise<void> =>
  new Promise((resolve, reject) => {
    socket.once(event, () => resolve());
    socket.once('error', reject);
  });

/** The first line that the server sends; null if it closes the connection. */
const firstAnswer = (socket: Socket): Promise<string | null> =>
  new Promise((resolve) => {
    let text = '';
    socket.on('data', (chunk) => {
      text += chunk.toString();
      const end = text.indexOf('\r\n');
      if (end >= 0) resolve(text.slice(0, end));
    });
    for (const event of ['error', 'close']) socket.once(event, () => resolve(null));
  });
