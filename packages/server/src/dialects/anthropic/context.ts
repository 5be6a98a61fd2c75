import type { z } from 'zod';
import type { DialectContext } from '../kit/dialect.ts';
import type { ModelSettings, Models } from '../kit/models.ts';
import type { Sessions } from '../kit/request-sessions.ts';
import type { Threads } from './threads.ts';

/** The context of the endpoints. */
export type Context = Pick<
  DialectContext<z.output<typeof ModelSettings>>,
  | 'about'
  | 'countRequest'
  | 'authenticator'
  | 'engine'
  | 'log'
  | 'newId'
  | 'now'
  | 'readBody'
  | 'settings'
  | 'stream'
> & { readonly models: Models; readonly sessions: Sessions; readonly threads: Threads };
