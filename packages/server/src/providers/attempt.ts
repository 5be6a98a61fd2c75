/** One attempt at an answer: asked for once, and read in batches of what arrived together. Nothing here throws. */
import { type ServerSentEvent, ServerSentEventParser } from '@parlance/protocol/server-sent-events';
import type { AnswerLimits } from '../core/ports/answer-limits.ts';
import type { Log } from '../core/ports/logger.ts';
import type { OnDelta, Prompt } from '../core/ports/provider.ts';
import { BUG, CANCELLED, COMPRESSED, ENDLESS, REDIRECTED, tooLong, unavailable } from './attempt-faults.ts';
import type { Body } from './http/body.ts';
import type { HttpClient, HttpResponse } from './http/client.ts';
import { readBeginning, releaseBody } from './http/release-body.ts';
import { socketClient } from './http/socket-client.ts';
import { retryAfter } from './retry.ts';
import { Silence } from './silence.ts';
import type { Wire, WireEvent, WireFault, WireRequest } from './wire.ts';

export type AttemptOptions = {
  /** what the answer may keep until its end; nothing is limited if it is not given */
  readonly limits?: Pick<AnswerLimits, 'argumentCharacters' | 'answerCalls'>;
  /** a stream that is silent for this long is broken off; one that only shows signs of life, after `firstByteMs` */
  readonly idleMs: number;
  /** how long the first byte may take: a local model may have to be loaded, and a long prompt to be read */
  readonly firstByteMs?: number;
  /** over sockets if it is not given */
  readonly http?: HttpClient;
  /** told of bugs in a wire, with their cause */
  readonly log?: Log;
};

type Batch = readonly WireEvent[];

/** How many characters of an incomplete event are kept. */
const LONGEST_EVENT = 32 * 1024 * 1024;
const FIRST_BYTE_MS = 300_000;
/** How much of a refusal is read. */
const REFUSAL_LENGTH = 64 * 1024;

const UNLIMITED = {
  argumentCharacters: Number.POSITIVE_INFINITY,
  answerCalls: Number.POSITIVE_INFINITY,
};
/** As they are sent: the JSON around a piece of arguments can be a hundred times as long as the piece. */
const MOST_UNSAID = 256 * 1024 * 1024;

export class Attempt<State> {
  /** host and port of the address that is asked; undefined until then */
  host: string | undefined;
  /** breaks the answer off */
  readonly #stop = new AbortController();
  /** the model was silent for too long */
  #tooLong = false;
  readonly #events = new ServerSentEventParser(LONGEST_EVENT);
  // Made here and not where they are needed: a function made in `begin` would keep the answer's head and the prompt.
  readonly #cancel = (): void => this.#stop.abort(this.signal.reason);
  readonly #giveUp = (): void => {
    this.#tooLong = true;
    this.#stop.abort();
  };
  readonly #onText = (piece: string): boolean => this.#deliver(piece);
  #silence: Silence | null = null;
  #body: Body | null = null;
  #state: State | null = null;
  /** characters of events that said nothing: pieces of arguments, and what is not understood */
  #unsaid = 0;
  /** what arrived while `next` waited, and was not taken */
  #pending: Batch | null = null;
  /** nothing more is wanted of the answer: its connection may be used again once it has ended */
  #complete = false;

  constructor(
    private readonly wire: Wire<State>,
    private readonly options: AttemptOptions,
    private readonly signal: AbortSignal,
    private readonly take?: OnDelta,
  ) {}

  /** Resolves when the answer begins, with nothing, or with the failure that it is. */
  async begin(prompt: Prompt, plain: boolean): Promise<Batch> {
    const { firstByteMs = FIRST_BYTE_MS, idleMs } = this.options;
    const timer = setTimeout(this.#giveUp, firstByteMs);
    this.signal.addEventListener('abort', this.#cancel);
    if (this.signal.aborted) this.#cancel();
    try {
      // Nothing of the request is held here: it can be large, and the answer takes its time.
      const asked = attempted(() => this.#ask(this.wire.request(prompt, plain)));
      if (!asked.ok) return this.#bug(asked.thrown);
      const answer = await asked.value;
      this.#silence = new Silence(idleMs, this.#giveUp, firstByteMs);
      if (answer.status >= 300 && answer.status < 400) return failed(REDIRECTED);
      if (!isStream(answer)) return await this.#refusal(answer);
      this.#state = this.wire.start();
      this.#body = answer.body;
      if (this.take) answer.body.onText = this.#onText;
      return [];
    } catch (thrown) {
      return failed(this.#reason(thrown));
    } finally {
      clearTimeout(timer);
    }
  }

  /** What is said next; null where that was all. The last event of all is `ended` or `failed`. */
  async next(): Promise<Batch | null> {
    const body = this.#body;
    if (!body) return null;
    try {
      for (;;) {
        const piece = await body.read();
        const pending = this.#pending;
        this.#pending = null;
        if (pending) return pending;
        this.#silence?.heard();
        const said = piece === null ? this.#last() : this.#steps(this.#events.read(piece));
        if (said.length > 0) return said;
      }
    } catch (thrown) {
      return this.#over(failed(this.#reason(thrown)));
    }
  }

  /** Must be called, whether it was read to the end or not. */
  close(): void {
    this.#silence?.stop();
    this.signal.removeEventListener('abort', this.#cancel);
    if (this.#body) void releaseBody(this.#body, this.#complete);
    this.#body = null;
  }

  #ask({ url, headers, body }: WireRequest): Promise<HttpResponse> {
    this.host = URL.parse(url)?.host;
    return (this.options.http ?? socketClient)(
      {
        url,
        headers: { ...headers, 'content-type': 'application/json', accept: 'text/event-stream' },
        body: JSON.stringify(body),
      },
      this.#stop.signal,
    );
  }

  /** Runs once per token. While nothing but text arrives, `next` stays pending and no promise is made. */
  #deliver(piece: string): boolean {
    this.#silence?.heard();
    let said: Batch;
    try {
      said = this.#steps(this.#events.read(piece));
    } catch (thrown) {
      said = this.#over(failed(this.#reason(thrown)));
    }
    for (let at = 0; at < said.length; at++) {
      if (this.#taken(said[at] as WireEvent)) continue;
      this.#pending = said.slice(at);
      return false;
    }
    return true;
  }

  #taken(event: WireEvent): boolean {
    return (
      (event.type === 'text' || event.type === 'reasoning') && this.take?.(event.type, event.text) === true
    );
  }

  /** On the path of a token. A wire that throws has a bug, which must not look like a lost connection. */
  #steps(events: readonly ServerSentEvent[]): Batch {
    const said: WireEvent[] = [];
    if (events.length > 0) this.#silence?.said();
    try {
      for (const event of events) {
        const before = this.#state as State;
        const [state, more] = this.wire.step(before, event);
        this.#state = state;
        for (const one of more) add(said, one);
        // Text leaves the state as it is: nothing more is held than before.
        const beyond = state === before && more.length > 0 ? null : this.#beyond(state, more, event);
        if (beyond) said.push({ type: 'failed', fault: beyond });
        const last = said[said.length - 1]?.type;
        this.#complete = last === 'ended';
        if (this.#complete || last === 'failed') return this.#over(said);
      }
    } catch (thrown) {
      return this.#over([...said, ...this.#bug(thrown)]);
    }
    return said;
  }

  /** Why the answer is stopped before it ends. */
  #beyond(state: State, said: Batch, { data }: ServerSentEvent): WireFault | null {
    if (said.length === 0) this.#unsaid += data.length;
    if (this.#unsaid > MOST_UNSAID) return ENDLESS;
    const { argumentCharacters, answerCalls } = this.options.limits ?? UNLIMITED;
    const { calls, characters } = this.wire.held(state);
    if (calls > answerCalls) return tooLong('answerCalls', answerCalls);
    return characters > argumentCharacters ? tooLong('argumentCharacters', argumentCharacters) : null;
  }

  /** The stream has ended. */
  #last(): Batch {
    const said = this.#steps(this.#events.end());
    if (!this.#body) return said;
    const rest = attempted(() => this.wire.finish(this.#state as State));
    return this.#over([...said, ...(rest.ok ? rest.value : this.#bug(rest.thrown))]);
  }

  #over(said: Batch): Batch {
    this.close();
    return said;
  }

  async #refusal({ status, headers, body }: HttpResponse): Promise<Batch> {
    const text = await readBeginning(body, REFUSAL_LENGTH);
    const fault = attempted(() => this.wire.refused(status, text));
    if (!fault.ok) return this.#bug(fault.thrown);
    const retryAfterMs = retryAfter(headers, Date.now());
    return failed(retryAfterMs === undefined ? fault.value : { ...fault.value, retryAfterMs });
  }

  #bug(err: unknown): Batch {
    this.options.log?.error({ err }, 'a wire threw');
    return failed(BUG);
  }

  #reason(thrown: unknown): WireFault {
    if (this.signal.aborted) return CANCELLED;
    if (this.#tooLong) return unavailable('The model was silent for too long.');
    // What the machine says about a connection, without the address and whatever is in it.
    const code = (thrown as { code?: unknown } | null)?.code;
    if (code === 'BAD_ENCODING') return COMPRESSED;
    return unavailable(`The model cannot be reached${typeof code === 'string' ? ` (${code})` : ''}.`);
  }
}

const failed = (fault: WireFault): Batch => [{ type: 'failed', fault }];

/** Words that arrived together are told together: a server that is behind catches up. */
function add(said: WireEvent[], event: WireEvent): void {
  const last = said[said.length - 1];
  if (event.type === 'text' && last?.type === 'text')
    said[said.length - 1] = { type: 'text', text: last.text + event.text };
  else said.push(event);
}

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
const isStream = ({ status, headers }: HttpResponse): boolean =>
  status >= 200 && status < 300 && !/json|html/i.test(headers.get('content-type') ?? '');
