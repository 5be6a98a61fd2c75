/**
 * The server that uses a data folder, recorded in a file there: `parlance serve` by its address, an embedded
 * one by its socket. The file is removed on exit; one left by a killed server is recognised by its process
 * id.
 */
import { existsSync, lstatSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { isRegistered, registryIn } from '@parlance/server/data-folder';
import { readPrivate, writePrivate } from './private-file.ts';

export type RunningServer = { readonly url: string } | { readonly socket: string };

const FILE = 'server.json';

/** Returns a function that removes the file. A folder that is not writable is not an error. */
export function announceServer(folder: string, server: RunningServer): () => void {
  const path = join(folder, FILE);
  // A node with a shared database may have no data folder, and must not create one.
  if (!existsSync(folder)) return () => undefined;
  try {
    writePrivate(path, `${JSON.stringify({ pid: process.pid, ...server })}\n`);
  } catch {
    return () => undefined;
  }
  return () => {
    if (readServer(folder)?.pid === process.pid) rmSync(path, { force: true });
  };
}

/** Null if no server is running. Ignores a default data folder that came with foreign files. */
export function runningServer(folder: string, isNamed: boolean): RunningServer | null {
  if (!isNamed && !isRegistered(folder, registryIn(process.env))) return null;
  const found = readServer(folder);
  return found && isAlive(found.pid) ? found.server : null;
}

/** The socket of an embedded server; null if the path is too long for one. */
export function socketIn(folder: string): string | null {
  const path = join(resolve(folder), 'parlance.sock');
  return Buffer.byteLength(path) > MAX_SOCKET_BYTES ? null : path;
}

/** Removes the socket left by a killed process. */
export function removeSocket(path: string): void {
  if (lstatSync(path, { throwIfNoEntry: false })?.isSocket()) rmSync(path, { force: true });
}

/** Systems allow 104 to 108. */
const MAX_SOCKET_BYTES = 100;

function readServer(folder: string): { readonly pid: number; readonly server: RunningServer } | null {
  try {
    const value = JSON.parse(readPrivate(join(folder, FILE)) ?? 'null');
    if (!Number.isInteger(value?.pid)) return null;
    if (typeof value.url === 'string' && URL.canParse(value.url))
      return { pid: value.pid, server: { url: value.url } };
    return typeof value.socket === 'string' ? { pid: value.pid, server: { socket: value.socket } } : null;
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
