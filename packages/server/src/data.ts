/** What the command line needs to work on a data folder, without the rest of the server. */
export { SECRET_FILE } from './auth/secret.ts';
export { type EventStore, type SessionRecord, type SessionRef, sessionKey } from './core/ports/store.ts';
export { exportedLines } from './core/session-export.ts';
export { checkSessions, type ReadSession, readSessions, writeSession } from './core/session-import.ts';
export { type Contents, checkedContents, copyDatabase } from './stores/sqlite/backup.ts';
export { DATABASE_FILE } from './stores/sqlite/connection.ts';
export { openSqliteStore } from './stores/sqlite/open.ts';
export { storageError } from './stores/sqlite/trouble.ts';
