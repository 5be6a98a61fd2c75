/**
 * A call that is open at a server of an earlier revision. The server may ask for something meanwhile: the call then stays
 * open until the user has answered, and its time limit stands still.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import type { CallToolResult } from '@modelcontextprotocol/client';
import { Fault, type JsonObject } from '@parlance/protocol';
import type { ServerRequest } from './requests.ts';

/** `refused`: the server responded with an error; the text is its own. */
export type McpAnswer =
  | { readonly kind: 'done'; readonly result: CallToolResult }
  | { readonly kind: 'refused'; readonly message: string }
  /** the server must be told more, with the next round */
  | {
      readonly kind: 'input';
      readonly requests: Readonly<Record<string, ServerRequest>>;
      readonly state?: string;
      readonly refused?: true;
    }
  /** somebody must sign in, and then call again */
  | { readonly kind: 'sign-in' };

export type Progress = { readonly progress?: number; readonly message?: string };

/** A request of the server that nobody has answered yet. */
export type OpenRequest = {
  readonly request: ServerRequest;
  readonly number: number;
  /** resolves if the server no longer waits for the answer */
  readonly gone: Promise<void>;
};

type Waiting = OpenRequest & { readonly answer: (result: JsonObject) => void };

export type LiveCallOptions = {
  readonly server: string;
  /** the working folder of the session */
  readonly root: string;
  /** whose call it is: requests that could be of several calls are answered only if all are of one session */
  readonly session: string;
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
  readonly report: (progress: Progress) => void;
};

/** How long a server may wait for one answer of the user. */
const ASK_MS = 3_600_000;

/** The call that the current code runs for; a server's request over HTTP arrives on the stream of its call. */
export const currentCall = new AsyncLocalStorage<LiveCall>();

export class LiveCall {
  readonly root: string;
  readonly session: string;
  readonly #options: LiveCallOptions;
  readonly #abort = new AbortController();
  readonly #waiting: Waiting[] = [];
  #wake = Promise.withResolvers<void>();
  #timer: ReturnType<typeof setTimeout> | null = null;
  #outcome: Promise<McpAnswer> | null = null;
  #isSettled = false;
  #asked = 0;

  constructor(options: LiveCallOptions) {
    this.#options = options;
    this.root = options.root;
    this.session = options.session;
    const stop = () => this.#abort.abort(new Fault('cancelled', 'aborted'));
    options.signal.addEventListener('abort', stop, { once: true });
    if (options.signal.aborted) stop();
  }

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  begin(run: () => Promise<McpAnswer>): void {
    this.#restart();
    this.#outcome = currentCall.run(this, run).finally(() => {
      this.#isSettled = true;
      this.#stop();
      for (const { answer } of this.#waiting.splice(0)) answer({});
      this.#wake.resolve();
    });
    this.#outcome.catch(() => undefined);
  }

  /** The outcome, or the next request of the server. */
  async next(): Promise<{ readonly answer: McpAnswer } | { readonly asked: OpenRequest }> {
    for (;;) {
      if (this.#isSettled && this.#outcome) return { answer: await this.#outcome };
      const [asked] = this.#waiting;
      if (asked) return { asked };
      this.#wake = Promise.withResolvers();
      await this.#wake.promise;
    }
  }

  /** Asks the user. `signal`: the server no longer waits. */
  async ask(request: ServerRequest, signal: AbortSignal): Promise<JsonObject> {
    const answered = Promise.withResolvers<JsonObject>();
    const gone = Promise.withResolvers<void>();
    const asked: Waiting = { request, number: ++this.#asked, gone: gone.promise, answer: answered.resolve };
    const end = () => answered.resolve({ action: 'cancel' });
    const limit = setTimeout(end, ASK_MS);
    signal.addEventListener('abort', end, { once: true });
    this.#waiting.push(asked);
    this.#stop();
    this.#wake.resolve();
    try {
      return await answered.promise;
    } finally {
      clearTimeout(limit);
      signal.removeEventListener('abort', end);
      const at = this.#waiting.indexOf(asked);
      if (at >= 0) this.#waiting.splice(at, 1);
      gone.resolve();
      if (!this.#isSettled && this.#waiting.length === 0) this.#restart();
    }
  }

  /** Whether the server still waits for the answer to this request. */
  isAsking(number: number): boolean {
    return this.#waiting[0]?.number === number;
  }

  /** Answers the oldest request. */
  answer(result: JsonObject): void {
    this.#waiting.shift()?.answer(result);
  }

  progressed(progress: Progress): void {
    if (this.#waiting.length === 0 && !this.#isSettled) this.#restart();
    this.#options.report(progress);
  }

  #restart(): void {
    this.#stop();
    const { timeoutMs, server } = this.#options;
    const expire = () =>
      this.#abort.abort(
        new Fault('tool_failed', `The MCP server ${server} did not answer within ${timeoutMs / 1_000} s.`),
      );
    this.#timer = setTimeout(expire, timeoutMs);
  }

  #stop(): void {
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = null;
  }
}
