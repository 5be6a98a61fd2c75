/** Maps SQLite and file system errors to messages for users and operators. */
import { SQLiteError } from 'bun:sqlite';
import { errorCode } from '../../lib/errors.ts';
import { faultOf, type StorageProblem, unusable } from '../shared/errors.ts';

type SqliteProblem = StorageProblem & {
  /** error codes of the file system and SQLite; SQLITE_IOERR also matches SQLITE_IOERR_WRITE */
  readonly codes: readonly string[];
};

const FULL: SqliteProblem = {
  // the shared memory file could not grow
  codes: ['SQLITE_FULL', 'SQLITE_IOERR_SHMSIZE', 'ENOSPC', 'EDQUOT'],
  client: 'The server has no space left to store anything.',
  operator: 'the disk is full',
};

const PROBLEMS: readonly SqliteProblem[] = [
  FULL,
  {
    codes: ['SQLITE_READONLY', 'SQLITE_PERM', 'EROFS', 'EACCES', 'EPERM'],
    client: 'The server cannot write to its storage.',
    operator: 'it cannot be written to; choose another folder with --data',
  },
  {
    codes: ['SQLITE_CORRUPT', 'SQLITE_NOTADB'],
    client: 'The stored data of the server is damaged.',
    operator: 'the database is damaged; docs/guides/backup.md says how to restore a backup',
  },
  {
    codes: ['SQLITE_BUSY', 'SQLITE_LOCKED'],
    client: 'The storage of the server is busy.',
    operator: 'another process keeps the database locked',
  },
  {
    codes: ['SQLITE_IOERR', 'SQLITE_CANTOPEN', 'SQLITE_PROTOCOL', 'SQLITE_NOLFS', 'EIO', 'EMFILE', 'ENFILE'],
    client: 'The storage of the server does not work at the moment.',
    operator: 'the disk or the file system reports an error',
  },
];

function problemOf(error: unknown): SqliteProblem | undefined {
  const code = errorCode(error) ?? '';
  const find = (code: string) => PROBLEMS.find(({ codes }) => codes.includes(code));
  return find(code) ?? (error instanceof SQLiteError ? find(code.split('_', 2).join('_')) : undefined);
}

/** Whether the disk or a quota is full. */
export const isFull = (error: unknown): boolean => problemOf(error) === FULL;

/**
 * Converts an error to the one that a store operation throws. Returns errors unrelated to the disk unchanged.
 */
export function storageFault(error: unknown): unknown {
  const problem = problemOf(error);
  return problem ? faultOf(problem, error) : error;
}

/**
 * Converts an error to the one that a command or startup throws: one line with the path. Returns errors
 * unrelated to the disk unchanged.
 */
export function storageError(error: unknown, path: string): unknown {
  const problem = problemOf(error);
  return problem ? unusable(path, problem, error) : error;
}
