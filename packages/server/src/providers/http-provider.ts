/** Drives a wire over HTTP: one answer of the model, tried again where that may help. */
import type { Log } from '../core/ports/log.ts';
import type { Prompt, Provider, ProviderEvent } from '../core/ports/provider.ts';
import { eventBatches } from './event-batches.ts';
import type { Body } from './http/body.ts';
import type { HttpAnswer } from './http/connection.ts';
import { post } from './http/post.ts';
import { type RetryPolicy, retryAfter, retryDelay } from './retry.ts';
import { BROKEN_OFF, type Wire, type WireEvent, type WireFault, type WireRequest } from './wire.ts';

export type HttpProviderOptions = {
  readonly name: string;
  readonly model: string;
  readonly contextLimit: number;
  /** a stream that says nothing for this long is broken off */
  readonly idleMs: number;
  /** how long the first byte may take: a local model may have to be loaded, and a long prompt to be read */
  readonly firstByteMs?: number;
  readonly retry: RetryPolicy;
  /** told of bugs in a wire, with their cause */
  readonly log?: Log;
};

const FIRST_BYTE_MS = 300_000;
/** How much of a refusal is read. */
const REFUSAL_LENGTH = 64 * 1024;

export function httpProvider<State>(wire: Wire<State>, options: HttpProviderOptions): Provider {
  const { name, model, contextLimit, retry } = options;
  return {
    name,
    model,
    contextLimit,
    counts: true,
    async *stream(prompt, signal): AsyncGenerator<ProviderEvent, void> {
      let plain = false;
      for (let attempt = 1; ; attempt++) {
        let broken: WireFault = BROKEN_OFF;
        for await (const batch of attemptOf(wire, prompt, plain, options, signal)) {
          for (const event of batch) {
            if (event.type === 'failed') broken = event.fault;
            else yield event;
            if (event.type === 'ended') return;
          }
        }
        if (signal.aborted) broken = CANCELLED;
        if (broken.plainly && !plain) {
          plain = true;
          attempt--;
          continue;
        }
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
const REDIRECTED: WireFault = {
  code: 'provider_rejected',
  message: "The model's address redirects to another one, which is not followed: check the base URL.",
  retryable: false,
};
const BUG: WireFault = {
  code: 'internal',
  message: "The model's answer could not be read.",
  retryable: false,
};

const failed = (fault: WireFault): readonly WireEvent[] => [{ type: 'failed', fault }];

/** One attempt, in batches of what arrived together. The last event is `ended` or `failed`; never throws. */
async function* attemptOf<State>(
  wire: Wire<State>,
  prompt: Prompt,
  plain: boolean,
  options: HttpProviderOptions,
  signal: AbortSignal,
): AsyncGenerator<readonly WireEvent[], void> {
  const { idleMs, firstByteMs = FIRST_BYTE_MS, log } = options;
  const idle = new AbortController();
  let timer = setTimeout(() => idle.abort(), firstByteMs);
  const bug = (err: unknown) => {
    log?.error({ err }, 'a wire threw');
    return failed(BUG);
  };
  try {
    // Nothing of the request is held here: it can be large, and the answer takes its time.
    const posted = attempted(() =>
      asked(wire.request(prompt, plain), AbortSignal.any([signal, idle.signal])),
    );
    if (!posted.ok) return yield bug(posted.thrown);
    const answer = await posted.value;
    clearTimeout(timer);
    timer = setTimeout(() => idle.abort(), idleMs);
    if (answer.status >= 300 && answer.status < 400) return yield failed(REDIRECTED);
    if (!isStream(answer)) {
      const text = await beginning(answer.body);
      const fault = attempted(() => wire.refused(answer.status, text));
      if (!fault.ok) return yield bug(fault.thrown);
      const retryAfterMs = retryAfter(answer.headers, Date.now());
      return yield failed(retryAfterMs === undefined ? fault.value : { ...fault.value, retryAfterMs });
    }
    let state = wire.start();
    let complete = false;
    const alive = () => void timer.refresh();
    for await (const events of eventBatches(answer.body, alive, () => complete)) {
      const said: WireEvent[] = [];
      for (const event of events) {
        const step = attempted(() => wire.step(state, event));
        if (!step.ok) return yield bug(step.thrown);
        state = step.value[0];
        for (const one of step.value[1]) add(said, one);
        const last = said.at(-1)?.type;
        complete = last === 'ended';
        if (complete || last === 'failed') return yield said;
      }
      if (said.length > 0) yield said;
    }
    const rest = attempted(() => wire.finish(state));
    yield rest.ok ? rest.value : bug(rest.thrown);
  } catch (thrown) {
    if (signal.aborted) yield failed(CANCELLED);
    else if (idle.signal.aborted) yield failed(unavailable('The model was silent for too long.'));
    else yield failed(unavailable(reason(thrown)));
  } finally {
    clearTimeout(timer);
  }
}

/** Words that arrived together are told together: a server that is behind catches up. */
function add(said: WireEvent[], event: WireEvent): void {
  const last = said.at(-1);
  if (event.type === 'text' && last?.type === 'text')
    said[said.length - 1] = { type: 'text', text: last.text + event.text };
  else said.push(event);
}

const asked = ({ url, headers, body }: WireRequest, signal: AbortSignal): Promise<HttpAnswer> =>
  post(
    {
      url,
      headers: { ...headers, 'content-type': 'application/json', accept: 'text/event-stream' },
      body: JSON.stringify(body),
    },
    signal,
  );

type Attempted<Value> =
  | { readonly ok: true; readonly value: Value }
  | { readonly ok: false; readonly thrown: unknown };

/** A wire that throws has a bug, which must not look like a lost connection. */
function attempted<Value>(run: () => Value): Attempted<Value> {
  try {
    return { ok: true, value: run() };
  } catch (thrown) {
    return { ok: false, thrown };
  }
}

/** Not every server that streams says so in its content type; these two never do. */
const isStream = ({ status, headers }: HttpAnswer): boolean =>
  status >= 200 && status < 300 && !/json|html/i.test(headers.get('content-type') ?? '');

async function beginning(body: Body): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  for (let read = await body.read(); read.value && text.length < REFUSAL_LENGTH; read = await body.read())
    text += decoder.decode(read.value, { stream: true });
  void body.cancel();
  return text.slice(0, REFUSAL_LENGTH);
}

/** What the machine says about a connection, without the address and whatever is in it. */
const reason = (thrown: unknown): string => {
  const code = (thrown as { code?: unknown } | null)?.code;
  return `The model cannot be reached${typeof code === 'string' ? ` (${code})` : ''}.`;
};

/** Ends at once where the signal is aborted. */
function pause(ms: number, signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  const wake = () => resolve();
  if (signal.aborted) resolve();
  else signal.addEventListener('abort', wake, { once: true });
  return promise.finally(() => {
    clearTimeout(timer);
    signal.removeEventListener('abort', wake);
  });
}
