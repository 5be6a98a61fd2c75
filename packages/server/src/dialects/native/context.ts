/** The part of the server context that `native` uses. */
import type { DialectContext } from '../shared/dialect.ts';
import type { SubscriptionHub } from '../shared/subscription-hub.ts';

export type Context = Pick<
  DialectContext,
  | 'about'
  | 'administration'
  | 'addressOf'
  | 'countRequest'
  | 'authenticator'
  | 'connections'
  | 'engine'
  | 'log'
  | 'newId'
  | 'originOf'
  | 'readBody'
  | 'stream'
> & { readonly hub: SubscriptionHub<null> };
