/** The part of the server context that `copilot` uses. */
import { z } from 'zod';
import type { SessionRef } from '../../core/index.ts';
import type { DialectContext } from '../kit/dialect.ts';
import type { SubscriptionHub } from '../kit/subscription-hub.ts';
import type { State } from './projection.ts';

export const Settings = z.object({
  /** the largest page that a client may send, in characters */
  maxDom: z.number(),
  /** rate limit per caller */
  requestsPerMinute: z.number(),
});

export type ServerContext = Pick<
  DialectContext<z.output<typeof Settings>>,
  | 'addressOf'
  | 'authenticator'
  | 'channels'
  | 'engine'
  | 'log'
  | 'newId'
  | 'now'
  | 'preferences'
  | 'readBody'
  | 'refused'
  | 'settings'
>;

export type Context = ServerContext & {
  readonly hub: SubscriptionHub<State>;
  /** publishes the messages of the session on its channel from now on */
  readonly follow: (ref: SessionRef) => Promise<void>;
};
