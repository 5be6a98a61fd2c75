/**
 * The sign-in of the console in a browser: a secret in a cookie that pages cannot read, and a key that the console keeps in the storage of
 * its origin and sends in a header. Both are needed: browsers send cookies to every port of a host and with requests that other pages
 * cause, but no other origin can read the key.
 */

export const SIGN_IN_PREFIX = 'pls_';
/** `<id>.<key>` */
export const SIGN_IN_HEADER = 'x-parlance-sign-in';

/** Whether the text is what `signInOf` returns, valid or not. */
export const isSignIn = (token: string): boolean => token.startsWith(SIGN_IN_PREFIX);

export type SignInSecret = { readonly id: string; readonly secret: string; readonly expiresAt: number };

/** The name has the id, so that servers on other ports of the host do not replace the cookie. */
const nameOf = (id: string, isSecure: boolean): string => `${isSecure ? '__Host-' : ''}parlance-${id}`;

/**
 * Id, secret and key of the sign-in as one text; null without one, and if the request may come from another page. WebSockets have none: pages
 * cannot give them the key.
 */
export function signInOf(request: Request): string | null {
  const { headers } = request;
  const sent = headers.get(SIGN_IN_HEADER);
  const cookies = headers.get('cookie');
  if (sent === null || cookies === null || headers.has('upgrade') || !isFromOwnPage(request)) return null;
  const [, id, key] = /^([0-9A-Za-z]{1,64})\.([0-9A-Za-z]{1,64})$/.exec(sent) ?? [];
  if (id === undefined) return null;
  const stored = new Bun.CookieMap(cookies);
  const secret = stored.get(nameOf(id, true)) ?? stored.get(nameOf(id, false));
  return secret ? `${SIGN_IN_PREFIX}${id}_${secret}_${key}` : null;
}

/** The inverse of `signInOf`; null if the text is not one. */
export function partsOfSignIn(
  token: string,
): { readonly id: string; readonly secret: string; readonly key: string } | null {
  const [, id, secret, key] = /^pls_([0-9A-Za-z]+)_([0-9A-Za-z]+)_([0-9A-Za-z]+)$/.exec(token) ?? [];
  return id && secret && key ? { id, secret, key } : null;
}

/**
 * Whether a browser says that a page of this server sends the request. Browsers send `Sec-Fetch-Site` to trustworthy addresses only, and
 * `Origin` with every request that may change something.
 */
export function isFromOwnPage({ headers, method }: Request): boolean {
  const site = headers.get('sec-fetch-site');
  if (site !== null) return site === 'same-origin';
  const origin = headers.get('origin');
  if (origin === null) return method === 'GET' || method === 'HEAD';
  return URL.parse(origin)?.host === headers.get('host')?.toLowerCase();
}

/** The header `Set-Cookie`; null ends the sign-in. */
export function signInCookie(request: Request, id: string, kept: Omit<SignInSecret, 'id'> | null): string {
  // What the browser sees, also behind a proxy that adds TLS.
  const isSecure = request.headers.get('origin')?.startsWith('https:') === true;
  return new Bun.Cookie(nameOf(id, isSecure), kept?.secret ?? '', {
    ...{ httpOnly: true, sameSite: 'strict', path: '/', secure: isSecure },
    ...(kept ? { expires: new Date(kept.expiresAt) } : { maxAge: 0 }),
  }).serialize();
}
