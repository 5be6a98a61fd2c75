/** The address that a stored API key belongs to. A key is sent to no other one. */

/**
 * Ignores what does not change the server: the case of the host, a default port, a trailing slash and the
 * version at the end of the path. `http` and `https` differ: a key must not leave in plain text.
 */
export const isSameAddress = (one: string, other: string): boolean => canonical(one) === canonical(other);

function canonical(address: string): string {
  const url = URL.parse(address);
  if (url === null) return address;
  const path = url.pathname.replace(/\/+$/, '').replace(/\/v1(beta)?$/, '');
  return `${url.origin}${path.replace(/\/+$/, '')}${url.search}`;
}
