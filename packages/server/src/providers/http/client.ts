/** The HTTP client of providers. `socket-client.ts` and `fetch-client.ts` implement it. */
import type { Body } from './body.ts';

export type HttpRequest = {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
};

export type HttpResponse = { readonly status: number; readonly headers: Headers; readonly body: Body };

/**
 * Posts a request. Resolves with status and headers; the body follows, decompressed. Does not follow
 * redirects. Throws if there is no response, or the signal is aborted; the error's `code` is shown to users.
 */
export type HttpClient = (request: HttpRequest, signal: AbortSignal) => Promise<HttpResponse>;
