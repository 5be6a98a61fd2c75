/** A local vendor with its own adapter, for tests of the shared driver. */
import type { Prompt, ProviderEvent } from '../../core/ports/provider.ts';
import { STREAM_ENDED_EARLY } from '../../providers/faults.ts';
import { type HttpProviderOptions, httpProvider } from '../../providers/http-provider.ts';
import { type ApiEvent, failed, type ModelApi, NOTHING_BUFFERED } from '../../providers/model-api.ts';

export const KEY = 'sk-very-secret-0123456789abcdefghij';
export const PROMPT: Prompt = { task: 'chat', instructions: 'Be brief.', items: [], tools: [] };

/** A model API of words: each event is one, `END` ends. */
export const words = (baseUrl: string): ModelApi<null> => ({
  request: (_prompt, plain) => ({ url: baseUrl, headers: { authorization: KEY }, body: { plain } }),
  start: () => null,
  step: (state, { data }) => {
    if (data === 'BUG') throw new TypeError('a bug');
    const ended: ApiEvent = { type: 'ended', usage: { inputTokens: 1, outputTokens: 1 }, stop: 'done' };
    return [state, [data === 'END' ? ended : { type: 'text', text: data }]];
  },
  buffered: () => NOTHING_BUFFERED,
  finish: () => failed(STREAM_ENDED_EARLY),
  refused: (status, body) => ({
    code: status === 429 ? 'provider_limited' : status >= 500 ? 'provider_unavailable' : 'provider_rejected',
    message: `Refused (${status}).`,
    retryable: status === 429 || status >= 500,
    retryPlain: body === 'too fancy',
  }),
});

export const OPTIONS: HttpProviderOptions = {
  name: 'words',
  model: 'words-1',
  contextLimit: 1000,
  idleMs: 5000,
  retry: { attempts: 3, firstDelayMs: 2, maxDelayMs: 50, random: () => 1 },
};

/** Resources of a test, closed after it. */
export const servers: { stop(force: boolean): Promise<void> }[] = [];

/** Open connections. */
export async function closeVendors(): Promise<void> {
  await Promise.all(servers.splice(0).map((server) => server.stop(true)));
}

type Respond = (request: Request, attempt: number) => Response | Promise<Response>;

/** A vendor with scripted responses per attempt. */
export function vendor(respond: Respond) {
  const bodies: unknown[] = [];
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    idleTimeout: 0,
    development: false,
    async fetch(request) {
      bodies.push(await request.json());
      return respond(request, bodies.length);
    },
    error: () => new Response(null, { status: 500 }),
  });
  servers.push(server);
  return { url: `http://127.0.0.1:${server.port}/`, bodies };
}

export const sse = (...data: string[]): Response =>
  new Response(data.map((one) => `data: ${one}\n\n`).join(''), {
    headers: { 'content-type': 'text/event-stream' },
  });

export async function ask(
  url: string,
  more: Partial<HttpProviderOptions> = {},
  signal = new AbortController().signal,
): Promise<ProviderEvent[]> {
  const events: ProviderEvent[] = [];
  const provider = httpProvider(words(url), { ...OPTIONS, ...more });
  for await (const event of provider.stream(PROMPT, signal)) events.push(event);
  return events;
}

export const types = (events: readonly ProviderEvent[]) => events.map(({ type }) => type);
export const delays = (events: readonly ProviderEvent[]) =>
  events.flatMap((event) => (event.type === 'retrying' ? [event.delayMs] : []));

/** A vendor that sends this word and then stays silent; `closed` resolves when the client disconnects. */
export function silentVendor(word: string) {
  const { promise: closed, resolve } = Promise.withResolvers<void>();
  const { url } = vendor((request) => {
    request.signal.addEventListener('abort', () => resolve());
    const body = new ReadableStream<string>({
      start: (controller) => controller.enqueue(`data: ${word}\n\n`),
    });
    return new Response(body, { headers: { 'content-type': 'text/event-stream' } });
  });
  return { url, closed };
}
