/**
 * Requests of a sign-in: metadata, registration and tokens. Their addresses come from the MCP server, so they are checked
 * as those of web pages are, and answers are bounded.
 */
import type { IncomingMessage } from 'node:http';
import type { FetchLike } from '@modelcontextprotocol/client';
import { Fault } from '@parlance/protocol';
import { checkedAddresses, hostOf, pinned } from '../../lib/checked-addresses.ts';
import { pageAddress } from '../fetch/address.ts';

const MAX_BYTES = 1024 * 1024;
const TIMEOUT_MS = 20_000;
const MAX_REDIRECTS = 3;

/**
 * `trusted`: addresses that the operator has configured. Only their hosts may be private, such as `localhost`, and be used
 * without TLS.
 */
export function signInFetch(trusted: readonly string[]): FetchLike {
  const hosts = new Set(trusted.map((address) => hostOf(new URL(address))));
  return async (address, init) => {
    let url = pageAddress(String(address));
    const signal = AbortSignal.any([
      AbortSignal.timeout(TIMEOUT_MS),
      ...(init?.signal instanceof AbortSignal ? [init.signal] : []),
    ]);
    for (let redirects = 0; ; redirects++) {
      const isTrusted = hosts.has(hostOf(url));
      if (url.protocol !== 'https:' && !isTrusted)
        throw new Fault('tool_failed', `The address ${url.origin} of the sign-in does not use https.`);
      const addresses = await checkedAddresses(url, isTrusted ? { allow: () => true } : {}, signal);
      const response = await send(url, { addresses, init, signal });
      const location = response.headers.get('location');
      const isRedirect = response.status >= 300 && response.status < 400 && location !== null;
      if (!isRedirect || (init?.method ?? 'GET') !== 'GET') return response;
      const target = pageAddress(location, url);
      // Elsewhere, the answer would be that of another server.
      if (target.origin !== url.origin || redirects === MAX_REDIRECTS) return response;
      url = target;
    }
  };
}

type Request = {
  readonly addresses: readonly string[];
  readonly init: RequestInit | undefined;
  readonly signal: AbortSignal;
};

async function send(url: URL, { addresses, init, signal }: Request): Promise<Response> {
  const { request } = await (url.protocol === 'https:' ? import('node:https') : import('node:http'));
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const headers = Object.fromEntries(new Headers(init?.headers));
  request(
    url,
    {
      agent: false,
      method: init?.method ?? 'GET',
      headers: { ...headers, 'accept-encoding': 'identity' },
      lookup: pinned(addresses),
      signal,
    },
    resolve,
  )
    .on('error', reject)
    .end(init?.body ? String(init.body) : undefined);
  const message = await promise;
  try {
    const chunks: Uint8Array[] = [];
    let bytes = 0;
    for await (const chunk of message as AsyncIterable<Uint8Array>) {
      bytes += chunk.length;
      if (bytes > MAX_BYTES) throw new Fault('tool_failed', `The answer of ${url.origin} is too large.`);
      chunks.push(chunk);
    }
    const status = message.statusCode ?? 502;
    const answered = new Headers();
    for (const [name, value] of Object.entries(message.headers))
      if (value !== undefined) answered.set(name, String(value));
    return new Response(status === 204 || status === 304 ? null : Buffer.concat(chunks), {
      status,
      headers: answered,
    });
  } finally {
    message.destroy();
  }
}
