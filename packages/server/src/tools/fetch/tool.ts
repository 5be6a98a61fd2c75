/** Reads a web page. Requires approval once per host, since the requested address itself can leak data. */
import { type Ask, Fault, textPart } from '@parlance/protocol';
import { z } from 'zod';
import { defineTool, type Tool, type ToolResult } from '../../core/ports/tool.ts';
import { cutText } from '../cut.ts';
import { addressProblem, pageAddress } from './address.ts';
import { type Download, type DownloadOptions, download, type RedirectTo } from './download.ts';
import { FETCH_MS, PAGE_CHARACTERS } from './limits.ts';
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
