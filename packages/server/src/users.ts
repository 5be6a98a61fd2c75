/** What the command line needs to keep users in a data folder, without the rest of the server. */
export { hashPassword, newPasswordProblem } from './auth/passwords.ts';
export { nameProblem } from './auth/users.ts';
export { openSqliteStore } from './stores/sqlite/open.ts';
