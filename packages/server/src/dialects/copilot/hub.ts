/** The hub of this dialect, with the state of its projection. */
import type { DialectContext } from '../shared/dialect.ts';
import type { SubscriptionHub } from '../shared/subscription-hub.ts';
import type { State } from './projection.ts';

export const hubOf = (ctx: DialectContext): SubscriptionHub<State> =>
  ctx.hubOf('copilot') as SubscriptionHub<State>;
