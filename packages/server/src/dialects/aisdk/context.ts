import type { DialectContext } from '../shared/dialect.ts';
import type { KeyedQueue } from '../shared/keyed-queue.ts';

/** The context of the endpoints. */
export type Context = Pick<
  DialectContext,
  'countRequest' | 'authenticator' | 'engine' | 'log' | 'readBody' | 'stream'
> & {
  /** runs requests about one session one after another */
  readonly queue: KeyedQueue;
};
