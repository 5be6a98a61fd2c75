/** A view of this machine with our folders mounted at the paths of the image. */
import { lstatSync, readdirSync, readlinkSync } from 'node:fs';
import { homedir } from 'node:os';

/** path in the image → folder here */
export type Mounts = Readonly<Record<string, string>>;

/** What to put before a command. `writable` is for building: all mounts, and npm's cache; else /data and the like alone. */
export function enter(mounts: Mounts, { writable }: { readonly writable: boolean }): string[] {
  const words = ['bwrap', '--die-with-parent'];
  for (const name of readdirSync('/')) {
    const path = `/${name}`;
    if (path in mounts || ['proc', 'dev', 'tmp'].includes(name)) continue;
    if (lstatSync(path).isSymbolicLink()) words.push('--symlink', readlinkSync(path), path);
    else words.push('--ro-bind', path, path);
  }
  words.push('--proc', '/proc', '--dev', '/dev', '--perms', '1777', '--tmpfs', '/tmp');
  for (const [path, folder] of Object.entries(mounts))
    words.push(path === '/app' && !writable ? '--ro-bind' : '--bind', folder, path);
  if (writable) words.push('--bind', homedir(), homedir());
  else words.push('--remount-ro', '/');
  return [...words, '--chdir', '/app', '--'];
}

/** As compose.yaml runs it: that user, no privilege, none to be had. */
export const unprivileged = (user: string): string[] => {
  const [uid = '', gid = uid] = user.split(':');
  return [
    'setpriv',
    '--reuid',
    uid,
    '--regid',
    gid,
    '--clear-groups',
    '--no-new-privs',
    '--bounding-set=-all',
  ];
};
