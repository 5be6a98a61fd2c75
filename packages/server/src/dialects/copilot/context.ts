/** What `copilot` uses of the server. */
import { z } from 'zod';
import type { SessionRef } from '../../core/api/index.ts';
import type { DialectContext } from '../shared/dialect.ts';
import type { SubscriptionHub } from '../shared/subscription-hub.ts';
import type { State } from './projection.ts';

export const Settings = z.object({
  /** the largest page that a client may show, in characters */
  maxDom: z.number(),
  /** how often one caller may ask */
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
  /** from now on the messages of the session are published on its channel */
  readonly follow: (ref: SessionRef) => Promise<void>;
};
