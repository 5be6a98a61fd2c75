/** Downloads a page and follows redirects within its host; each address is checked like the first one. */
import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import { Fault } from '@parlance/protocol';
import { pageAddress } from './address.ts';
import { readBody } from './body.ts';
import { decodeText } from './charset.ts';
import { REDIRECTS } from './limits.ts';
import { request } from './request.ts';
import { checkedAddresses, hostOf, type ResolveOptions } from './resolve.ts';

export type DownloadOptions = ResolveOptions & { readonly ca?: string };

export type Download = {
  /** final address */
  readonly url: URL;
  readonly html: boolean;
  readonly text: string;
};

/** The page redirects to another host, which was not approved: no request was sent there. */
export type RedirectTo = { readonly elsewhere: URL };

/** Its faults contain no text of the site. Other errors come from the network or from aborting `signal`. */
export async function download(
  start: URL,
  options: DownloadOptions,
  signal: AbortSignal,
): Promise<Download | RedirectTo> {
  let url = start;
  for (let hop = 0; hop <= REDIRECTS; hop++) {
    const addresses = await checkedAddresses(url, options, signal);
    const message = await request({ url, addresses, ca: options.ca }, signal);
    try {
      const location = redirectOf(message);
      if (location === null) return await pageIn(message, url, signal);
      url = pageAddress(location, url);
      if (url.host !== start.host) return await elsewhere(url, options, signal);
    } finally {
      message.destroy();
    }
  }
  throw new Fault('tool_failed', `The page redirects more than ${REDIRECTS} times.`);
}

/** Checks IP addresses; does not resolve the name of a site that was not approved. */
async function elsewhere(url: URL, options: DownloadOptions, signal: AbortSignal): Promise<RedirectTo> {
  if (isIP(hostOf(url)) !== 0) await checkedAddresses(url, options, signal);
  return { elsewhere: url };
}

function redirectOf({ statusCode = 0, headers }: IncomingMessage): string | null {
  return [301, 302, 303, 307, 308].includes(statusCode) ? (headers.location ?? null) : null;
}

async function pageIn(message: IncomingMessage, url: URL, signal: AbortSignal): Promise<Download> {
  const { statusCode = 0, headers } = message;
  if (statusCode < 200 || statusCode > 299) {
    throw new Fault('tool_failed', `The site responded with status ${statusCode}.`);
  }
  const { type, charset } = contentType(headers['content-type'] ?? '');
  if (!isText(type)) throw new Fault('tool_failed', 'The address is not a text page.');
  const text = decodeText(await readBody(message, signal), charset);
  return { url, text, html: type === 'text/html' || type === 'application/xhtml+xml' };
}

function contentType(header: string): { readonly type: string; readonly charset: string | null } {
  const [type = ''] = header.split(';', 1);
  const charset = /;\s*charset\s*=\s*"?([\w:.-]+)/i.exec(header)?.[1] ?? null;
  return { type: type.trim().toLowerCase(), charset };
}

const isText = (type: string): boolean =>
  /^text\/[\w.+-]+$|^application\/(json|xml|[\w.-]+\+(json|xml))$/.test(type);
