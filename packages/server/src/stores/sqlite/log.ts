/**
 * The write-ahead log: synced here, so that a worker thread waits for the disk and not the main thread with all
 * streams, and checked at the next start. SQLite reads a log up to the first frame that is not intact, without a
 * word about the rest, so what was acknowledged is noted in a file beside it.
 */
import type { Database } from 'bun:sqlite';
import fs, {
  closeSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  readSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import type { SessionRef } from '../../core/ports/event-store.ts';
import { storableRef } from '../shared/text.ts';
import { DATABASE_FILE } from './connection.ts';

export interface Log {
  /** Resolves when everything committed before the call is on disk. */
  sync(): Promise<void>;
  /** Notes that the session was acknowledged up to this event. Call when the sync has resolved. */
  acknowledged(ref: SessionRef, head: number): void;
  /** The session will be erased: it is missing from now on. */
  forget(ref: SessionRef): void;
  /** `isComplete`: no other process uses the database, and it has everything without the log. */
  close(isComplete: boolean): void;
}

/** The noted file. Not synced: it is exact after a kill, and may be older than the log after a power loss. */
const NOTE_FILE = `${DATABASE_FILE}-acknowledged`;
/** One page: written at once. Longer than any note. */
const NOTE_BYTES = 4_096;

const Note = z.object({
  /** identifies the log until SQLite starts it again from its beginning, which it does after a checkpoint */
  salt: z.string(),
  frames: z.number(),
  /** the latest acknowledged append */
  latest: z.object({ owner: z.string(), id: z.string(), head: z.number() }).nullable(),
});
type Note = z.infer<typeof Note>;

/** Call while the database is open, since closing it removes the log. */
export function openLog(folder: string): Log {
  const file = openSync(join(folder, `${DATABASE_FILE}-wal`), 'r+');
  const index = openSync(join(folder, `${DATABASE_FILE}-shm`), 'r');
  const path = join(folder, NOTE_FILE);
  let note: number | null = null;
  let synced = { salt: '', frames: 0 };
  let latest: Note['latest'] = null;
  let isCurrent = true;
  function write(): void {
    isCurrent = true;
    note ??= openSync(path, existsSync(path) ? 'r+' : 'w', 0o600);
    writeSync(note, JSON.stringify({ ...synced, latest } satisfies Note).padEnd(NOTE_BYTES), 0);
  }
  return {
    sync: () =>
      new Promise((resolve, reject) => {
        const reached = indexOf(index);
        fs.fdatasync(file, (error) => {
          if (error) return reject(error);
          synced = reached;
          resolve();
        });
      }),
    acknowledged(ref, head) {
      latest = { ...storableRef(ref), head };
      // Once for all appends of a group.
      if (isCurrent) queueMicrotask(() => isCurrent || write());
      isCurrent = false;
    },
    forget(ref) {
      const { owner, id } = storableRef(ref);
      // From the file: `parlance import` may have written it.
      const noted = readNote(folder)?.latest;
      if (noted?.owner === owner && noted.id === id) {
        latest = null;
        write();
      }
    },
    close(isComplete) {
      if (isComplete) rmSync(path, { force: true });
      else if (!isCurrent) write();
      isCurrent = true;
      for (const open of [file, index, note]) if (open !== null) closeSync(open);
    },
  };
}

/** Number of frames and salt from the index that SQLite keeps in shared memory: https://sqlite.org/walformat.html */
function indexOf(file: number): { salt: string; frames: number } {
  const header = Buffer.alloc(48);
  readSync(file, header, 0, header.length, 0);
  // In the byte order of the machine, but for the salt, which is copied from the log.
  const frames = new Uint32Array(header.buffer, header.byteOffset + 16, 1)[0] ?? 0;
  return { salt: header.toString('hex', 32, 40), frames };
}

const FRAME_HEADER = 24;

/** The salt of a log, and how many of its frames SQLite will read: up to the last intact commit. */
export function readableFrames(log: Buffer): { salt: string; frames: number } {
  const salt = log.toString('hex', 16, 24);
  if (log.length < 32) return { salt, frames: 0 };
  const isBigEndian = (log.readUInt32BE(0) & 1) === 1;
  const pageSize = log.readUInt32BE(8);
  const sum: [number, number] = [0, 0];
  const matches = (at: number) => sum[0] === log.readUInt32BE(at) && sum[1] === log.readUInt32BE(at + 4);
  add(sum, log.subarray(0, 24), isBigEndian);
  let frames = 0;
  if (!matches(24) || pageSize < 512 || pageSize > 65_536) return { salt, frames };
  for (let at = 32, frame = 1; at + FRAME_HEADER + pageSize <= log.length; frame++) {
    if (log.toString('hex', at + 8, at + 16) !== salt) break;
    add(sum, log.subarray(at, at + 8), isBigEndian);
    add(sum, log.subarray(at + FRAME_HEADER, at + FRAME_HEADER + pageSize), isBigEndian);
    if (!matches(at + 16)) break;
    if (log.readUInt32BE(at + 4) > 0) frames = frame;
    at += FRAME_HEADER + pageSize;
  }
  return { salt, frames };
}

function add(sum: [number, number], bytes: Buffer, isBigEndian: boolean): void {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  let [first, second] = sum;
  for (let at = 0; at < bytes.length; at += 8) {
    first = (first + view.getUint32(at, !isBigEndian) + second) >>> 0;
    second = (second + view.getUint32(at + 4, !isBigEndian) + first) >>> 0;
  }
  sum[0] = first;
  sum[1] = second;
}

/**
 * Finds out whether the log or the database lacks what was acknowledged. Call `lost` with the open database, before
 * anything is written; it throws an error with a one-line message, and a copy of the files is kept.
 */
export function checkAcknowledged(folder: string): { lost(database: Database): void } {
  // Read before the log, which may grow meanwhile.
  const note = readNote(folder);
  const path = join(folder, `${DATABASE_FILE}-wal`);
  const log = note && existsSync(path) ? readableFrames(readFileSync(path)) : null;
  return {
    lost(database) {
      if (!note) return;
      const { latest } = note;
      const isCut = log?.salt === note.salt && log.frames < note.frames;
      if (isCut || (latest !== null && headOf(database, latest) < latest.head))
        throw new Error(`${folder} lacks stored events: ${keptCopy(folder)}`);
    },
  };
}

function headOf(database: Database, { owner, id }: NonNullable<Note['latest']>): number {
  const tables = database.query("SELECT 1 FROM sqlite_schema WHERE name = 'sessions'");
  // An empty database: the file was removed.
  if (!tables.get()) return 0;
  const find = database.query<{ head: number }, [string, string]>(
    'SELECT head FROM sessions WHERE owner = ? AND id = ?',
  );
  return find.get(owner, id)?.head ?? 0;
}

/** Whether a process did not close the database. */
export const isNoted = (folder: string): boolean => existsSync(join(folder, NOTE_FILE));

function readNote(folder: string): Note | null {
  try {
    return Note.parse(JSON.parse(readFileSync(join(folder, NOTE_FILE), 'utf8')));
  } catch {
    // None, or half written when the power failed: nothing is known.
    return null;
  }
}

/** Before the database is closed, which writes the intact part of the log into it. */
function keptCopy(folder: string): string {
  const copy = join(folder, 'damaged');
  if (!existsSync(copy)) {
    mkdirSync(copy, { mode: 0o700 });
    for (const name of [DATABASE_FILE, `${DATABASE_FILE}-wal`])
      if (existsSync(join(folder, name))) copyFileSync(join(folder, name), join(copy, name));
  }
  return `${DATABASE_FILE}-wal was damaged, cut or removed, and a copy of what is left is in ${copy}. Restore a backup (docs/guides/backup.md), or delete ${join(folder, NOTE_FILE)} to start without the lost events`;
}
