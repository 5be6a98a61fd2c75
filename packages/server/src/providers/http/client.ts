/** The HTTP client of providers, and the one over `fetch`; `socket-client.ts` has our own. */
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

// Over Bun's `fetch`, which supports proxies. It reads on another thread: see docs/decisions/0014.

export const fetchClient: HttpClient = async ({ url, headers, body }, signal) => {
  // `timeout`: the caller has its own.
  const response = await fetch(url, {
    method: 'POST',
    headers,
    body,
    signal,
    redirect: 'manual',
    timeout: false,
  });
  return { status: response.status, headers: response.headers, body: bodyOf(response.body) };
};

/** The text of a stream. */
export function bodyOf(stream: ReadableStream<Uint8Array> | null): Body {
  const reader = stream?.getReader();
  const decoder = new TextDecoder();
  return {
    async read() {
      const { value } = (await reader?.read()) ?? {};
      return value ? decoder.decode(value, { stream: true }) : decoder.decode() || null;
    },
    cancel: () => void reader?.cancel().catch(() => undefined),
  };
}
