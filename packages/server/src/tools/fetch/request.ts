/** One GET request to a checked address. Host header and TLS use the host's name. */
import type { IncomingMessage, RequestOptions } from 'node:http';
import { isIPv6, type LookupFunction } from 'node:net';

const HEADERS = {
  'user-agent': 'Parlance/0.1 (fetch_page)',
  accept: 'text/html, application/xhtml+xml, text/*, application/json, application/xml;q=0.9',
  'accept-encoding': 'gzip, br',
  'accept-language': 'en, *;q=0.5',
};

export type Target = {
  readonly url: URL;
  /** the only addresses to connect to, even if a name server responds differently later */
  readonly addresses: readonly string[];
  /** certificate authorities to trust instead of the default ones, in tests */
  readonly ca?: string | undefined;
};

/** Resolves with the response head; redirects are not followed, the body is not decoded. */
export async function request({ url, addresses, ca }: Target, signal: AbortSignal): Promise<IncomingMessage> {
  // Loaded on demand: most servers never fetch a page.
  const { request: send } = await (url.protocol === 'https:' ? import('node:https') : import('node:http'));
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const options: RequestOptions & { ca?: string | undefined } = {
    agent: false,
    headers: HEADERS,
    lookup: pinned(addresses),
    signal,
    ...(ca === undefined ? {} : { ca }),
  };
  send(url, options, resolve).on('error', reject).end();
  return promise;
}

const pinned = (addresses: readonly string[]): LookupFunction => {
  const known = addresses.map((address) => ({ address, family: isIPv6(address) ? 6 : 4 }));
  const [first] = known;
  return (_host, { all }, answer) => {
    if (all) answer(null, known);
    else answer(null, first?.address ?? '', first?.family);
  };
};
