/** Model APIs that refuse in every known way. Their sentences are shown; paths, stacks and addresses in them must not leak. */
import { MARKER } from './leaks.ts';

const WORDS = `The worker failed at /srv/${MARKER}/engine.py:12, see http://vendor.internal/${MARKER}`;
const ERROR = { error: { message: WORDS, type: MARKER, code: MARKER, status: MARKER, param: MARKER } };
const STACK = `The worker failed\n    at answer (/srv/${MARKER}/node_modules/engine/index.js:12:7)`;

export type Refusal = {
  readonly what: string;
  /** whether its sentence reaches the user */
  readonly isShown?: boolean;
  readonly response: (request: Request) => Response;
};

const json = (status: number): Refusal => ({
  what: `${status} with an error in JSON`,
  // Too long a delay to be waited for.
  response: () => Response.json(ERROR, { status, headers: { 'retry-after': '9999', 'x-marker': MARKER } }),
});
const text = (status: number, type: string, body: string): Refusal => ({
  what: `${status} with ${type}`,
  response: () => new Response(body, { status, headers: { 'content-type': type, 'retry-after': '9999' } }),
});
const stream = (what: string, eventsFor: (request: Request) => readonly string[]): Refusal => ({
  what: `a stream with ${what}`,
  response: (request) =>
    new Response(eventsFor(request).join(''), {
      headers: { 'content-type': 'text/event-stream', 'retry-after': '9999' },
    }),
});
const event = (data: unknown, name?: string): string =>
  `${name ? `event: ${name}\n` : ''}data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`;

const line = (words: string): Refusal => ({
  what: `400 with one line: ${words}`,
  isShown: true,
  response: () =>
    Response.json({ error: { message: words, type: 'invalid_request_error' } }, { status: 400 }),
});

export const REFUSALS: readonly Refusal[] = [
  line(`The worker failed to load /srv/${MARKER}/weights.bin`),
  line(`The worker failed to load "~/${MARKER}/weights.bin"`),
  line(`The worker failed to load C:\\${MARKER}\\weights.bin`),

  ...[400, 401, 402, 403, 404, 413, 422, 429, 500, 503].map(json),
  text(400, 'text/plain', STACK),
  text(500, 'text/html', `<!doctype html><pre>${STACK}</pre>`),
  text(200, 'text/html', `<!doctype html><pre>${STACK}</pre>`),
  text(200, 'application/json', JSON.stringify(ERROR)),
  text(302, 'text/plain', STACK),
  // Each API has its own format; errors in an unknown one are retried.
  stream('an error of ours to mend', ({ url }) =>
    url.includes(':streamGenerateContent')
      ? [event({ error: { message: WORDS, code: 400, status: 'INVALID_ARGUMENT' } })]
      : [
          event({ error: { message: WORDS, code: 'invalid_request_error', type: 'invalid_request_error' } }),
          event({ type: 'error', error: { message: WORDS, type: 'invalid_request_error' } }, 'error'),
          event({ type: 'error', message: WORDS, code: 'invalid_prompt' }),
        ],
  ),
];

export type Vendor = { readonly url: string; refuse(refusal: Refusal): void; stop(): void };

export function openVendor(): Vendor {
  let refusal: Refusal | undefined;
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: (request) => refusal?.response(request) ?? new Response(null, { status: 500 }),
  });
  return {
    url: `http://127.0.0.1:${server.port}`,
    refuse(next) {
      refusal = next;
    },
    stop: () => void server.stop(true),
  };
}

/** Settings for each model API. */
export const VENDORS: Readonly<Record<string, (url: string) => Record<string, string>>> = {
  'openai chat': (url) => ({
    PROVIDER: 'openai',
    OPENAI_BASE_URL: url,
    OPENAI_API_KEY: 'sk-key',
    OPENAI_API: 'chat',
  }),
  'openai responses': (url) => ({
    PROVIDER: 'openai',
    OPENAI_BASE_URL: url,
    OPENAI_API_KEY: 'sk-key',
    OPENAI_API: 'responses',
  }),
  anthropic: (url) => ({ PROVIDER: 'anthropic', ANTHROPIC_BASE_URL: url, ANTHROPIC_API_KEY: 'key' }),
  google: (url) => ({ PROVIDER: 'google', GOOGLE_BASE_URL: url, GOOGLE_API_KEY: 'key' }),
};
