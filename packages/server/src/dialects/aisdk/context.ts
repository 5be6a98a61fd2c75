import type { DialectContext } from '../shared/dialect.ts';
import type { KeyedQueue } from '../shared/keyed-queue.ts';

/** What the endpoints use. */
export type Context = Pick<
  DialectContext,
  'asked' | 'authenticator' | 'engine' | 'log' | 'readBody' | 'stream'
> & {
  /** requests about one session begin one after another */
  readonly queue: KeyedQueue;
};
