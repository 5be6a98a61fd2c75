/** HTTP client over Bun's `fetch`, which supports proxies. It reads on another thread: see docs/decisions/0014. */
import type { Body } from './body.ts';
import type { HttpClient } from './client.ts';

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
