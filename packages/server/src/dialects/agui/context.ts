import type { DialectContext } from '../shared/dialect.ts';

/** The context of the endpoints. */
export type Context = Pick<
  DialectContext,
  'countRequest' | 'authenticator' | 'engine' | 'log' | 'readBody' | 'stream'
>;
