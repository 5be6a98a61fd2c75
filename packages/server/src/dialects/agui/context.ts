import type { DialectContext } from '../shared/dialect.ts';

/** What the endpoints use. */
export type Context = Pick<
  DialectContext,
  'asked' | 'authenticator' | 'engine' | 'log' | 'readBody' | 'stream'
>;
