/** What the endpoints of `native` have in common. */
import { Fault, type Principal } from '@parlance/protocol';
import type * as api from '@parlance/protocol/api';
import {
  requirePermission,
  type SessionRecord,
  type SessionRef,
  type SharedSession,
} from '../../core/index.ts';
import type { DialectContext } from '../kit/dialect.ts';
import { endpointOf } from '../kit/endpoint.ts';
import type { SubscriptionHub } from '../kit/subscription-hub.ts';

/** The part of the server context that `native` uses. */
export type NativeContext = Pick<
  DialectContext,
  | 'about'
  | 'administration'
  | 'addressOf'
  | 'countRequest'
  | 'authenticator'
  | 'connections'
  | 'decisions'
  | 'engine'
  | 'log'
  | 'newId'
  | 'originOf'
  | 'preferences'
  | 'publicOriginOf'
  | 'readBody'
  | 'stream'
> & {
  readonly hub: SubscriptionHub<null>;
  /** the page of a link to a session */
  readonly pageOf: (shared: SharedSession) => Promise<Uint8Array<ArrayBuffer>>;
};

export const endpoint = endpointOf<NativeContext, typeof api>();

/** The caller of an endpoint. */
export type Call = { readonly principal: Principal; readonly request: Request };

export const NO_SESSION = 'There is no such session.';

/** The session that the path names. Throws `not_found` if the caller has no such session. */
export async function sessionOf(
  { engine }: NativeContext,
  principal: Principal,
  id: string,
): Promise<SessionRef> {
  requirePermission(principal, 'chat:read');
  const ref = await engine.find(principal, id);
  if (!ref) throw new Fault('not_found', NO_SESSION);
  return ref;
}

export async function recordOf(ctx: NativeContext, principal: Principal, id: string): Promise<SessionRecord> {
  const record = await ctx.engine.record(await sessionOf(ctx, principal, id));
  if (!record) throw new Fault('not_found', NO_SESSION);
  return record;
}
