export * from './commands.ts';
export * from './events.ts';
export * from './faults.ts';
export * from './ids.ts';
export * from './json.ts';
export * from './parts.ts';
export * from './principals.ts';
export * from './session-file.ts';
