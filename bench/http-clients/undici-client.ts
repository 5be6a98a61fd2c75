/**
 * HTTP client over the `undici` package. Bun replaces the bare name with its own module on top of `fetch`, so the
 * package is loaded by file path and then uses sockets of `node:net`.
 */
import { join } from 'node:path';
import type { Dispatcher } from 'undici';
import type { HttpClient } from '../../packages/server/src/providers/http/client.ts';
import { inRepository } from '../contestants/contestant.ts';

type Undici = {
  readonly Agent: new (options: object) => Dispatcher;
  request(url: string, options: object): Promise<Dispatcher.ResponseData>;
};

const FOLDER = inRepository('node_modules/undici');
const { default: undici } = (await import(join(FOLDER, 'index.js'))) as { default: Undici };

/** One connection per stream; the caller measures the time. */
const dispatcher = new undici.Agent({ headersTimeout: 0, bodyTimeout: 0 });

export const undiciClient: HttpClient = async ({ url, headers, body }, signal) => {
  const response = await undici.request(url, { method: 'POST', headers, body, signal, dispatcher });
  const decoder = new TextDecoder();
  const pieces = response.body[Symbol.asyncIterator]();
  const entries = Object.entries(response.headers).map(([name, value]) => [name, String(value)] as const);
  return {
    status: response.statusCode,
    headers: new Headers(entries.map(([name, value]) => [name, value])),
    body: {
      async read() {
        const { value, done } = await pieces.next();
        return done ? decoder.decode() || null : decoder.decode(value, { stream: true });
      },
      cancel: () => void response.body.destroy(),
    },
  };
};
