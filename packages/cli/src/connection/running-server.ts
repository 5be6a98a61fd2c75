/**
 * The server that uses a data folder, recorded in a file there: its socket, and the address of
 * `parlance serve`. The socket proves that the server is the user's own, since only the user can create and
 * open it: any program of any user can listen at an address. The file is removed on exit; one left by a
 * killed server is recognised by its process id.
 */
import { chmodSync, existsSync, lstatSync, openSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { isRegistered, registryIn } from '@parlance/server/data-folder';
import { readPrivate, writePrivate } from './private-file.ts';

export type RunningServer = {
  readonly folder: string;
  /** null for an embedded server */
  readonly url: string | null;
  /** Null if the path is too long for one, or for a server of an earlier version. */
  readonly socket: string | null;
};

/** Only its user can open it, since the data folder is private. */
export const socketIn = (folder: string): string => join(resolve(folder), SOCKET);

/** Requests a path such as `/v1/sessions`. */
type Answer = (path: string, init: RequestInit) => Promise<Response>;

const FILE = 'server.json';
const SOCKET = 'parlance.sock';
/** Systems allow 104 to 108. */
const MAX_SOCKET_BYTES = 100;

/**
 * Serves the socket of the data folder and records the server. `answer` handles the requests. Returns a
 * function that ends both. A folder that is not writable, or that cannot contain a socket, is not an error.
 */
export function shareServer(folder: string, url: string | null, answer: Answer): () => void {
  // A node with a shared database may have no data folder, and must not create one.
  if (!existsSync(folder)) return () => undefined;
  const path = join(folder, FILE);
  const socket = socketIn(folder);
  const stop = serveSocket(socket, answer);
  try {
    const server = { pid: process.pid, ...(url !== null && { url }), ...(stop && { socket }) };
    writePrivate(path, `${JSON.stringify(server)}\n`);
  } catch {
    stop?.();
    return () => undefined;
  }
  return () => {
    if (readServer(folder)?.pid === process.pid) rmSync(path, { force: true });
    stop?.();
  };
}

/** Null if the socket cannot be served. */
function serveSocket(socket: string, answer: Answer): (() => void) | null {
  const removeSocket = () => {
    if (lstatSync(socket, { throwIfNoEntry: false })?.isSocket()) rmSync(socket, { force: true });
  };
  try {
    const unix = shortPath(socket);
    if (unix === null) return null;
    // It may have been left by a killed process.
    removeSocket();
    const listener = Bun.serve({
      unix,
      development: false,
      fetch(request, server) {
        // Streams may be silent for longer than the idle timeout.
        server.timeout(request, 0);
        const { pathname, search } = new URL(request.url);
        const { method, headers, body, signal } = request;
        return answer(pathname + search, { method, headers, body, signal });
      },
    });
    chmodSync(socket, 0o600);
    return () => {
      void listener.stop(true);
      removeSocket();
    };
  } catch {
    // Some file systems have no sockets.
    return null;
  }
}

/** Rejects unless the server with this socket answers: nothing is sent to anybody else. */
export async function fetchOver(socket: string, path: string, init: RequestInit): Promise<Response> {
  const unix = shortPath(socket);
  if (unix === null) throw new Error('the path of the data folder is too long');
  return fetch(`http://localhost${path}`, { ...init, unix });
}

/** Open descriptors of data folders, by path. They stay open, since sockets are opened again and again. */
const descriptors = new Map<string, number>();

/** A path of the socket that fits into an address, or null. */
function shortPath(socket: string): string | null {
  if (Buffer.byteLength(socket) <= MAX_SOCKET_BYTES) return socket;
  if (process.platform !== 'linux') return null;
  const folder = resolve(socket, '..');
  const descriptor = descriptors.get(folder) ?? openSync(folder, 'r');
  descriptors.set(folder, descriptor);
  return `/proc/self/fd/${descriptor}/${SOCKET}`;
}

/** Null if no server is running. Ignores a default data folder that came with foreign files. */
export function runningServer(folder: string, isNamed: boolean): RunningServer | null {
  if (!isNamed && !isRegistered(folder, registryIn(process.env))) return null;
  const found = readServer(folder);
  return found && isAlive(found.pid) ? found.server : null;
}

/** The running servers of this user, whatever their data folders are. */
export function* ownServers(): Generator<RunningServer> {
  const registry = registryIn(process.env);
  if (registry === null || !existsSync(registry)) return;
  for (const id of readdirSync(registry)) {
    const folder = readFileSync(join(registry, id), 'utf8');
    const server = runningServer(folder, false);
    if (server) yield server;
  }
}

function readServer(folder: string): { readonly pid: number; readonly server: RunningServer } | null {
  try {
    const value = JSON.parse(readPrivate(join(folder, FILE)) ?? 'null');
    if (!Number.isInteger(value?.pid)) return null;
    const url = typeof value.url === 'string' && URL.canParse(value.url) ? value.url : null;
    const socket = typeof value.socket === 'string' ? socketIn(folder) : null;
    return url === null && socket === null ? null : { pid: value.pid, server: { folder, url, socket } };
  } catch {
    return null;
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}
