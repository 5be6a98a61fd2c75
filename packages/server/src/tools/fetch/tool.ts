/** Reads a web page. Requires approval once per host, since the requested address itself can leak data. */

import type { IncomingMessage, RequestOptions } from 'node:http';
import { isIP } from 'node:net';
import { type Ask, Fault, textPart } from '@parlance/protocol';
import { z } from 'zod';
import { defineTool, type Tool, type ToolResult } from '../../core/ports/tool.ts';
import { checkedAddresses, hostOf, pinned, type ResolveOptions } from '../../lib/checked-addresses.ts';
import { cutText } from '../cut.ts';
import { addressProblem, pageAddress } from './address.ts';
import { readBody } from './body.ts';
import { decodeText } from './charset.ts';
import { FETCH_MS, PAGE_CHARACTERS, REDIRECTS } from './limits.ts';
import { type Readable, readable } from './readable.ts';

const Input = z.object({
  url: z
    .string()
    .trim()
    .superRefine((url, context) => {
      const message = addressProblem(url);
      if (message !== null) context.addIssue({ code: 'custom', message });
    })
    .describe('An http or https address.'),
});

export type FetchOptions = DownloadOptions & { readonly timeoutMs?: number };

export const fetchPage = (options: FetchOptions = {}): Tool =>
  defineTool({
    name: 'fetch_page',
    description: 'Fetches a web page and returns its text as Markdown.',
    input: Input,
    repeatable: true,
    asks: true,
    subjects: ({ url }) => ({ literal: [pageAddress(url).href] }),
    approval: ({ url }) => askToFetch(pageAddress(url)),
    run: async ({ url }, { signal }) => {
      const page = await downloaded(pageAddress(url), options, signal);
      if ('elsewhere' in page) return redirected(page.elsewhere);
      return shown(page.url, await textIn(page, signal));
    },
  });

const askToFetch = (url: URL): Ask => ({
  kind: 'other',
  command: ['fetch_page', url.href],
  description: `Fetches a page from ${url.host}.`,
  grant: `fetch:${url.host}`,
});

async function downloaded(
  url: URL,
  { timeoutMs = FETCH_MS, ...options }: FetchOptions,
  signal: AbortSignal,
): Promise<Download | RedirectTo> {
  const deadline = AbortSignal.timeout(timeoutMs);
  try {
    return await download(url, options, AbortSignal.any([signal, deadline]));
  } catch (thrown) {
    if (signal.aborted) throw new Fault('cancelled', 'aborted');
    if (thrown instanceof Fault) throw thrown;
    if (deadline.aborted) {
      throw new Fault('tool_failed', `The page did not arrive within ${timeoutMs / 1_000} s.`);
    }
    throw new Fault('tool_failed', 'The page could not be fetched.', { cause: thrown });
  }
}

const textIn = (page: Download, signal: AbortSignal): Promise<Readable> | Readable =>
  page.html
    ? readable(page.text, page.url, signal)
    : { title: '', text: cutText(page.text, PAGE_CHARACTERS) };

/** The address comes from the site, so a call for it needs its own approval. */
function redirected({ href, host }: URL): ToolResult {
  const text = `The page is at another host, ${host}, and was not fetched. Call fetch_page with its address to ask for it: ${href}`;
  return { parts: [textPart(text)], data: { redirect: href }, failed: true, untrusted: true };
}

function shown(url: URL, { title, text }: Readable): ToolResult {
  const head = title === '' ? url.href : `# ${title}\n${url.href}`;
  const body = text.trim() === '' ? '(The page has no text.)' : text;
  return {
    parts: [textPart(`${head}\n\n${body}`)],
    data: { url: url.href, title },
    untrusted: true,
  };
}

// Downloads a page and follows redirects within its host; each address is checked like the first one.

type DownloadOptions = ResolveOptions & { readonly ca?: string };

type Download = {
  /** final address */
  readonly url: URL;
  readonly html: boolean;
  readonly text: string;
};

/** The page redirects to another host, which was not approved: no request was sent there. */
type RedirectTo = { readonly elsewhere: URL };

/** Its faults contain no text of the site. Other errors come from the network or from aborting `signal`. */
async function download(
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

// One GET request to a checked address. Host header and TLS use the host's name.

const HEADERS = {
  'user-agent': 'Parlance/0.1 (fetch_page)',
  accept: 'text/html, application/xhtml+xml, text/*, application/json, application/xml;q=0.9',
  'accept-encoding': 'gzip, br',
  'accept-language': 'en, *;q=0.5',
};

type Target = {
  readonly url: URL;
  /** the only addresses to connect to, even if a name server responds differently later */
  readonly addresses: readonly string[];
  /** certificate authorities to trust instead of the default ones, in tests */
  readonly ca?: string | undefined;
};

/** Resolves with the response head; redirects are not followed, the body is not decoded. */
async function request({ url, addresses, ca }: Target, signal: AbortSignal): Promise<IncomingMessage> {
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
