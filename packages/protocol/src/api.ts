/**
 * The native API: the requests and answers of its endpoints. The server parses requests with these schemas and its
 * answers have their types; OpenAPI, the SDK, the console and the command line are derived from them. A schema is
 * called in the documents as it is here.
 */
export * from './api/accounts.ts';
export * from './api/dialects.ts';
export * from './api/files.ts';
export * from './api/instructions.ts';
export * from './api/prompts.ts';
export * from './api/server.ts';
export * from './api/sessions.ts';
export * from './api/usage.ts';
