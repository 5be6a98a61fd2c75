/**
 * One request and its answer: from the first event it caused to the end of the turn, or to calls of the
 * caller's tools.
 */
import {
  type CallId,
  Fault,
  type HistoryItem,
  parsedJson,
  type TurnId,
  type Usage,
} from '@parlance/protocol';
import { addUsage, type Caller, type SessionRef } from '../../core/index.ts';
import type { ChatRequest, StartedTurn } from './chat-request.ts';
import type { DialectContext } from './dialect.ts';
import { type Blocked, type RequestedCall, type TurnUpdate, unanswered } from './turn-updates.ts';

export class RequestTurn {
  /** Resolves when the answer is complete; rejects with a `Fault` if it fails. */
  readonly done: Promise<void>;
  /** Resolves when there is something to send, when the answer may take long, or when it is complete. */
  readonly started: Promise<void>;
  readonly #begins = Promise.withResolvers<void>();
  readonly #ends = Promise.withResolvers<void>();
  /** deltas that have not been sent yet */
  readonly #pending: Delta[] = [];
  #show: ((delta: Delta) => void) | null = null;
  #isOver = false;
  #isAbandoned = false;

  constructor(
    private readonly ctx: Pick<DialectContext, 'engine' | 'log'>,
    private readonly chat: ChatRequest,
    private readonly parts: { readonly started: StartedTurn; readonly answer: Answer },
  ) {
    this.done = this.#ends.promise;
    this.started = this.#begins.promise;
    this.done.catch(() => undefined);
    const { reader, target } = parts.started;
    reader.follow(target, {
      update: (update) => this.#guarded(() => this.#take(update)),
      status: (status) => {
        if (status.kind === 'blocked' && reader.follows(status.turn))
          this.#guarded(() => this.#blocked({ ...status, since: reader }));
      },
      ended: (fault) => this.#end(fault),
    });
  }

  /** Calls `show` with the pending deltas, then with all later ones. */
  show(show: (delta: Delta) => void): void {
    for (const delta of this.#pending.splice(0)) show(delta);
    this.#show = show;
  }

  /** Ends the answer with a fault. The turn continues. */
  fail(fault: Fault): void {
    this.#end(fault);
  }

  /** The client disconnected: cancels the turn that its request started. */
  abandon(): void {
    const { started } = this.parts;
    if (this.#isOver || this.#isAbandoned) return;
    this.#isAbandoned = true;
    if (started.again || this.ctx.engine.draining) this.#end(GONE);
    else if (started.reader.turn !== null) this.#cancel();
  }

  #take(update: TurnUpdate): void {
    if (this.#isOver) return;
    const { answer, started } = this.parts;
    if (this.#isAbandoned && update.turn === started.reader.turn) return void this.#cancel();
    if (update.kind === 'blocked') return void this.#blocked(update);
    if (update.kind === 'approval_requested') this.#begins.resolve();
    this.#send(answer.add(update));
  }

  /** Ends with a question, which the next request answers, or with the calls of the caller's tools. Approvals are answered elsewhere. */
  #blocked(blocked: Blocked): void {
    const { answer, started } = this.parts;
    if (blocked.questions.length > 0) return void this.#end(null);
    const open = blocked.approvals.length > 0 ? null : unanswered(blocked, started.target.answered);
    if (this.#isOver || !open) return;
    this.#send(answer.ask(open.deferred));
    if (answer.calls.length > 0) this.#end(null);
  }

  #send(deltas: readonly Delta[]): void {
    for (const delta of deltas) {
      if (this.#show) this.#show(delta);
      else this.#pending.push(delta);
      this.#begins.resolve();
    }
  }

  #cancel(): void {
    const { ref, reader } = this.parts.started;
    const { principal, dialect } = this.chat;
    this.#end(GONE);
    if (reader.turn) void cancelTurn(this.ctx, ref, { principal, dialect }, reader.turn);
  }

  /** Ends the answer with a fault if the model contradicts what was already sent. */
  #guarded(work: () => void): void {
    try {
      work();
    } catch (thrown) {
      this.#end(thrown);
    }
  }

  #end(failure: unknown): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.parts.started.reader.stop();
    if (failure === null) this.#ends.resolve();
    else this.#ends.reject(failure);
    this.#begins.resolve();
  }
}

const GONE = new Fault('cancelled', 'The client has hung up.');

/** Cancels a turn, even if it has not started. */
export async function cancelTurn(
  { engine, log }: Pick<DialectContext, 'engine' | 'log'>,
  ref: SessionRef,
  caller: Caller,
  turn: TurnId,
): Promise<void> {
  try {
    await engine.send(ref, { type: 'turn.cancel', turn }, caller);
  } catch (thrown) {
    // A fault: the turn has ended in the meantime.
    if (!(thrown instanceof Fault)) log.error({ err: thrown, session: ref.id }, 'failed to cancel turn');
  }
}

/**
 * Ends a stream whose reader has missed events. A disconnect cancels the turn; a slow reader does not. Do not wait until it is
 * read, which would keep the answer in memory: it is sent after what is in flight.
 */
export const TOO_SLOW = new Fault('too_slow', 'The stream was read too slowly. The turn continues.');

// The answer to a request, collected from the updates of a turn.

/** Which model answers once another one than the first has. */
export class FallbackModel {
  /** null: the first one */
  name: string | null = null;

  add(update: TurnUpdate): void {
    if (update.kind === 'restarted') this.name = update.model ?? this.name;
    else if (update.kind === 'step' && this.name !== null) this.name = update.model ?? this.name;
  }
}

/** Why an answer ends. */
export type Finish = 'done' | 'length' | 'refused' | 'calls';

/** The part of a update that has not been sent yet. */
export type Delta = { readonly kind: 'text' | 'reasoning'; readonly text: string } | CallPart;

const NOTHING: readonly Delta[] = [];
const BETWEEN_BLOCKS = '\n\n';

export class Answer {
  usage: Usage = { inputTokens: 0, outputTokens: 0 };
  /** the model that answers, if it is not the one that was asked first */
  readonly fallback = new FallbackModel();
  readonly #text = new RepeatedText();
  readonly #calls: CallAnswers;
  #finish: Finish = 'done';
  #block: string | null = null;
  /** reasoning of the completed steps, and of the current one */
  #reasoning = '';
  #thought = '';
  #skipsReasoning = false;

  /**
   * `shows`: each delta is sent at once and cannot be retracted. `isCallers`: distinguishes the caller's
   * tools from those that other clients execute.
   */
  constructor(
    private readonly shows: boolean,
    isCallers: (tool: string) => boolean,
  ) {
    this.#calls = new CallAnswers(shows, isCallers);
  }

  get text(): string {
    return this.#text.value;
  }

  get reasoning(): string {
    const between = this.#reasoning === '' || this.#thought === '' ? '' : BETWEEN_BLOCKS;
    return this.#reasoning + between + this.#thought;
  }

  /** the calls that the caller must execute */
  get calls(): readonly RequestedCall[] {
    return this.#calls.requested;
  }

  /** the answer as history items, as a client sends it back */
  get items(): HistoryItem[] {
    const text: HistoryItem[] = this.text === '' ? [] : [{ type: 'text', text: this.text }];
    return [...text, ...this.calls.map((asked) => ({ type: 'call' as const, ...asked }))];
  }

  get finish(): Finish {
    return this.calls.length > 0 ? 'calls' : this.#finish;
  }

  /** Throws a `Fault` if the model restarted and its output differs from what was already sent. */
  add(update: TurnUpdate): readonly Delta[] {
    this.fallback.add(update);
    switch (update.kind) {
      case 'text':
        return this.#append(update.block, update.text);
      case 'reasoning':
        if (this.#skipsReasoning || update.text === '') return NOTHING;
        this.#thought += update.text;
        return [{ kind: 'reasoning', text: update.text }];
      case 'arguments':
        return this.#calls.write(update);
      case 'restarted':
        return this.#restart();
      case 'step':
        return this.#endStep(update);
      case 'ended':
        this.#calls.end();
        return NOTHING;
      default:
        return NOTHING;
    }
  }

  /** The turn continues when the caller has executed its calls. */
  ask(calls: readonly RequestedCall[]): readonly Delta[] {
    return this.#calls.ask(calls);
  }

  #append(block: string, text: string): readonly Delta[] {
    if (text === '') return NOTHING;
    const isNext = this.#block !== block && !this.#text.isEmpty;
    this.#block = block;
    const fresh = this.#text.append(isNext ? BETWEEN_BLOCKS + text : text);
    return fresh === '' ? NOTHING : [{ kind: 'text', text: fresh }];
  }

  #restart(): readonly Delta[] {
    this.#text.restart(this.shows);
    this.#calls.end();
    this.#block = null;
    if (this.shows) this.#skipsReasoning ||= this.#thought !== '';
    else this.#thought = '';
    return NOTHING;
  }

  #endStep({ usage, stop }: Extract<TurnUpdate, { kind: 'step' }>): readonly Delta[] {
    this.#text.settle();
    this.#block = null;
    this.#reasoning = this.reasoning;
    this.#thought = '';
    this.#skipsReasoning = false;
    this.usage = addUsage(this.usage, usage);
    this.#finish = stop === 'calls' ? 'done' : stop;
    return NOTHING;
  }
}

// Calls of the caller's tools. Their arguments arrive in pieces while the model writes them, or whole at the
// end.

type CallPart =
  | { readonly kind: 'call'; readonly index: number; readonly call: CallId; readonly tool: string }
  | { readonly kind: 'arguments'; readonly index: number; readonly text: string };

type StreamedCall = { readonly call: CallId; readonly index: number; text: string };

class CallAnswers {
  requested: readonly RequestedCall[] = [];
  readonly #shown: StreamedCall[] = [];

  constructor(
    private readonly shows: boolean,
    private readonly isCallers: (tool: string) => boolean,
  ) {}

  write({ call, tool, offset, text }: Extract<TurnUpdate, { kind: 'arguments' }>): CallPart[] {
    if (!this.shows || !this.isCallers(tool)) return [];
    const known = this.#shown.find((shown) => shown.call === call);
    if (!known) return offset === 0 ? this.#begin(call, tool, text) : [];
    return known.text.length === offset ? this.#append(known, text) : [];
  }

  /** Throws if the calls differ from what was already sent. */
  ask(calls: readonly RequestedCall[]): CallPart[] {
    this.requested = calls.filter(({ tool }) => this.isCallers(tool));
    if (!this.shows || this.requested.length === 0) return [];
    if (this.#shown.some(({ call }) => !this.requested.some((requested) => requested.call === call)))
      throw changed();
    return this.requested.flatMap(({ call, tool, input }) => {
      const whole = JSON.stringify(input);
      const known = this.#shown.find((shown) => shown.call === call);
      if (!known) return this.#begin(call, tool, whole);
      if (isJson(known.text)) return [];
      if (!whole.startsWith(known.text)) throw changed();
      return this.#append(known, whole.slice(known.text.length));
    });
  }

  /** The model ended or restarted without these calls. Throws if any was sent: it cannot be retracted. */
  end(): void {
    if (this.#shown.length > 0) throw changed();
  }

  #begin(call: CallId, tool: string, text: string): CallPart[] {
    const shown = { call, index: this.#shown.length, text: '' };
    this.#shown.push(shown);
    return [{ kind: 'call', index: shown.index, call, tool }, ...this.#append(shown, text)];
  }

  #append(shown: StreamedCall, text: string): CallPart[] {
    shown.text += text;
    return text === '' ? [] : [{ kind: 'arguments', index: shown.index, text }];
  }
}

const isJson = (text: string): boolean => parsedJson(text) !== undefined;

// A text that the model may repeat after a restart: compares the repetition with what was already sent.

const changed = (): Fault =>
  new Fault('provider_unavailable', 'The answer was interrupted, and the model started a different one.');

class RepeatedText {
  value = '';
  /** length of the text that the model has produced since the last restart */
  #position = 0;
  /** length of the text of completed steps, which is not repeated */
  #settled = 0;

  get isEmpty(): boolean {
    return this.#position === 0;
  }

  /** Returns the new part. Throws if the text differs from what was produced before the restart. */
  append(text: string): string {
    const left = this.value.length - this.#position;
    const repeated = left === 0 ? '' : text.slice(0, left);
    if (repeated !== '' && this.value.slice(this.#position, this.#position + repeated.length) !== repeated)
      throw changed();
    const fresh = repeated === '' ? text : text.slice(repeated.length);
    this.value += fresh;
    this.#position += text.length;
    return fresh;
  }

  /** `keep`: the text has been sent already. */
  restart(keep: boolean): void {
    if (!keep) this.value = this.value.slice(0, this.#settled);
    this.#position = this.#settled;
  }

  /** Throws if the repetition is shorter than the text before the restart. */
  settle(): void {
    if (this.#position < this.value.length) throw changed();
    this.#settled = this.#position;
  }
}
