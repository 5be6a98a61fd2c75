/** Drives a wire over HTTP: one answer of the model, tried again where that may help. */
import { createParser } from 'eventsource-parser';
import type { Prompt, Provider, ProviderEvent } from '../core/ports/provider.ts';
import { type RetryPolicy, retryDelay } from './retry.ts';
import type { VendorEvent, Wire, WireEvent, WireFault } from './wire.ts';

export type HttpProviderOptions = {
  readonly name: string;
  readonly model: string;
  readonly contextLimit: number;
  /** a stream that says nothing for this long is broken off */
  readonly idleMs: number;
  readonly retry: RetryPolicy;
};

/** How much of a refusal is read. */
const REFUSAL_BYTES = 64 * 1024;

export function httpProvider<State>(wire: Wire<State>, options: HttpProviderOptions): Provider {
  const { name, model, contextLimit, idleMs, retry } = options;
  return {
    name,
    model,
    contextLimit,
    async *stream(prompt, signal): AsyncGenerator<ProviderEvent, void> {
      for (let attempt = 1; ; attempt++) {
        let broken: WireFault | null = null;
        for await (const event of answer(wire, prompt, idleMs, signal)) {
          if (event.type === 'failed') broken = event.fault;
          else yield event;
          if (event.type === 'failed' || event.type === 'ended') break;
        }
        if (signal.aborted) broken = CANCELLED;
        if (!broken) return;
        const { code, message } = broken;
        const delayMs = signal.aborted ? null : retryDelay(retry, attempt, broken);
        if (delayMs === null) return yield { type: 'failed', fault: { code, message } };
        yield { type: 'retrying', attempt: attempt + 1, delayMs, fault: { code, message } };
        await pause(delayMs, signal);
      }
    },
  };
}

const unavailable = (message: string): WireFault => ({
  code: 'provider_unavailable',
  message,
  retryable: true,
});
const CANCELLED: WireFault = { code: 'cancelled', message: 'The answer was cancelled.', retryable: false };

/** One attempt. Ends in one `ended` or `failed`; never throws. */
async function* answer<State>(
  wire: Wire<State>,
  prompt: Prompt,
  idleMs: number,
  signal: AbortSignal,
): AsyncGenerator<WireEvent, void> {
  const idle = new AbortController();
  let timer = setTimeout(() => idle.abort(), idleMs);
  const alive = () => {
    clearTimeout(timer);
    timer = setTimeout(() => idle.abort(), idleMs);
  };
  try {
    const { url, headers, body } = wire.request(prompt);
    const response = await fetch(url, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json', accept: 'text/event-stream' },
      body: JSON.stringify(body),
      signal: AbortSignal.any([signal, idle.signal]),
      redirect: 'error', // a key is never sent on to another address
    });
    alive();
    if (!response.ok || !response.body) return yield failed(await refusal(wire, response));
    let state = wire.start();
    for await (const event of events(response.body, alive)) {
      const [next, said] = wire.step(state, event);
      state = next;
      for (const one of said) {
        yield one;
        if (one.type === 'ended' || one.type === 'failed') return;
      }
    }
    yield* wire.finish(state);
  } catch (thrown) {
    if (signal.aborted) yield failed(CANCELLED);
    else if (idle.signal.aborted) {
      yield failed(unavailable(`The model was silent for ${Math.round(idleMs / 1000)} seconds.`));
    } else yield failed(unavailable(reason(thrown)));
  } finally {
    clearTimeout(timer);
  }
}

const failed = (fault: WireFault): WireEvent => ({ type: 'failed', fault });

/** What the machine says about a connection, without the address and whatever is in it. */
const reason = (thrown: unknown): string => {
  const code = (thrown as { code?: unknown } | null)?.code;
  return `The model cannot be reached${typeof code === 'string' ? ` (${code})` : ''}.`;
};

/** Characters may be cut anywhere between two chunks, and so may lines. */
async function* events(
  body: ReadableStream<Uint8Array>,
  alive: () => void,
): AsyncGenerator<VendorEvent, void> {
  const decoder = new TextDecoder();
  const waiting: VendorEvent[] = [];
  const parser = createParser({ onEvent: ({ event, data }) => void waiting.push({ event, data }) });
  for await (const chunk of body) {
    alive();
    parser.feed(decoder.decode(chunk, { stream: true }));
    yield* waiting.splice(0);
  }
  parser.feed(`${decoder.decode()}\n\n`); // an event whose last line was not ended
  yield* waiting.splice(0);
}

async function refusal<State>(wire: Wire<State>, response: Response): Promise<WireFault> {
  let body = '';
  const decoder = new TextDecoder();
  for await (const chunk of response.body ?? []) {
    body += decoder.decode(chunk, { stream: true });
    if (body.length >= REFUSAL_BYTES) break;
  }
  const fault = wire.refused(response.status, body.slice(0, REFUSAL_BYTES));
  const retryAfterMs = retryAfter(response.headers.get('retry-after'));
  return retryAfterMs === undefined ? fault : { ...fault, retryAfterMs };
}

/** Seconds, or a date. */
function retryAfter(header: string | null): number | undefined {
  if (!header) return undefined;
  const seconds = Number(header);
  if (Number.isFinite(seconds)) return Math.max(0, seconds * 1000);
  const date = Date.parse(header);
  return Number.isNaN(date) ? undefined : Math.max(0, date - Date.now());
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  signal.addEventListener('abort', () => resolve(), { once: true });
  return promise.finally(() => clearTimeout(timer));
}
