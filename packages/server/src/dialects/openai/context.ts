import type { DialectContext } from '../shared/dialect.ts';
import type { Models } from './models.ts';
import type { Settings } from './schemas.ts';
import type { Sessions } from './sessions.ts';

/** What the endpoints use. */
export type Context = Pick<
  DialectContext<Settings>,
  | 'about'
  | 'asked'
  | 'authenticator'
  | 'engine'
  | 'log'
  | 'newId'
  | 'now'
  | 'readBody'
  | 'settings'
  | 'stream'
> & { readonly models: Models; readonly sessions: Sessions };
