/** Exports for CLI commands on users and API keys of a data folder, without the rest of the server. */
export { openApiKeys } from '../accounts/api-keys.ts';
export { hashPassword, newPasswordProblem } from '../accounts/passwords.ts';
export { nameProblem } from '../accounts/users.ts';
export { DIALECT_NAMES } from '../dialects/names.ts';
export type { ApiKeys } from '../http/api-keys.ts';
export { openSqliteStore } from '../stores/sqlite/open.ts';
