/** A view of this machine with our folders mounted at the paths of the image. */
import { lstatSync, readdirSync, readlinkSync } from 'node:fs';
import { homedir } from 'node:os';

/** path in the image → folder here */
export type Mounts = Readonly<Record<string, string>>;

/**
 * The command prefix. `writable` is for building: all mounts and npm's cache; otherwise only /data and the
 * like are writable.
 */
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

/** Like compose.yaml: that user, without privileges or a way to gain them. */
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
