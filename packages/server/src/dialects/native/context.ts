/** The part of the server context that `native` uses. */
import type { DialectContext } from '../kit/dialect.ts';
import type { SubscriptionHub } from '../kit/subscription-hub.ts';

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
