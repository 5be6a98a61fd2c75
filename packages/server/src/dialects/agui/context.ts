import type { DialectContext } from '../kit/dialect.ts';

/** The context of the endpoints. */
export type Context = Pick<
  DialectContext,
  'countRequest' | 'authenticator' | 'engine' | 'log' | 'readBody' | 'stream'
>;
