/** Maps PostgreSQL and client errors to messages for users and operators. */

import { Fault } from '@parlance/protocol';
import { SQL } from 'bun';
import { errorCode } from '../../lib/errors.ts';
import { faultOf, type StorageProblem, unusable } from '../shared/errors.ts';
import { closeGuard } from '../shared/store.ts';
import { CommitUnknown, DeadlineExceeded } from './database.ts';

const UNREACHABLE: StorageProblem = {
  client: 'The database of the server cannot be reached.',
  operator: 'it does not answer; check that it runs, and the address in DATABASE_URL',
};
const BUSY: StorageProblem = { client: 'The database of the server is busy.', operator: 'it is too slow' };
const FULL: StorageProblem = {
  client: 'The server has no space left to store anything.',
  operator: 'its disk is full, or it has no connection or memory left',
};
const READ_ONLY: StorageProblem = {
  client: 'The server cannot write to its database.',
  operator: 'it is read-only: the URL must name the primary',
};
const DENIED: StorageProblem = {
  client: 'The server may not use its database.',
  operator: 'it refuses the user, the password or an access right; check DATABASE_URL',
};
const DAMAGED: StorageProblem = {
  client: 'The stored data of the server is damaged.',
  operator: 'it is damaged',
};
const MISSING: StorageProblem = {
  client: 'The server has no database.',
  operator: 'there is no such database; create it',
};

/** By SQLSTATE; two characters match a whole class. */
const BY_STATE: Readonly<Record<string, StorageProblem>> = {
  '08': UNREACHABLE,
  '25006': READ_ONLY,
  '28': DENIED,
  '3D000': MISSING,
  '40': BUSY,
  '42501': DENIED,
  '53': FULL,
  '55P03': BUSY,
  '57014': BUSY,
  '57': UNREACHABLE,
  '58': UNREACHABLE,
  XX: DAMAGED,
};

/** The SQLSTATE sent by the server; null for client errors. */
export const stateOf = (error: unknown): string | null =>
  error instanceof SQL.PostgresError && typeof error.errno === 'string' ? error.errno : null;

function problemOf(error: unknown): StorageProblem | null {
  if (error instanceof DeadlineExceeded || error instanceof CommitUnknown) return UNREACHABLE;
  const state = stateOf(error);
  if (state !== null) return BY_STATE[state] ?? BY_STATE[state.slice(0, 2)] ?? null;
  const code = errorCode(error) ?? '';
  if (/^ERR_POSTGRES_(CONNECTION|QUERY_CANCELLED|IDLE|LIFETIME)/.test(code)) return UNREACHABLE;
  if (
    /^ERR_POSTGRES_(TLS|AUTHENTICATION|UNKNOWN_AUTH|UNSUPPORTED_AUTH|SASL|INVALID_SERVER|CHANNEL)/.test(code)
  )
    return DENIED;
  // certificates that cannot be verified, names that cannot be resolved
  return /CERT|ENOTFOUND|EAI_|ECONN|ETIMEDOUT|EPIPE|EHOST|ENET/.test(code) ? UNREACHABLE : null;
}

/** Whether the statement may have been executed although its response was lost. */
export function isUnknown(error: unknown): boolean {
  if (error instanceof DeadlineExceeded || error instanceof CommitUnknown) return true;
  const state = stateOf(error);
  if (state !== null) return state.startsWith('08') || state.startsWith('57P');
  return /^ERR_POSTGRES_(CONNECTION_CLOSED|QUERY_CANCELLED)/.test(errorCode(error) ?? '');
}

/** Whether nothing was written and a retry may succeed: a deadlock, or a server that is starting. */
export const isTransient = (error: unknown): boolean =>
  /^(40001|40P01|57P03)$/.test(stateOf(error) ?? '') ||
  /^ERR_POSTGRES_CONNECTION_(REFUSED|FAILED)$/.test(errorCode(error) ?? '');

/** Whether the server rejects the values of the statement, and will reject them again. */
export const isRefusal = (error: unknown): boolean => /^(21|22|23|42|54)/.test(stateOf(error) ?? '');

/** Converts an error to the one that a store operation throws. Returns other errors unchanged. */
export function storageFault(error: unknown): unknown {
  const problem = problemOf(error);
  return problem ? faultOf(problem, error) : error;
}

/**
 * Converts an error to the one that a command or startup throws: one line with the database, without the
 * password.
 */
export function storageError(error: unknown, url: string): unknown {
  const cause = error instanceof Fault ? error.cause : error;
  const problem = problemOf(cause);
  return problem ? unusable(shownUrl(url), problem, cause) : error;
}

/** Removes user, password and parameters. */
export function shownUrl(url: string): string {
  const { protocol, host, pathname } = new URL(url);
  return `${protocol}//${host}${pathname}`;
}

/** Maps errors of an operation to faults. This guard is never closed. */
export const withFaults = closeGuard(storageFault).whileOpen;
