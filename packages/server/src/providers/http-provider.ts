/** Drives a model API over HTTP: one answer of the model, with retries. */
import type { FaultData } from '@parlance/protocol';
import { type ServerSentEvent, ServerSentEventParser } from '@parlance/protocol/server-sent-events';
import type { AnswerLimits, OnDelta, Prompt, Provider, ProviderEvent } from '../core/ports/provider.ts';
import type { Log } from '../core/ports/telemetry.ts';

import { sleep } from '../lib/sleep.ts';
import {
  type ApiFault,
  BUG,
  CANCELLED,
  COMPRESSED,
  ENDLESS,
  REDIRECTED,
  STREAM_ENDED_EARLY,
  tooLong,
  unavailable,
} from './faults.ts';
import type { Body } from './http/body.ts';
import type { HttpClient, HttpResponse } from './http/client.ts';
import { socketClient } from './http/socket-client.ts';
import { type ApiEvent, type ApiRequest, type BufferedOutput, failed, type ModelApi } from './model-api.ts';
import { type RetryPolicy, retryAfter, retryDelay } from './retry.ts';
import { Silence } from './silence.ts';

type RetriedOptions = {
  readonly name: string;
  readonly model: string;
  readonly contextLimit: number;
  readonly retry: RetryPolicy;
};

export type HttpProviderOptions = AttemptOptions & RetriedOptions;

export const httpProvider = <State>(api: ModelApi<State>, options: HttpProviderOptions): Provider =>
  retried(options, (signal, take) => new HttpAttempt(api, options, signal, take), api.acceptsLink);

/** One attempt at an answer. Its methods never throw. */
export interface Attempt {
  /** host and port of the request; undefined before it is sent */
  readonly host: string | undefined;
  /** Resolves when the response starts: with no events, or with the failure. */
  begin(prompt: Prompt, plain: boolean): Promise<Batch>;
  /** The next events; null at the end. The last event is `ended` or `failed`. */
  next(): Promise<Batch | null>;
  /** Must always be called, even after the end. */
  close(): void;
}

/** A provider whose answers are attempted again if the failure may pass. */
export function retried(
  { name, model, contextLimit, retry }: RetriedOptions,
  newAttempt: (signal: AbortSignal, take: OnDelta | undefined) => Attempt | Promise<Attempt>,
  acceptsLink?: Provider['acceptsLink'],
): Provider {
  return {
    name,
    model,
    contextLimit,
    counts: true,
    ...(acceptsLink && { acceptsLink }),
    async *stream(prompt, signal, take): AsyncGenerator<ProviderEvent, void> {
      let plain = false;
      for (let count = 1; ; count++) {
        let broken: ApiFault = STREAM_ENDED_EARLY;
        const attempt = await newAttempt(signal, take);
        try {
          let said = signal.aborted ? null : await attempt.begin(prompt, plain);
          for (; said; said = await attempt.next()) {
            for (const event of said) {
              if (event.type === 'failed') broken = event.fault;
              else yield event;
              if (event.type === 'ended') return;
            }
          }
        } finally {
          attempt.close();
        }
        if (signal.aborted) broken = CANCELLED;
        if (broken.retryPlain && !plain) {
          plain = true;
          count--;
          continue;
        }
        const fault = faultOf(broken);
        const delayMs = signal.aborted ? null : retryDelay(retry, count, broken);
        if (delayMs === null) return yield { type: 'failed', fault };
        const { host } = attempt;
        yield { type: 'retrying', attempt: count + 1, delayMs, fault, host };
        await sleep(delayMs, signal);
      }
    },
  };
}

/** A vendor may ask for any delay: a longer one is nonsense, and may not be a number that can be stored. */
const MAX_RETRY_AFTER_MS = 7 * 86_400_000;

function faultOf({ code, message, vendorStatus, retryAfterMs = 0 }: ApiFault): FaultData {
  return {
    code,
    message,
    ...(retryAfterMs > 0 && { retryAfterMs: Math.min(Math.ceil(retryAfterMs), MAX_RETRY_AFTER_MS) }),
    ...(vendorStatus !== undefined && { vendorStatus }),
  };
}

// One attempt over HTTP: sends one request and reads events in batches.

export type AttemptOptions = {
  /** limits of data buffered until the answer ends; unlimited by default */
  readonly limits?: Pick<AnswerLimits, 'argumentCharacters' | 'answerCalls'>;
  /** a stream without bytes for this long is aborted; one with keep-alives only, after `firstByteMs` */
  readonly idleMs: number;
  /** timeout for the first byte: a local model may have to be loaded, and a long prompt processed */
  readonly firstByteMs?: number;
  /** default: the socket client */
  readonly http?: HttpClient;
  /** logs bugs of a model API adapter, with their cause */
  readonly log?: Log;
};

export type Batch = readonly ApiEvent[];

/** Maximum length of an incomplete event, in characters. */
export const MAX_EVENT_LENGTH = 32 * 1024 * 1024;
const FIRST_BYTE_MS = 300_000;
/** Maximum number of characters read from an error response. */
const REFUSAL_LENGTH = 64 * 1024;

const UNLIMITED = {
  argumentCharacters: Number.POSITIVE_INFINITY,
  answerCalls: Number.POSITIVE_INFINITY,
};
/** In characters as sent: the JSON around a delta of arguments can be a hundred times as long as the delta. */
const MAX_SILENT_CHARACTERS = 256 * 1024 * 1024;

/** An attempt with timeouts and limits; subclasses make the request. */
export abstract class TimedAttempt implements Attempt {
  abstract readonly host: string | undefined;
  /** aborts the request */
  protected readonly stop = new AbortController();
  protected silence: Silence | null = null;
  /** a timeout has aborted the request */
  #tooLong = false;
  // Created here: a closure created in `begin` would retain the response head and the prompt.
  readonly #cancel = (): void => this.stop.abort(this.signal.reason);
  readonly #giveUp = (): void => {
    this.#tooLong = true;
    this.stop.abort();
  };

  constructor(
    protected readonly options: AttemptOptions,
    protected readonly signal: AbortSignal,
    protected readonly take: OnDelta | undefined,
  ) {}

  /** Sends the request. Calls `answered` when the response starts. */
  protected abstract ask(prompt: Prompt, plain: boolean): Promise<Batch>;
  abstract next(): Promise<Batch | null>;
  /** Ends the request. */
  protected abstract release(): void;
  protected abstract faultOf(thrown: unknown): ApiFault;

  async begin(prompt: Prompt, plain: boolean): Promise<Batch> {
    const timer = setTimeout(this.#giveUp, this.options.firstByteMs ?? FIRST_BYTE_MS);
    this.signal.addEventListener('abort', this.#cancel);
    if (this.signal.aborted) this.#cancel();
    try {
      return await this.ask(prompt, plain);
    } catch (thrown) {
      return failed(this.reason(thrown));
    } finally {
      clearTimeout(timer);
    }
  }

  close(): void {
    this.silence?.stop();
    this.signal.removeEventListener('abort', this.#cancel);
    this.release();
  }

  protected answered(): void {
    const { idleMs, firstByteMs = FIRST_BYTE_MS } = this.options;
    this.silence = new Silence(idleMs, this.#giveUp, firstByteMs);
  }

  protected over(emitted: Batch): Batch {
    this.close();
    return emitted;
  }

  protected reason(thrown: unknown): ApiFault {
    if (this.signal.aborted) return CANCELLED;
    return this.#tooLong ? unavailable('The model was silent for too long.') : this.faultOf(thrown);
  }

  /** The limit that the answer exceeds, as a fault. */
  protected beyond({ calls, characters }: BufferedOutput): ApiFault | null {
    const { argumentCharacters, answerCalls } = this.options.limits ?? UNLIMITED;
    if (calls > answerCalls) return tooLong('answerCalls', answerCalls);
    return characters > argumentCharacters ? tooLong('argumentCharacters', argumentCharacters) : null;
  }

  protected bug(err: unknown): ApiFault {
    this.options.log?.error({ err }, 'model API adapter failed');
    return BUG;
  }
}

/** Only the error code of the system: its message contains the address. */
export const unreachable = (code: string | null): ApiFault =>
  unavailable(`The model cannot be reached${code === null ? '' : `: ${code}`}.`);

class HttpAttempt<State> extends TimedAttempt {
  host: string | undefined;
  readonly #events = new ServerSentEventParser(MAX_EVENT_LENGTH);
  readonly #onText = (piece: string): boolean => this.#deliver(piece);
  #body: Body | null = null;
  #state: State | null = null;
  /** characters of events without output: deltas of arguments, and unknown events */
  #silentCharacters = 0;
  /** events that arrived while `next` was pending and were not taken */
  #pending: Batch | null = null;
  /** the answer is complete: its connection can be reused after the end of the stream */
  #complete = false;

  constructor(
    private readonly api: ModelApi<State>,
    ...given: ConstructorParameters<typeof TimedAttempt>
  ) {
    super(...given);
  }

  protected async ask(prompt: Prompt, plain: boolean): Promise<Batch> {
    // Keeps no reference to the request: it can be large, and the answer can take minutes.
    const asked = attempted(() => this.#send(this.api.request(prompt, plain)));
    if (!asked.ok) return failed(this.bug(asked.thrown));
    const answer = await asked.value;
    this.answered();
    if (answer.status >= 300 && answer.status < 400) return failed(REDIRECTED);
    if (!isStream(answer)) return await this.#refusal(answer);
    this.#state = this.api.start();
    this.#body = answer.body;
    if (this.take) answer.body.onText = this.#onText;
    return [];
  }

  async next(): Promise<Batch | null> {
    const body = this.#body;
    if (!body) return null;
    try {
      for (;;) {
        const piece = await body.read();
        const pending = this.#pending;
        this.#pending = null;
        if (pending) return pending;
        this.silence?.received();
        const emitted = piece === null ? this.#last() : this.#steps(this.#events.read(piece));
        if (emitted.length > 0) return emitted;
      }
    } catch (thrown) {
      return this.over(failed(this.reason(thrown)));
    }
  }

  protected release(): void {
    if (this.#body) void releaseBody(this.#body, this.#complete);
    this.#body = null;
  }

  protected faultOf(thrown: unknown): ApiFault {
    const code = (thrown as { code?: unknown } | null)?.code;
    if (code === 'BAD_ENCODING') return COMPRESSED;
    return unreachable(typeof code === 'string' ? code : null);
  }

  #send({ url, headers, body }: ApiRequest): Promise<HttpResponse> {
    this.host = URL.parse(url)?.host;
    return (this.options.http ?? socketClient)(
      {
        url,
        headers: { ...headers, 'content-type': 'application/json', accept: 'text/event-stream' },
        body: JSON.stringify(body),
      },
      this.stop.signal,
    );
  }

  /** Hot path: runs per token. While only text arrives, `next` stays pending and no promise is created. */
  #deliver(piece: string): boolean {
    this.silence?.received();
    let emitted: Batch;
    try {
      emitted = this.#steps(this.#events.read(piece));
    } catch (thrown) {
      emitted = this.over(failed(this.reason(thrown)));
    }
    for (let at = 0; at < emitted.length; at++) {
      if (this.#taken(emitted[at] as ApiEvent)) continue;
      this.#pending = emitted.slice(at);
      return false;
    }
    return true;
  }

  #taken(event: ApiEvent): boolean {
    return (
      (event.type === 'text' || event.type === 'reasoning') && this.take?.(event.type, event.text) === true
    );
  }

  /**
   * Hot path: runs per token. An adapter that throws has a bug, which must not look like a lost connection.
   */
  #steps(events: readonly ServerSentEvent[]): Batch {
    const emitted: ApiEvent[] = [];
    if (events.length > 0) this.silence?.said();
    try {
      for (const event of events) {
        const before = this.#state as State;
        const [state, more] = this.api.step(before, event);
        this.#state = state;
        for (const one of more) add(emitted, one);
        // Text does not change the state, so no more data is buffered than before.
        const beyond = state === before && more.length > 0 ? null : this.#exceeded(state, more, event);
        if (beyond) emitted.push({ type: 'failed', fault: beyond });
        const last = emitted[emitted.length - 1]?.type;
        this.#complete = last === 'ended';
        if (this.#complete || last === 'failed') return this.over(emitted);
      }
    } catch (thrown) {
      return this.over([...emitted, ...failed(this.bug(thrown))]);
    }
    return emitted;
  }

  #exceeded(state: State, emitted: Batch, { data }: ServerSentEvent): ApiFault | null {
    if (emitted.length === 0) this.#silentCharacters += data.length;
    return this.#silentCharacters > MAX_SILENT_CHARACTERS ? ENDLESS : this.beyond(this.api.buffered(state));
  }

  /** The stream has ended. */
  #last(): Batch {
    const emitted = this.#steps(this.#events.end());
    if (!this.#body) return emitted;
    const rest = attempted(() => this.api.finish(this.#state as State));
    return this.over([...emitted, ...(rest.ok ? rest.value : failed(this.bug(rest.thrown)))]);
  }

  async #refusal({ status, headers, body }: HttpResponse): Promise<Batch> {
    const text = await readBeginning(body, REFUSAL_LENGTH);
    const fault = attempted(() => this.api.refused(status, text));
    if (!fault.ok) return failed(this.bug(fault.thrown));
    const retryAfterMs = retryAfter(headers, Date.now());
    return failed({
      ...fault.value,
      ...(status >= 400 && { vendorStatus: status }),
      ...(retryAfterMs !== undefined && { retryAfterMs }),
    });
  }
}

/** Joins text that arrived together, so that a slow server catches up. */
function add(emitted: ApiEvent[], event: ApiEvent): void {
  const last = emitted[emitted.length - 1];
  if (event.type === 'text' && last?.type === 'text')
    emitted[emitted.length - 1] = { type: 'text', text: last.text + event.text };
  else if (event.type === 'arguments' && last?.type === 'arguments' && last.index === event.index)
    emitted[emitted.length - 1] = { ...last, text: last.text + event.text };
  else emitted.push(event);
}

type Attempted<Value> =
  | { readonly ok: true; readonly value: Value }
  | { readonly ok: false; readonly thrown: unknown };

/** An adapter that throws has a bug, which must not look like a lost connection. */
function attempted<Value>(run: () => Value): Attempted<Value> {
  try {
    return { ok: true, value: run() };
  } catch (thrown) {
    return { ok: false, thrown };
  }
}

/** Servers may stream under any content type, but never under these two. */
const isStream = ({ status, headers }: HttpResponse): boolean =>
  status >= 200 && status < 300 && !/json|html/i.test(headers.get('content-type') ?? '');

// Reads the beginning of a body, and releases its connection.

/** How long to wait for the end of a stream after the answer is complete. */
const LAST_BYTES_MS = 1_000;

/** The first characters of a body; the rest is not read. */
async function readBeginning(body: Body, length: number): Promise<string> {
  let text = '';
  for (let piece = await body.read(); piece !== null; piece = await body.read()) {
    text += piece;
    if (text.length >= length) break;
  }
  body.cancel();
  return text.slice(0, length);
}

/** Reads the last bytes, so that the connection can be reused. Runs in the background and never rejects. */
async function releaseBody(body: Body, readOn: boolean): Promise<void> {
  if (!readOn) return body.cancel();
  const timer = setTimeout(() => body.cancel(), LAST_BYTES_MS);
  try {
    while ((await body.read()) !== null);
  } catch {
    // The answer is already complete.
  } finally {
    clearTimeout(timer);
  }
}
