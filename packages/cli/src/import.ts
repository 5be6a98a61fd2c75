/**
 * `parlance import`: imports sessions written by `parlance export`, or the complete contents of a data folder
 * or database.
 */
import { createReadStream, mkdtempSync, rmSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PrincipalId, SessionId } from '@parlance/protocol';
import {
  checkSessions,
  type ReadSession,
  readSessions,
  type SessionRef,
  writeSession,
} from '@parlance/server/data';
import { openStorage, type StorageLocation } from '@parlance/server/storage';
import { CommandError } from './command-error.ts';
import { counted } from './counted.ts';
import { parseFlags, STORAGE_FLAGS, TEXT } from './flags.ts';
import { linesOf } from './lines.ts';
import { openConfigured, type StorageFlags, storageAt } from './storage.ts';

const USAGE = `Usage: parlance import [FILE] [--owner NAME] [--as ID] [--resume] [--data FOLDER]
       parlance import FOLDER --database URL
       parlance import URL --data FOLDER

Reads sessions written by parlance export, from FILE or standard input. Every line is
checked before anything is written. --owner sets the owner, --as the name of a single
session. An identical session is skipped; a different one of the same name stops the
import.

A file may come from anyone, so an unfinished turn ends (the outcome of a running call is
unknown), queued messages, standing grants and the approval mode are dropped, and its
messages and results are untrusted content. --resume keeps all as it was, for a file of
your own: approved commands of an unfinished turn then run at the next start, and grants
and full-auto apply.

With a data folder or a postgres:// URL instead of a file, everything is copied:
sessions with their unfinished turns, share links, users, API keys, preferences, revoked tokens and the settings made in
the console, but no ephemeral sessions. Existing entries of the target are kept. The secret
that signs tokens is not copied: users must log in again unless AUTH_SECRET is set.

With --database URL, or DATABASE_URL, the target is that database, unless --data names
a folder.`;

export async function importSessions(argv: readonly string[]): Promise<number> {
  const { values, positionals } = parseFlags(argv, {
    ...STORAGE_FLAGS,
    owner: TEXT,
    as: TEXT,
    resume: { type: 'boolean' },
  });
  if (values.help) {
    console.log(USAGE);
    return 0;
  }
  const [file, extra] = positionals;
  if (extra !== undefined) throw new CommandError('import takes only one file', 2);
  const place = file === undefined ? null : storageAt(file);
  if (place) {
    const flag = ['owner', 'as', 'resume'].find((name) => Object.hasOwn(values, name));
    if (flag !== undefined) throw new CommandError(`--${flag} is for files`, 2);
    return copied(place, values);
  }
  const renamed = renaming(values.owner, values.as);
  using source = file === undefined || file === '-' ? await bufferedInput() : await fileAt(file);
  const sessions = () => {
    const read = readSessions(linesOf(createReadStream(source.path)), renamed, {
      resume: values.resume === true,
    });
    return values.as === undefined ? read : onlyOne(read);
  };
  const store = await openConfigured(values, true);
  try {
    const count = await checkSessions(store, sessions());
    if (count === 0) throw new CommandError('no session to import', 1);
    for await (const session of sessions()) {
      const { ref, events } = session;
      const name = `session ${ref.id} of ${ref.owner}`;
      if (await writeSession(store, session))
        console.log(`imported ${name} with ${counted(events.length, 'event')}`);
      else console.log(`${name} already exists`);
    }
  } finally {
    await store.close();
  }
  return 0;
}

async function copied(place: StorageLocation, flags: StorageFlags): Promise<number> {
  const { copyAll } = await import('./move.ts');
  const from = await openStorage(place);
  try {
    const to = await openConfigured(flags, true);
    try {
      const copied = await copyAll(from, to);
      const { sessions, events, users, keys, shares, preferences, settings } = copied;
      console.log(
        `copied ${counted(sessions, 'session')} with ${counted(events, 'event')}, ${counted(users, 'user')}, ${counted(keys, 'API key')},`,
      );
      console.log(
        `${counted(shares, 'share link')}, the preferences of ${counted(preferences, 'user')} and ${counted(settings, 'stored setting')}`,
      );
      console.log('existing data is unchanged');
      if (copied.unreadable)
        console.log(
          'the model, its keys and other settings of the console were not copied: they are encrypted with another\nAUTH_SECRET. Set it and import again, or enter them at the target.',
        );
    } finally {
      await to.close();
    }
  } finally {
    await from.close();
  }
  return 0;
}

function renaming(owner: string | undefined, id: string | undefined): (ref: SessionRef) => SessionRef {
  const newOwner = PrincipalId.optional().safeParse(owner);
  if (!newOwner.success) throw new CommandError('--owner must have 1 to 100 characters', 2);
  const newId = SessionId.optional().safeParse(id);
  if (!newId.success) throw new CommandError('--as must have 1 to 200 printable characters', 2);
  return (ref) => ({ owner: newOwner.data ?? ref.owner, id: newId.data ?? ref.id });
}

async function* onlyOne(sessions: AsyncIterable<ReadSession>): AsyncGenerator<ReadSession> {
  let first = true;
  for await (const session of sessions) {
    if (!first)
      throw new CommandError(
        `line ${session.line}: --as requires a single session, but this is a second one`,
        1,
      );
    first = false;
    yield session;
  }
}

type Source = Disposable & { readonly path: string };

async function fileAt(path: string): Promise<Source> {
  try {
    await (await open(path)).close();
  } catch (error) {
    const reason = error instanceof Error ? error.message.split(',', 1)[0] : String(error);
    throw new CommandError(`${path} cannot be read (${reason})`, 1, { cause: error });
  }
  return { path, [Symbol.dispose]: () => undefined };
}

/** Reads the input twice, to check everything before writing; buffers piped input for that. */
async function bufferedInput(): Promise<Source> {
  const folder = mkdtempSync(join(tmpdir(), 'parlance-import-'));
  const remove = () => rmSync(folder, { recursive: true, force: true });
  try {
    const path = join(folder, 'input');
    await using file = await open(path, 'wx', 0o600);
    for await (const chunk of Bun.stdin.stream()) await file.writeFile(chunk);
    return { path, [Symbol.dispose]: remove };
  } catch (error) {
    remove();
    throw error;
  }
}
