/** Exports for CLI commands on users and API keys of a data folder, without the rest of the server. */
export { openApiKeys } from './auth/api-keys.ts';
export { hashPassword, newPasswordProblem } from './auth/passwords.ts';
export { nameProblem } from './auth/users.ts';
export { DIALECT_NAMES } from './dialects/index.ts';
export type { ApiKeys } from './http/api-keys.ts';
export { openSqliteStore } from './stores/sqlite/open.ts';
