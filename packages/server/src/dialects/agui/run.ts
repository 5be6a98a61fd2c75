/** One request and its stream: follows the turn of the request, or shows the thread and its running turn. */
import { Fault, isDurable, type SessionEvent, type TurnId, type Usage } from '@parlance/protocol';
import type { Watch } from '../../core/api/index.ts';
import { type LogIds, reported } from '../shared/dialect.ts';
import { retryText } from '../shared/retry.ts';
import type { Context } from './context.ts';
import type { AguiEvent, ContentEvent, Message, Outcome, TokenUsage } from './events.ts';

import { interruptOf } from './interrupts.ts';
import { type PastPiece, PastPieces } from './past-pieces.ts';
import { closing, IDLE, join, type Piece, projection, type State } from './projection.ts';
import { callerOf, type RunRequest, type StartedRun } from './run-request.ts';
import type { Message as GivenMessage } from './schemas.ts';
import { readTranscript, Transcript } from './transcript.ts';

export type RunParts = {
  readonly request: RunRequest;
  readonly started: StartedRun;
  readonly send: (event: AguiEvent) => void;
  readonly ids: LogIds;
};

const PROTOCOL_VERSION = '1.0';

export class Run {
  readonly #ends = Promise.withResolvers<void>();
  readonly #client: ClientView;
  readonly #usage = new RunUsage();
  /** turns that are shown */
  readonly #shown = new Set<TurnId>();
  #state: State = IDLE;
  /** past events; null once they were sent */
  #past: PastPieces | null = new PastPieces();
  /** pieces that arrive while a snapshot is made; null otherwise */
  #held: PastPiece[] | null = null;
  #watch: Watch | null = null;
  /** the number of the last event */
  #seq = 0;
  #isOver = false;
  #isAbandoned = false;

  constructor(
    private readonly ctx: Context,
    private readonly parts: RunParts,
  ) {
    this.#client = new ClientView(parts.request.run.messages);
    const turn = parts.started.target?.turn;
    if (turn) this.#shown.add(turn);
  }

  /** Resolves when the last event was sent, or the client has disconnected. Never rejects. */
  async follow(): Promise<void> {
    const { threadId, runId, protocolVersion } = this.parts.request.run;
    const version = protocolVersion ? { protocolVersion: PROTOCOL_VERSION } : {};
    this.parts.send({ type: 'RUN_STARTED', threadId, runId, ...version });
    const { target } = this.parts.started;
    await (target ? this.#read(target.after) : this.#look()).catch((thrown) => this.#fail(thrown));
    await this.#ends.promise;
  }

  /** Ends the run with an error. The turn continues. */
  fail(fault: Fault): void {
    this.#fail(fault);
  }

  /** The client disconnected: cancels the turn that its request started. */
  abandon(): void {
    if (this.#isOver || this.#isAbandoned) return;
    this.#isAbandoned = true;
    if (!this.parts.started.owns || this.ctx.engine.draining) this.#stop();
    else this.#cancelShown();
  }

  async #read(after: number): Promise<void> {
    await this.ctx.engine.watch(this.parts.started.ref, (event) => this.#take(event), {
      after,
      begin: (watch) => this.#begin(watch),
      committed: () => this.#restIfBlocked(),
    });
  }

  /** Sends all messages, then the running turn. */
  async #look(): Promise<void> {
    const transcript = new Transcript();
    const sink = (event: SessionEvent) => {
      if (!this.#past) this.#take(event);
      else if (isDurable(event)) transcript.add(event);
    };
    const begin = (watch: Watch) => {
      const { turn } = watch.snapshot();
      this.#state = transcript.state;
      this.#send({ type: 'MESSAGES_SNAPSHOT', messages: this.#client.snapshot(transcript.messages) });
      if (turn) this.#shown.add(turn);
      this.#begin(watch);
      if (!turn) this.#finish({ type: 'success' });
    };
    const committed = () => this.#restIfBlocked();
    await this.ctx.engine.watch(this.parts.started.ref, sink, { after: 0, begin, committed });
  }

  /** The past was read: live events follow. */
  #begin(watch: Watch): void {
    this.#watch = watch;
    const past = this.#past?.pieces ?? [];
    this.#past = null;
    for (const { piece, seq } of past) this.#pass(piece, seq);
    const [state, pieces] = join(this.#state, watch.snapshot());
    this.#state = state;
    for (const { body } of pieces) this.#pass(body, this.#seq);
    if (this.#isAbandoned) this.#cancelShown();
    if (this.#isOver) watch.stop();
    this.#restIfBlocked();
  }

  #take(event: SessionEvent): void {
    if (this.#isOver) return;
    if (event.type === 'session.erased') this.#fail(new Fault('not_found', 'The thread was deleted.'));
    if (isDurable(event)) this.#seq = event.seq;
    const [state, pieces] = projection.step(this.#state, event);
    this.#state = state;
    if (this.#past) this.#past.add(event, pieces);
    else for (const { body } of pieces) this.#pass(body, this.#seq);
  }

  #pass(piece: Piece, seq: number): void {
    if (this.#isOver) return;
    if (this.#held) this.#held.push({ piece, seq });
    else this.#show(piece, seq);
  }

  #show(piece: Piece, seq: number): void {
    const { turn, kind } = piece;
    if (kind === 'started' && this.#isFollowed(piece.input)) this.#shown.add(turn);
    if (kind === 'dropped' && piece.input === this.parts.started.target?.input)
      this.#finish({ type: 'cancelled' });
    if (!this.#shown.has(turn)) return;
    if (this.#isAbandoned) this.#cancelShown();
    switch (kind) {
      case 'event':
        if (!this.#isKnown(piece.event)) this.#send(piece.event);
        return;
      case 'answered':
        if (seq > (this.parts.started.target?.counted ?? 0)) this.#usage.add(piece.usage);
        return;
      case 'void':
        this.#held = [];
        this.#resend(seq).catch((thrown) => this.#fail(thrown));
        return;
      case 'ended':
      case 'cancelled':
        if (this.#isLast()) this.#finish({ type: kind === 'ended' ? 'success' : 'cancelled' });
        return;
      case 'failed':
        if (this.#isLast()) this.#fail(Fault.from(piece.fault));
    }
  }

  /** After a snapshot of the thread the client has only that. */
  #isKnown(event: ContentEvent): boolean {
    return this.parts.started.target !== null && this.#client.has(event);
  }

  /** Whether the current turn is shown. */
  #isShown(): boolean {
    return this.#state.turn !== null && this.#shown.has(this.#state.turn);
  }

  #isFollowed(input: string): boolean {
    const { target } = this.parts.started;
    return target !== null && (target.turn === null ? input === target.input : !this.#isLast());
  }

  /** Whether the shown turn is the last one. */
  #isLast(): boolean {
    return this.#shown.size > (this.parts.started.target?.more ?? 0);
  }

  /** Shown output was discarded: sends all messages without it, then the events since. */
  async #resend(head: number): Promise<void> {
    const { engine } = this.ctx;
    const { messages } = await readTranscript(engine, this.parts.started.ref, head);
    this.#send({ type: 'MESSAGES_SNAPSHOT', messages: this.#client.snapshot(messages) });
    const held = this.#held ?? [];
    this.#held = null;
    for (const { piece, seq } of held) this.#pass(piece, seq);
    this.#restIfBlocked();
  }

  /**
   * Ends if the turn continues only with an answer. If another turn blocks the input, its interrupts are shown.
   */
  #restIfBlocked(): void {
    const status = this.#watch?.status();
    if (this.#isOver || this.#held || this.#past || status?.kind !== 'blocked') return;
    const interrupts = status.approvals.map(interruptOf);
    if (interrupts.length > 0) this.#finish({ type: 'interrupt', interrupts });
    else if (this.#isShown())
      this.#finish({ type: 'success', pendingToolCallIds: status.deferred.map(({ call }) => call) });
  }

  #finish(outcome: Outcome): void {
    const { threadId, runId, protocolVersion } = this.parts.request.run;
    const ended = protocolVersion ? { outcome } : legacyOutcome(outcome);
    this.#send({ type: 'RUN_FINISHED', threadId, runId, ...ended, ...this.#usage.usage });
    this.#stop();
  }

  #fail(thrown: unknown): void {
    if (this.#isOver) return;
    const fault = reported(thrown, this.ctx, this.parts.ids);
    for (const event of this.#isShown() ? closing(this.#state) : []) this.#send(event);
    this.#send({ type: 'RUN_ERROR', message: retryText(fault), code: fault.code });
    this.#stop();
  }

  #send(event: AguiEvent): void {
    if (!this.#isOver && !this.#isAbandoned) this.parts.send(event);
  }

  /** Cancels the turn, even if it has not started yet. */
  #cancelShown(): void {
    const turn = this.#isShown() ? this.#state.turn : this.parts.started.target?.planned;
    if (this.#past || !turn) return;
    this.#stop();
    void this.#cancel(turn);
  }

  async #cancel(turn: TurnId): Promise<void> {
    const { engine, log } = this.ctx;
    const { started, request } = this.parts;
    try {
      await engine.send(started.ref, { type: 'turn.cancel', turn }, callerOf(request));
    } catch (thrown) {
      if (!(thrown instanceof Fault))
        log.error({ err: thrown, session: started.ref.id }, 'failed to cancel turn');
    }
  }

  #stop(): void {
    this.#isOver = true;
    this.#watch?.stop();
    this.#ends.resolve();
  }
}

// What the client of a run already has, according to the messages of its request.

/** The client refuses an event of more than 10 MB. */
const MAX_CHARACTERS = 8_000_000;

class ClientView {
  readonly #messages = new Set<string>();
  readonly #calls = new Set<string>();
  /** ids of result messages, by call: results of front-end tools have ids of the client */
  readonly #results = new Map<string, string>();
  /**
   * instructions are not part of the conversation, but a snapshot without them would remove them from the
   * client
   */
  readonly #instructions: Message[] = [];

  constructor(messages: readonly GivenMessage[]) {
    for (const message of messages) {
      const { id, role } = message;
      this.#messages.add(id);
      if (role === 'assistant') for (const call of message.toolCalls ?? []) this.#calls.add(call.id);
      if (role === 'tool') this.#results.set(message.toolCallId, id);
      if (role === 'system' || role === 'developer')
        this.#instructions.push({ id, role, content: message.content });
    }
  }

  /** Whether the client already has the content of the event. */
  has(event: ContentEvent): boolean {
    if (event.type === 'TOOL_CALL_RESULT') return this.#results.has(event.toolCallId);
    return 'toolCallId' in event ? this.#calls.has(event.toolCallId) : this.#messages.has(event.messageId);
  }

  /** The messages of the thread for this client; only the latest ones if they exceed one event. */
  snapshot(messages: readonly Message[]): Message[] {
    const shown: Message[] = [];
    let left = MAX_CHARACTERS;
    for (const message of messages.toReversed()) {
      const own = this.#withOwnId(message);
      left -= JSON.stringify(own).length;
      if (left < 0) break;
      shown.push(own);
    }
    return [...this.#instructions, ...shown.reverse()];
  }

  #withOwnId(message: Message): Message {
    const id = message.role === 'tool' ? this.#results.get(message.toolCallId) : undefined;
    return id === undefined ? message : { ...message, id };
  }
}

/**
 * The outcome for clients that do not declare a protocol version. Versions before 1.0, such as the one in
 * CopilotKit's runtime, fail on unknown outcomes and fields.
 */
function legacyOutcome(outcome: Outcome): { readonly outcome?: Outcome } {
  switch (outcome.type) {
    case 'success':
      return { outcome: { type: 'success' } };
    case 'interrupt':
      return { outcome };
    case 'cancelled':
      return {};
  }
}

// The token usage of a run.

class RunUsage {
  #input = 0;
  #output = 0;
  #cached = 0;
  #reasoning = 0;

  add({ inputTokens, outputTokens, cachedTokens = 0, reasoningTokens = 0 }: Usage): void {
    this.#input += inputTokens;
    this.#output += outputTokens;
    this.#cached += cachedTokens;
    this.#reasoning += reasoningTokens;
  }

  /** Absent if no model was called. */
  get usage(): { readonly usage?: readonly TokenUsage[] } {
    if (this.#input + this.#output === 0) return {};
    const usage: TokenUsage = {
      inputTokens: this.#input,
      outputTokens: this.#output,
      totalTokens: this.#input + this.#output,
      ...(this.#cached > 0 && { cachedInputTokens: this.#cached }),
      ...(this.#reasoning > 0 && { reasoningTokens: this.#reasoning }),
    };
    return { usage: [usage] };
  }
}
