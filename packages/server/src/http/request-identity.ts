/** From a request to the principal that makes it. */
import { Fault, LOCAL, type Principal } from '@parlance/protocol';
import type { Authenticator } from './authenticator.ts';

/** `Authorization: Bearer …` or `?token=…`; null where there is neither. */
export function tokenOf(request: Request): string | null {
  const header = request.headers.get('authorization');
  const bearer = header?.match(/^Bearer\s+(\S+)\s*$/i)?.[1];
  if (bearer !== undefined) return bearer;
  const { url } = request;
  return url.includes('?') ? new URL(url).searchParams.get('token') || null : null;
}

/** Null where there is no token and one is required. Throws `unauthenticated` for a bad one, in open mode too. */
export async function identify(
  authenticator: Authenticator,
  token: string | null,
): Promise<Principal | null> {
  if (token !== null) return authenticator.verify(token);
  return authenticator.open ? LOCAL : null;
}

/** As `identify`, for requests that cannot do without a principal. */
export async function principalOf(authenticator: Authenticator, request: Request): Promise<Principal> {
  const principal = await identify(authenticator, tokenOf(request));
  if (!principal) throw new Fault('unauthenticated', 'A token is required.');
  return principal;
}
