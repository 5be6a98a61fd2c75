/** HTTP requests to one server: URL, token, timeout, retries. */

import { errorOf, ParlanceError } from './error.ts';
import { type Backoff, type Clock, delayMs, sleep, worthRetrying } from './retry.ts';

export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

export type HttpClientOptions = {
  readonly url: string;
  readonly fetch: Fetch;
  readonly clock: Clock;
  readonly backoff: Backoff;
  /** maximum number of attempts */
  readonly attempts: number;
  /** maximum time until the response starts */
  readonly timeoutMs: number;
};

export type HttpRequest = {
  readonly method?: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  /** absolute, without the query */
  readonly path: string;
  readonly query?: Readonly<Record<string, string | number | undefined>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  readonly signal?: AbortSignal;
  /** idempotent: may be sent again after a lost response */
  readonly repeatable?: boolean;
  /** the response waits for a model: no timeout */
  readonly noTimeout?: boolean;
};

export class HttpClient {
  token: string | null = null;

  constructor(readonly options: HttpClientOptions) {}

  async json<Answer>(request: HttpRequest): Promise<Answer> {
    return this.#withRetries(request, async () => {
      const response = await this.fetchOnce(request);
      const text = await response.text().catch((thrown) => {
        request.signal?.throwIfAborted();
        throw new ParlanceError('unreachable', 'The connection was lost while the response was being read.', {
          cause: thrown,
        });
      });
      try {
        return JSON.parse(text) as Answer;
      } catch (thrown) {
        throw new ParlanceError('unexpected', 'The response is not from this API.', {
          status: response.status,
          cause: thrown,
        });
      }
    });
  }

  /** Like `json` for other content types; the caller reads the body. */
  async response(request: HttpRequest): Promise<Response> {
    return this.#withRetries(request, () => this.fetchOnce(request));
  }

  /** One attempt. Throws a `ParlanceError` if the response is not successful. */
  async fetchOnce(request: HttpRequest): Promise<Response> {
    const { clock, timeoutMs } = this.options;
    const { signal } = request;
    signal?.throwIfAborted();
    const late = new ParlanceError('unreachable', `No response within ${timeoutMs / 1_000} s.`);
    const timer = new AbortController();
    const cancel = request.noTimeout ? undefined : clock.after(timeoutMs, () => timer.abort(late));
    const either = signal ? AbortSignal.any([signal, timer.signal]) : timer.signal;
    try {
      const response = await this.options.fetch(this.#address(request), this.#init(request, either));
      if (!response.ok) throw await errorOf(response, clock.now());
      return response;
    } catch (thrown) {
      signal?.throwIfAborted();
      if (thrown instanceof ParlanceError) throw thrown;
      throw timer.signal.aborted
        ? late
        : new ParlanceError('unreachable', 'Cannot reach the server.', { cause: thrown });
    } finally {
      cancel?.();
    }
  }

  async #withRetries<Answer>(request: HttpRequest, attempt: () => Promise<Answer>): Promise<Answer> {
    const { clock, backoff, attempts } = this.options;
    const repeatable = request.repeatable ?? (request.method ?? 'GET') === 'GET';
    for (let failures = 0; ; failures++) {
      try {
        return await attempt();
      } catch (thrown) {
        if (!(thrown instanceof ParlanceError)) throw thrown;
        if (failures + 1 >= attempts || !worthRetrying(thrown, repeatable)) throw thrown;
        const wait = delayMs({ backoff, clock }, failures, thrown);
        // A person may be waiting: leave a long delay to the caller.
        if (wait > backoff.maxMs) throw thrown;
        await sleep(clock, wait, request.signal).over;
      }
    }
  }

  #address({ path, query = {} }: HttpRequest): string {
    const params = new URLSearchParams();
    for (const [name, value] of Object.entries(query))
      if (value !== undefined) params.set(name, String(value));
    const search = params.toString();
    return `${this.options.url}${path}${search === '' ? '' : `?${search}`}`;
  }

  #init({ method = 'GET', headers, body }: HttpRequest, signal: AbortSignal): RequestInit {
    return {
      method,
      headers: {
        accept: 'application/json',
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...(this.token === null ? {} : { authorization: `Bearer ${this.token}` }),
        ...headers,
      },
      body: body === undefined ? undefined : JSON.stringify(body),
      cache: 'no-store',
      signal,
    };
  }
}

/** 128 random bits. `crypto.randomUUID` is missing on pages served over plain HTTP. */
export function newKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
