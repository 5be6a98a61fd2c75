/** Determines the principal of a request. */
import { Fault, LOCAL, type Principal } from '@parlance/protocol';
import type { Authenticator, Caller, Key } from './authenticator.ts';
import { addressOf } from './client-address.ts';
import { isSignIn, signInOf } from './sign-in-cookie.ts';

export const API_KEY_PREFIX = 'plk_';

/** Whether the text looks like an API key, valid or not. */
export const isApiKey = (token: string): boolean => token.startsWith(API_KEY_PREFIX);

/**
 * Whether the text looks like a token or an API key of this server. Vendors' clients require some key, so
 * users enter arbitrary text: in open mode, dialects for such clients ignore it.
 */
export const isIssued = (token: string): boolean =>
  isApiKey(token) || isSignIn(token) || /^[^.]+\.[^.]+\.[^.]+$/.test(token);

/**
 * The token or API key from `Authorization: Bearer …`, `x-api-key: …` or `?token=…`, or without one the sign-in of the console; null
 * without any.
 */
export function tokenOf(request: Request): string | null {
  const { headers, url } = request;
  const bearer = headers.get('authorization')?.match(/^Bearer\s+(\S+)\s*$/i)?.[1];
  if (bearer !== undefined) return bearer;
  const key = headers.get('x-api-key');
  if (key) return key;
  const parameter = url.includes('?') ? new URL(url).searchParams.get('token') : null;
  return parameter || signInOf(request);
}

export const callerOf = (request: Request, address = addressOf(request)): Caller => ({
  address,
  origin: request.headers.get('origin'),
  site: request.headers.get('sec-fetch-site'),
});

/** Null if a required token is missing. Throws like `Authenticator.verify`, in open mode as well. */
export async function identify(
  authenticator: Authenticator,
  token: string | null,
  caller?: Caller,
): Promise<Principal | null> {
  if (token !== null) return authenticator.verify(token, caller);
  return authenticator.open ? LOCAL : null;
}

/** The API key of the request; null if it has another token or none. Throws if the key is no longer valid. */
export async function keyOf(authenticator: Authenticator, request: Request): Promise<Key | null> {
  const token = tokenOf(request);
  if (token === null || !isApiKey(token)) return null;
  const key = await authenticator.keyOf(token);
  if (!key) throw new Fault('unauthenticated', 'The API key is not valid, has expired or was revoked.');
  return key;
}

/** Throws `forbidden` for an API key without the scope `administration`. `what` completes the sentence. */
export async function requireLogin(
  authenticator: Authenticator,
  request: Request,
  what: string,
): Promise<void> {
  const key = await keyOf(authenticator, request);
  if (key && !key.administration)
    throw new Fault('forbidden', `An API key without the scope administration may not ${what}: log in.`);
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
export const principalOfVendorClient = (authenticator: Authenticator, request: Request): Promise<Principal> =>
  principalWith(authenticator, request, vendorTokenOf(authenticator, request));

/** The token as `principalOfVendorClient` reads it. */
export function vendorTokenOf(authenticator: Authenticator, request: Request): string | null {
  const token = tokenOf(request);
  return authenticator.open && token !== null && !isIssued(token) ? null : token;
}

async function principalWith(
  authenticator: Authenticator,
  request: Request,
  token: string | null,
): Promise<Principal> {
  const principal = await identify(authenticator, token, callerOf(request));
  if (!principal) throw new Fault('unauthenticated', 'A token is required.');
  principals.set(request, principal);
  return principal;
}
