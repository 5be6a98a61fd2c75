/**
 * `parlance import`: imports sessions written by `parlance export`, or the complete contents of a data folder
 * or database.
 */

import { createReadStream, mkdtempSync, rmSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PrincipalId, PrincipalId as PrincipalIdSchema, SessionId } from '@parlance/protocol';
import {
  checkSessions,
  exportedLines,
  type ReadSession,
  readSessions,
  type SessionRef,
  writeSession,
} from '@parlance/server/data';
import { copySettings, openStorage, type Storage, type StorageLocation } from '@parlance/server/storage';
import { counted } from '@parlance/ui/chat/cost.ts';
import { CommandError, parseFlags, STORAGE_FLAGS, TEXT } from '../command.ts';
import { openConfigured, type StorageFlags, storageAt } from '../connection/storage.ts';
import { everySession } from './every-session.ts';

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

// Reads a stream line by line.

/** Larger than any event, to bound memory. */
const MAX_BYTES = 64 * 1024 * 1024;

/** A trailing line feed starts no line. Throws with the line number if a line is too long or not UTF-8. */
async function* linesOf(chunks: AsyncIterable<Uint8Array>, maxBytes = MAX_BYTES): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  let pieces: Uint8Array[] = [];
  let size = 0;
  let number = 1;

  function add(piece: Uint8Array): void {
    size += piece.length;
    if (size > maxBytes) throw new CommandError(`line ${number}: longer than ${maxBytes} bytes`, 1);
    pieces.push(piece);
  }
  function take(): string {
    const bytes = Buffer.concat(pieces);
    pieces = [];
    size = 0;
    try {
      return decoder.decode(bytes);
    } catch (error) {
      throw new CommandError(`line ${number}: not valid UTF-8`, 1, { cause: error });
    }
  }

  for await (const chunk of chunks) {
    let from = 0;
    for (let at = chunk.indexOf(0x0a); at >= 0; at = chunk.indexOf(0x0a, from)) {
      add(chunk.subarray(from, at));
      yield take();
      number++;
      from = at + 1;
    }
    if (from < chunk.length) add(chunk.subarray(from));
  }
  if (size > 0) yield take();
}

// Copies everything from one store to another: from a data folder to a database, or back.

/** Above any real number per user or session. */
const NO_LIMIT = 1_000_000;

type CopyCounts = {
  sessions: number;
  events: number;
  users: number;
  keys: number;
  preferences: number;
  /** share links */
  shares: number;
  /** documents, such as the stored setup and the prices */
  settings: number;
  /** the stored setup is encrypted with an unknown secret and was not copied */
  unreadable: boolean;
};

/**
 * Checks sessions before writing: throws `invalid` if the target has a different session of the same name.
 * Existing data of the target is kept, so copying again only adds new data.
 */
async function copyAll(from: Storage, to: Storage): Promise<CopyCounts> {
  await checkSessions(to, sessionsOf(from));
  const copied: CopyCounts = {
    sessions: 0,
    events: 0,
    users: 0,
    keys: 0,
    preferences: 0,
    shares: 0,
    settings: 0,
    unreadable: false,
  };
  const owners = new Set<PrincipalId>([PrincipalIdSchema.parse('local')]);
  for (const user of await from.everyone()) {
    owners.add(PrincipalIdSchema.parse(user.name));
    if ((await to.find(user.name)) !== null) continue;
    await to.put(user);
    copied.users++;
    for (const key of await from.apiKeys.list(user.name))
      if ((await to.apiKeys.find(key.id)) === null && (await to.apiKeys.add(key, NO_LIMIT)) === 'added')
        copied.keys++;
    for (const pairing of await from.pairings.list(user.name)) await to.pairings.add(pairing);
  }
  // Pairings of open mode, unless the target has its own: one revoked there stays revoked.
  if ((await to.pairings.list(null)).length === 0)
    for (const pairing of await from.pairings.list(null)) await to.pairings.add(pairing);
  for await (const session of sessionsOf(from)) {
    owners.add(session.ref.owner);
    if (!(await writeSession(to, session))) continue;
    copied.sessions++;
    copied.events += session.events.length;
    copied.shares += await copyShares(from, to, session.ref);
  }
  // Otherwise a revoked token would be valid again if both use the same AUTH_SECRET.
  for (const { id, until } of await from.revocations.list()) await to.revocations.add(id, until);
  for (const owner of owners) {
    const value = await from.preferences.get(owner);
    if (value === null || (await to.preferences.get(owner)) !== null) continue;
    await to.preferences.put(owner, value);
    copied.preferences++;
  }
  const { copied: settings, unreadable } = await copySettings(from, to);
  return { ...copied, settings, unreadable };
}

/** Only shares of sessions copied now: a link revoked at the target stays revoked. */
async function copyShares(from: Storage, to: Storage, ref: SessionRef): Promise<number> {
  let added = 0;
  for (const share of await from.shares.list(ref))
    if ((await to.shares.add(share, NO_LIMIT)) === 'added') added++;
  return added;
}

/** Reads and checks sessions like an export. */
const sessionsOf = (store: Storage): AsyncGenerator<ReadSession> =>
  readSessions(storedLines(store), (ref) => ref, { resume: true });

async function* storedLines(store: Storage): AsyncGenerator<string> {
  for await (const record of everySession(store, undefined))
    for await (const text of exportedLines(record, (after, limit) => store.read(record.ref, after, limit)))
      yield* text.trimEnd().split('\n');
}
