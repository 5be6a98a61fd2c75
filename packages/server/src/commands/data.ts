/** Exports for CLI commands on a data folder, without the rest of the server. */
export { SECRET_FILE } from '../accounts/secret.ts';
export {
  checkSessions,
  exportedLines,
  type ReadSession,
  readSessions,
  writeSession,
} from '../core/index.ts';
export {
  type EventStore,
  type SessionIndex,
  type SessionRecord,
  type SessionRef,
  sessionKey,
} from '../core/ports/event-store.ts';
export { sessionView } from '../dialects/native/views.ts';
export { type Contents, checkedContents, copyDatabase } from '../stores/sqlite/backup.ts';
export { DATABASE_FILE } from '../stores/sqlite/connection.ts';
export { storageError } from '../stores/sqlite/errors.ts';
export { FolderInUse } from '../stores/sqlite/lock.ts';
export { openSqliteStore } from '../stores/sqlite/open.ts';
