import type { DialectContext } from '../kit/dialect.ts';
import type { SubscriptionHub } from '../kit/subscription-hub.ts';
import type { State } from './projection.ts';
import type { Tasks } from './tasks.ts';

export type BaseContext = Pick<
  DialectContext,
  'about' | 'countRequest' | 'authenticator' | 'engine' | 'log' | 'originOf' | 'readBody' | 'stream'
>;

/** The context of the methods. */
export type Context = BaseContext & { readonly hub: SubscriptionHub<State>; readonly tasks: Tasks };
