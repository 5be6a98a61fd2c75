/** Determines the principal of a request. */
import { Fault, LOCAL, type Principal } from '@parlance/protocol';
import type { Authenticator } from './authenticator.ts';
import { addressOf } from './client-address.ts';

export const API_KEY_PREFIX = 'plk_';

/** Whether the text looks like an API key, valid or not. */
export const isApiKey = (token: string): boolean => token.startsWith(API_KEY_PREFIX);

/**
 * Whether the text looks like a token or an API key of this server. Vendors' clients require some key, so
 * users enter arbitrary text: in open mode, dialects for such clients ignore it.
 */
export const isIssued = (token: string): boolean => isApiKey(token) || /^[^.]+\.[^.]+\.[^.]+$/.test(token);

/** The token or API key from `Authorization: Bearer …`, `x-api-key: …` or `?token=…`; null without one. */
export function tokenOf(request: Request): string | null {
  const { headers, url } = request;
  const bearer = headers.get('authorization')?.match(/^Bearer\s+(\S+)\s*$/i)?.[1];
  if (bearer !== undefined) return bearer;
  const key = headers.get('x-api-key');
  if (key) return key;
  return url.includes('?') ? new URL(url).searchParams.get('token') || null : null;
}

/** Null if a required token is missing. Throws like `Authenticator.verify`, in open mode as well. */
export async function identify(
  authenticator: Authenticator,
  token: string | null,
  address?: string,
): Promise<Principal | null> {
  if (token !== null) return authenticator.verify(token, address);
  return authenticator.open ? LOCAL : null;
}

const principals = new WeakMap<Request, Principal>();

/** The principal that `principalOf` has determined; undefined before. */
export const identifiedAs = (request: Request): Principal | undefined => principals.get(request);

/** Like `identify`, but throws if there is no principal. */
export const principalOf = (authenticator: Authenticator, request: Request): Promise<Principal> =>
  principalWith(authenticator, request, tokenOf(request));

/**
 * Like `principalOf`, for vendors' clients, which require some key: in open mode, text that does not look
 * like a token or API key of this server is ignored.
 */
export function principalOfVendorClient(authenticator: Authenticator, request: Request): Promise<Principal> {
  const token = tokenOf(request);
  const isNone = authenticator.open && token !== null && !isIssued(token);
  return principalWith(authenticator, request, isNone ? null : token);
}

async function principalWith(
  authenticator: Authenticator,
  request: Request,
  token: string | null,
): Promise<Principal> {
  const principal = await identify(authenticator, token, addressOf(request));
  if (!principal) throw new Fault('unauthenticated', 'A token is required.');
  principals.set(request, principal);
  return principal;
}
