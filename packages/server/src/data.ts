/** What the command line needs to work on a data folder, without the rest of the server. */
export { openSqliteStore } from './stores/sqlite/open.ts';
export { storageError } from './stores/sqlite/trouble.ts';
