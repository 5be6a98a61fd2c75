/** What the extension may do on which site. A site is an origin. */

/** The site of an address; null if no extension may work there. */
export function siteOf(address: string | undefined): string | null {
  const url = address === undefined ? null : URL.parse(address);
  return url && (url.protocol === 'http:' || url.protocol === 'https:') ? url.origin : null;
}

/** For display: the host, and the scheme if it is not the usual one. */
export const siteName = (origin: string): string => origin.replace(/^https:\/\//, '');

const PORTS: Readonly<Record<string, string>> = { 'http:': '80', 'https:': '443' };

type Place = { readonly name: string; readonly port: number };

/** `URL` has already normalised `127.1`, `0x7f.1` and upper case. All names of this machine are one. */
export function placeOf(address: string): Place | null {
  const url = URL.parse(address);
  const port = url && (url.port || PORTS[url.protocol]);
  if (!url || !port) return null;
  const name = url.hostname.replace(/\.+$/, '');
  return { name: isThisMachine(name) ? 'localhost' : name, port: Number(port) };
}

/** `0.0.0.0` and `[::]` connect to loopback; `[::ffff:7fxx:…]` is an IPv4 address in 127.0.0.0/8. */
const isThisMachine = (name: string): boolean =>
  /^(?:.+\.)?localhost$|^127\.\d+\.\d+\.\d+$|^0\.0\.0\.0$|^\[::1?\]$|^\[::ffff:(?:7f[\da-f]{2}:[\da-f]+|0:0)\]$/.test(
    name,
  );

/** Whether an address leads to the server, or to another one of its ports. Behind a proxy both usual ports lead to the server. */
export function isAddressOf(
  address: string,
  server: { readonly url: string; readonly ports: readonly number[] },
): boolean {
  const [page, own] = [placeOf(address), placeOf(server.url)];
  if (!page || page.name !== own?.name) return false;
  if (page.port === own.port || server.ports.includes(page.port)) return true;
  const isUsual = ({ port }: Place) => port === 80 || port === 443;
  return isUsual(page) && isUsual(own);
}
