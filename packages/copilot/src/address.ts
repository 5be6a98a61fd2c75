/** Normalizes addresses for comparison: without scheme, `www.`, fragment and trailing slash. */

export function sameAddress(one: string, other: string): boolean {
  const [a, b] = [URL.parse(one), URL.parse(other)];
  if (!a || !b) return one === other;
  return hostOf(a) === hostOf(b) && pathOf(a) === pathOf(b) && a.search === b.search;
}

export function sameSite(one: string, other: string): boolean {
  const [a, b] = [URL.parse(one), URL.parse(other)];
  return a !== null && b !== null && hostOf(a) === hostOf(b);
}

const hostOf = (url: URL): string => `${url.hostname.replace(/^www\./, '')}:${url.port}`;
const pathOf = (url: URL): string => url.pathname.replace(/\/+$/, '');
