/** `parlance backup`: a consistent copy of a data folder, even while a server uses it. */
import { randomUUID } from 'node:crypto';
import {
  chmodSync,
  closeSync,
  copyFileSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import {
  type Contents,
  checkedContents,
  copyDatabase,
  DATABASE_FILE,
  SECRET_FILE,
} from '@parlance/server/data';
import { counted } from '@parlance/ui/chat/cost.ts';
import { CommandError, FOLDER_FLAGS, parseFlags, SWITCH, showUsage } from '../command.ts';
import { existingDataFolder } from '../connection/data-folder.ts';
import { configuredDatabase } from '../connection/storage.ts';

const USAGE = `Usage: parlance backup TARGET [--data FOLDER]
       parlance backup --check TARGET

Copies the data folder to TARGET, also while a server runs on it, and checks the copy.
TARGET is a data folder itself: to restore it, start a server on a copy. A TARGET that
ends in .db is the database alone, without the secret that signs tokens. --check checks
a backup, or any data folder, and changes nothing.`;

const OF_A_DATABASE =
  'back up a shared database with PostgreSQL tools: pg_dump -Fc, or pgBackRest with WAL; use --data to back up a folder';

export async function backup(argv: readonly string[]): Promise<number> {
  const { values, positionals } = parseFlags(argv, { ...FOLDER_FLAGS, check: SWITCH });
  const [target, extra] = positionals;
  if (values.help || target === undefined) return showUsage(USAGE, values.help);
  if (extra !== undefined) throw new CommandError('backup takes only one target', 2);
  const path = resolve(target);
  if (values.check) {
    console.log(`${target} is intact: ${summary(check(path))}`);
    return 0;
  }
  if (configuredDatabase(values) !== null) throw new CommandError(OF_A_DATABASE, 2);
  const folder = existingDataFolder(values);
  const contents = made(folder, path, target);
  console.log(`backed up ${summary(contents)} to ${target}`);
  if (isFile(path)) console.log('the secret that signs tokens is not included');
  else if (!existsSync(join(folder, SECRET_FILE)))
    console.log('the data folder has no secret: back up AUTH_SECRET separately');
  return 0;
}

const isFile = (path: string): boolean => path.endsWith('.db');
const summary = ({ sessions, events }: Contents): string =>
  `${counted(sessions, 'session')} with ${counted(events, 'event')}`;

function check(path: string): Contents {
  const found = statSync(path, { throwIfNoEntry: false });
  if (!found) throw new CommandError(`nothing found at ${path}`, 1);
  if (!found.isDirectory()) return checkedContents(path);
  const database = join(path, DATABASE_FILE);
  if (!existsSync(database)) throw new CommandError(`no database in ${path}`, 1);
  return checkedContents(database);
}

function refuseExisting(path: string, target: string): void {
  const found = statSync(path, { throwIfNoEntry: false });
  const isEmptyFolder = found?.isDirectory() && !isFile(path) && readdirSync(path).length === 0;
  if (found && !isEmptyFolder) throw new CommandError(`${target} already exists`, 1);
}

/**
 * Writes to a temporary location, checks and then moves it, so that the target is either complete or missing.
 */
function made(folder: string, path: string, target: string): Contents {
  const draft = `${path}.${process.pid}.${randomUUID()}.part`;
  try {
    removeAbandoned(path);
    refuseExisting(path, target);
    const guard = removeAfterKill(draft);
    try {
      mkdirSync(draft, { recursive: true, mode: 0o700 });
      return moved(folder, draft, path);
    } finally {
      rmSync(draft, { recursive: true, force: true });
      guard.kill('SIGKILL');
    }
  } catch (error) {
    throw inOneLine(error, draft, target);
  }
}

/**
 * A process that removes the draft when this one is gone, however it ended: its input ends then. In a session of its own,
 * so that signals to the group of this process do not end it.
 */
function removeAfterKill(draft: string): Bun.Subprocess {
  const script = 'trap "" HUP INT TERM; read -r _; exec rm -rf -- "$1"';
  return Bun.spawn(['/bin/sh', '-c', script, 'sh', draft], {
    ...{ stdin: 'pipe', stdout: 'ignore', stderr: 'ignore', detached: true },
  });
}

/** Removes what backups to this target have left that ended with their whole machine or container. */
function removeAbandoned(path: string): void {
  if (!existsSync(dirname(path))) return;
  for (const name of readdirSync(dirname(path))) {
    const [, pid] = (name.startsWith(basename(path)) && DRAFT.exec(name.slice(basename(path).length))) || [];
    if (pid !== undefined && !isRunning(Number(pid)))
      rmSync(join(dirname(path), name), { recursive: true, force: true });
  }
}

const DRAFT = /^\.(\d+)\.[0-9a-f-]{36}\.part$/;

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}

function moved(folder: string, draft: string, path: string): Contents {
  const database = join(draft, DATABASE_FILE);
  copyDatabase(folder, database);
  if (!isFile(path)) copySecret(folder, draft);
  const contents = checkedContents(database);
  for (const name of readdirSync(draft)) sync(join(draft, name));
  sync(draft);
  renameSync(isFile(path) ? database : draft, path);
  sync(dirname(path));
  return contents;
}

function copySecret(folder: string, draft: string): void {
  const [from, to] = [join(folder, SECRET_FILE), join(draft, SECRET_FILE)];
  if (!existsSync(from)) return;
  copyFileSync(from, to);
  chmodSync(to, 0o600);
}

function sync(path: string): void {
  const file = openSync(path, 'r');
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

/** Reports the target instead of the temporary file, which is gone by then. */
function inOneLine(error: unknown, draft: string, target: string): unknown {
  if (!(error instanceof Error) || error instanceof CommandError) return error;
  const [reason = ''] = error.message.split(',', 1);
  const message =
    'syscall' in error ? `${target} cannot be written (${reason})` : error.message.replaceAll(draft, target);
  return new CommandError(message, 1, { cause: error });
}
