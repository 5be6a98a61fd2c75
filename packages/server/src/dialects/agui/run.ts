/** One request and its stream: follows the turn of the request, or shows the thread and its running turn. */
import type { RunFinishedOutcome, TokenUsage } from '@ag-ui/core';
import {
  type DurableEvent,
  Fault,
  type HistoryItem,
  type JsonObject,
  type Part,
  type SessionEvent,
  type TurnId,
  textPart,
  type Usage,
} from '@parlance/protocol';
import { addUsage, type Engine, type RunStatus, type SessionRef } from '../../core/index.ts';
import { inTime } from '../kit/chat-input.ts';
import { type DialectContext, type LogIds, reported } from '../kit/dialect.ts';
import { retryText } from '../kit/faults.ts';
import { cancelTurn } from '../kit/request-turn.ts';
import { rewoundText } from '../kit/texts.ts';
import { TurnReader } from '../kit/turn-reader.ts';
import {
  type AguiEvent,
  type ClientMessage,
  type ContentEvent,
  type Message,
  sharedState,
} from './contract.ts';
import { callerOf, isStateOfClient, type RunRequest, type StartedRun } from './inbound.ts';
import {
  closing,
  contentOf,
  IDLE,
  interruptOf,
  projection,
  questionInterrupt,
  resultOf,
  type State,
  type Update,
} from './outbound.ts';
import { changesOf, isShared, merged, patchOf, STATE_TOOL } from './shared-state.ts';

export type RunParts = {
  readonly request: RunRequest;
  readonly started: StartedRun;
  readonly send: (event: AguiEvent) => void;
  readonly ids: LogIds;
};

const PROTOCOL_VERSION = '1.0';

/** An update, and the number of the last stored event. */
type PassedUpdate = { readonly update: Update; readonly seq: number };

export class Run {
  readonly #ends = Promise.withResolvers<void>();
  readonly #client: ClientView;
  #usage: Usage = { inputTokens: 0, outputTokens: 0 };
  /** turns that are shown */
  readonly #shown = new Set<TurnId>();
  /** updates of stored events, without discarded output, which need not be shown; null once they were sent */
  #past: PassedUpdate[] | null = [];
  /** how many of them can no longer be discarded */
  #settled = 0;
  #pastEvent: SessionEvent | null = null;
  /** updates that arrive while a snapshot is made; null otherwise */
  #held: PassedUpdate[] | null = null;
  #reader: TurnReader<State, Update> | null = null;
  /** the shared state as the client has it; null if it has sent none */
  #state: JsonObject | null;
  /** calls that change it, which are answered here */
  readonly #answered = new Set<string>();
  /** steps that have begun: those that the client was told of, and those that it need not know if they end first */
  readonly #steps = new Set<string>();
  readonly #pastSteps = new Set<string>();
  #isOver = false;
  #isAbandoned = false;

  constructor(
    private readonly ctx: Pick<DialectContext, 'engine' | 'log'>,
    private readonly parts: RunParts,
  ) {
    this.#client = new ClientView(parts.request.run.messages);
    this.#state = sharedState(parts.request.run);
    const turn = parts.started.target?.turn;
    if (turn) this.#shown.add(turn);
  }

  /** Resolves when the last event was sent, or the client has disconnected. Never rejects. */
  async follow(): Promise<void> {
    const { threadId, runId, protocolVersion } = this.parts.request.run;
    const version = protocolVersion ? { protocolVersion: PROTOCOL_VERSION } : {};
    this.parts.send({ type: 'RUN_STARTED', threadId, runId, ...version });
    const { target } = this.parts.started;
    await (target ? this.#read(target.after, IDLE) : this.#look()).catch((thrown) => this.#fail(thrown));
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

  async #read(after: number, state: State): Promise<void> {
    await TurnReader.follow(this.ctx.engine, this.parts.started.ref, {
      projection,
      after,
      state,
      target: null,
      listener: (reader) => {
        this.#reader = reader;
        return {
          update: (update, event) => this.#take(update, event),
          status: (status) => {
            this.#sendPast();
            this.#answerState();
            this.#restIfBlocked(status);
          },
          ended: () => this.#fail(new Fault('not_found', 'The thread was deleted.')),
        };
      },
    });
  }

  /** Sends all messages, then the running turn. */
  async #look(): Promise<void> {
    const { engine } = this.ctx;
    const { ref } = this.parts.started;
    const { seq } = await engine.snapshot(ref);
    const { messages, state, shared } = await readTranscript(engine, ref, seq);
    this.#send({ type: 'MESSAGES_SNAPSHOT', messages: this.#client.snapshot(messages) });
    this.#sendState(shared);
    if (!state.turn) return this.#finish({ type: 'success' });
    this.#shown.add(state.turn);
    for (const { name } of state.steps) this.#pastSteps.add(name);
    await this.#read(seq, state);
  }

  #take(update: Update, event: SessionEvent | null): void {
    const { seq = 0, now } = this.#reader ?? {};
    if (now || !this.#past || !event) {
      this.#sendPast();
      this.#pass(update, seq);
      return;
    }
    if (event !== this.#pastEvent) {
      if (this.#pastEvent && isSettled(this.#pastEvent)) this.#settled = this.#past.length;
      this.#pastEvent = event;
    }
    if (update.kind === 'discarded') this.#past.length = this.#settled;
    else this.#past.push({ update, seq });
  }

  /** The stored events have been read: live events follow. */
  #sendPast(): void {
    const past = this.#past;
    if (!past) return;
    this.#past = null;
    for (const { update, seq } of past) this.#pass(update, seq, true);
    if (!this.#held) this.#tellSteps();
    if (this.#isAbandoned) this.#cancelShown();
  }

  #pass(update: Update, seq: number, isPast = false): void {
    if (this.#isOver) return;
    if (this.#held) this.#held.push({ update, seq });
    else this.#show(update, seq, isPast);
  }

  #show(update: Update, seq: number, isPast: boolean): void {
    const { turn, kind } = update;
    if (kind === 'started' && this.#isFollowed(update.input)) this.#shown.add(turn);
    if (kind === 'dropped' && update.input === this.parts.started.target?.input)
      this.#finish({ type: 'cancelled' });
    if (!this.#shown.has(turn)) return;
    if (this.#isAbandoned) this.#cancelShown();
    switch (kind) {
      case 'event':
        this.#showEvent(update.event, isPast);
        return;
      case 'state':
        this.#showChanges(update, seq);
        return;
      case 'answered':
        if (seq > (this.parts.started.target?.counted ?? 0))
          this.#usage = addUsage(this.#usage, update.usage);
        return;
      case 'discarded':
        this.#held = [];
        this.#resend(seq).catch((thrown) => this.#fail(thrown));
        return;
      case 'ended':
      case 'cancelled':
        if (this.#isLast()) this.#finish({ type: kind === 'ended' ? 'success' : 'cancelled' });
        return;
      case 'failed':
        if (this.#isLast()) this.#fail(Fault.from(update.fault));
    }
  }

  #showEvent(event: ContentEvent, isPast: boolean): void {
    switch (event.type) {
      case 'STEP_STARTED':
        this.#pastSteps.add(event.stepName);
        if (!isPast) this.#tellSteps();
        return;
      case 'STEP_FINISHED':
        if (!this.#pastSteps.delete(event.stepName) && this.#steps.delete(event.stepName)) this.#send(event);
        return;
      default:
        if (this.#isKnown(event)) return;
        this.#tellSteps();
        this.#send(event);
    }
  }

  #tellSteps(): void {
    for (const stepName of this.#pastSteps) {
      this.#steps.add(stepName);
      this.#send({ type: 'STEP_STARTED', stepName });
    }
    this.#pastSteps.clear();
  }

  /** A client that has the result of the call has sent its state after it. */
  #showChanges({ call, changes }: Extract<Update, { kind: 'state' }>, seq: number): void {
    if (this.parts.started.target !== null && this.#client.hasResult(call)) return;
    if (!this.#state) {
      this.#held = [];
      this.#resend(seq, true).catch((thrown) => this.#fail(thrown));
      return;
    }
    const delta = patchOf(this.#state, changes);
    this.#state = merged(this.#state, changes);
    if (delta.length > 0) this.#send({ type: 'STATE_DELTA', delta });
  }

  #sendState(state: JsonObject | null): void {
    this.#state = state ?? this.#state;
    if (state) this.#send({ type: 'STATE_SNAPSHOT', snapshot: state });
  }

  /** Calls that change the shared state have succeeded as soon as they are made. */
  #answerState(): void {
    if (this.#isOver || this.#isAbandoned || !this.#isShown()) return;
    for (const { call, tool, input } of this.#reader?.now?.snapshot().deferred ?? []) {
      if (!this.#isStateCall(tool) || this.#answered.has(call)) continue;
      this.#answered.add(call);
      const isValid = changesOf(input) !== null;
      const text = isValid ? 'The state has been changed.' : 'changes must be an object.';
      const answer = { type: 'call.answer' as const, call, parts: [textPart(text)], failed: !isValid };
      const { started, request } = this.parts;
      inTime(this.ctx.engine.send(started.ref, answer, callerOf(request))).catch((thrown) =>
        this.#fail(thrown),
      );
    }
  }

  #isStateCall(tool: string): boolean {
    return tool === STATE_TOOL.name && !isStateOfClient(this.parts.request.run);
  }

  /** After a snapshot of the thread the client has only that. */
  #isKnown(event: ContentEvent): boolean {
    return this.parts.started.target !== null && this.#client.has(event);
  }

  /** Whether the current turn is shown. */
  #isShown(): boolean {
    const turn = this.#reader?.state.turn;
    return turn != null && this.#shown.has(turn);
  }

  #isFollowed(input: string): boolean {
    const { target } = this.parts.started;
    return target !== null && (target.turn === null ? input === target.input : !this.#isLast());
  }

  /** Whether the shown turn is the last one. */
  #isLast(): boolean {
    return this.#shown.size > (this.parts.started.target?.more ?? 0);
  }

  /** Shown output was discarded: sends all messages without it, or the state that the client has not sent, then the events since. */
  async #resend(head: number, isState = false): Promise<void> {
    const { engine } = this.ctx;
    const { messages, shared } = await readTranscript(engine, this.parts.started.ref, head);
    if (isState) this.#sendState(shared);
    else this.#send({ type: 'MESSAGES_SNAPSHOT', messages: this.#client.snapshot(messages) });
    const held = this.#held ?? [];
    this.#held = null;
    for (const { update, seq } of held) this.#pass(update, seq);
    const status = this.#reader?.now?.status();
    if (status) this.#restIfBlocked(status);
  }

  /**
   * Ends if the turn continues only with an answer. If another turn blocks the input, its interrupts are shown.
   */
  #restIfBlocked(status: RunStatus): void {
    if (this.#isOver || this.#held || status.kind !== 'blocked') return;
    const interrupts = [...status.approvals.map(interruptOf), ...status.questions.map(questionInterrupt)];
    if (interrupts.length > 0) this.#finish({ type: 'interrupt', interrupts });
    else if (this.#isShown()) {
      // The turn goes on by itself when these are answered.
      if (status.deferred.some(({ tool }) => this.#isStateCall(tool))) return;
      this.#finish({ type: 'success', pendingToolCallIds: status.deferred.map(({ call }) => call) });
    }
  }

  #finish(outcome: RunFinishedOutcome): void {
    const { threadId, runId, protocolVersion } = this.parts.request.run;
    const ended = protocolVersion ? { outcome } : legacyOutcome(outcome);
    for (const stepName of this.#steps) this.#send({ type: 'STEP_FINISHED', stepName });
    this.#send({ type: 'RUN_FINISHED', threadId, runId, ...ended, ...usageOf(this.#usage) });
    this.#stop();
  }

  #fail(thrown: unknown): void {
    if (this.#isOver) return;
    const fault = reported(thrown, this.ctx, this.parts.ids);
    if (this.#reader && this.#isShown()) for (const event of closing(this.#reader.state)) this.#send(event);
    this.#send({ type: 'RUN_ERROR', message: retryText(fault), code: fault.code });
    this.#stop();
  }

  #send(event: AguiEvent): void {
    if (!this.#isOver && !this.#isAbandoned) this.parts.send(event);
  }

  /** Cancels the turn, even if it has not started yet. */
  #cancelShown(): void {
    const turn = this.#isShown() ? this.#reader?.state.turn : this.parts.started.target?.planned;
    if (this.#past || !turn) return;
    this.#stop();
    const { started, request } = this.parts;
    void cancelTurn(this.ctx, started.ref, callerOf(request), turn);
  }

  #stop(): void {
    this.#isOver = true;
    this.#reader?.stop();
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

  constructor(messages: readonly ClientMessage[]) {
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
    if (event.type === 'CUSTOM' || event.type === 'ACTIVITY_SNAPSHOT' || 'stepName' in event) return false;
    return 'toolCallId' in event ? this.#calls.has(event.toolCallId) : this.#messages.has(event.messageId);
  }

  hasResult(call: string): boolean {
    return this.#results.has(call);
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
function legacyOutcome(outcome: RunFinishedOutcome): { readonly outcome?: RunFinishedOutcome } {
  switch (outcome.type) {
    case 'success':
      return { outcome: { type: 'success' } };
    case 'interrupt':
      return { outcome };
    case 'cancelled':
      return {};
  }
}

/** Absent if no model was called. */
function usageOf({ inputTokens, outputTokens, cachedTokens, reasoningTokens }: Usage) {
  const totalTokens = inputTokens + outputTokens;
  if (totalTokens === 0) return {};
  const usage: TokenUsage = {
    inputTokens,
    outputTokens,
    totalTokens,
    ...(cachedTokens && { cachedInputTokens: cachedTokens }),
    ...(reasoningTokens && { reasoningTokens }),
  };
  return { usage: [usage] };
}

// The messages of a thread, made from its log by the same projection that streams it.

const PAGE = 500;

/** The thread up to event number `head`. */
async function readTranscript(
  engine: Pick<Engine, 'events'>,
  ref: SessionRef,
  head: number,
): Promise<Transcript> {
  const transcript = new Transcript();
  for (let seen = 0; seen < head; ) {
    const events = await engine.events(ref, seen, Math.min(PAGE, head - seen));
    for (const event of events) transcript.add(event);
    const last = events.at(-1);
    if (!last) break;
    seen = last.seq;
  }
  return transcript;
}

/** Output can still be discarded until its answer is complete, unless the turn was interrupted. */
const isSettled = (event: SessionEvent): boolean =>
  (event.type !== 'text.ended' && event.type !== 'reasoning.ended') || event.interrupted === true;

class Transcript {
  state: State = IDLE;
  /** the last state that a client has sent, with the changes since; null if there is none */
  shared: JsonObject | null = null;
  readonly #list = new MessageList();
  /** by the last rewind */
  #removed: readonly Message[] = [];
  /** messages before this index stay if the model's answer is interrupted */
  #settled = 0;
  /** inputs without a turn yet */
  readonly #waiting = new Map<string, Message>();
  /** where the messages of each input start; `seq` is the event that accepted it */
  readonly #inputs: { readonly id: string; readonly seq: number; at: number }[] = [];

  /** Oldest first. Queued messages are last. */
  get messages(): readonly Message[] {
    return [...this.#list.all, ...this.#waiting.values()];
  }

  add(event: DurableEvent): void {
    this.#place(event);
    const [state, updates] = projection.step(this.state, event);
    this.state = state;
    for (const { body } of updates) {
      if (body.kind === 'event') this.#list.add(body.event);
      else if (body.kind === 'state') this.shared = merged(this.shared ?? {}, body.changes);
      else if (body.kind === 'discarded') this.#list.cut(this.#settled);
    }
    if (isSettled(event)) this.#settled = this.#list.length;
  }

  #place(event: DurableEvent): void {
    switch (event.type) {
      case 'input.accepted': {
        const { input, seq, data } = event;
        if (isShared(data?.state)) this.shared = data.state;
        const message = userMessage(event);
        if (message) this.#waiting.set(input, message);
        this.#inputs.push({ id: input, seq, at: Number.POSITIVE_INFINITY });
        return;
      }
      case 'input.cancelled':
      case 'input.joined':
        this.#waiting.delete(event.input);
        return;
      case 'turn.started': {
        const message = this.#waiting.get(event.input);
        const input = this.#inputs.find(({ id }) => id === event.input);
        this.#waiting.delete(event.input);
        if (input) input.at = this.#list.length;
        if (message) this.#list.push(message);
        return;
      }
      case 'history.imported':
        this.#inputs.push({ id: event.input ?? '', seq: event.seq, at: this.#list.length });
        this.#list.push(...importedMessages(event));
        return;
      case 'session.cleared':
        this.#list.cut(0);
        return;
      case 'session.rewound': {
        const before = [...this.#list.all];
        for (const { seq, at } of this.#inputs) if (seq >= event.from) this.#list.cut(at);
        this.#removed = before.slice(this.#list.length);
        return;
      }
      case 'session.restored':
        this.#list.push(...this.#removed);
        return;
      case 'files.rewound':
        this.#list.push({ id: event.id, role: 'assistant', content: rewoundText(event) });
    }
  }
}

/** Null if the input has no message: it lets the model continue. */
function userMessage({ input, key, parts, call }: DurableEvent<'input.accepted'>): Message | null {
  if (parts.length === 0 && !call) return null;
  const shown: readonly Part[] =
    parts.length === 0 && call ? [textPart(`/tool ${call.tool} ${JSON.stringify(call.input)}`)] : parts;
  return { id: key ?? input, role: 'user', content: contentOf(shown) };
}

/** Imported history. A text and the calls after it are one message, unless they have ids of their own. */
function importedMessages({ id: event, input, items }: DurableEvent<'history.imported'>): readonly Message[] {
  const list = new MessageList();
  let answer: string | null = null;
  for (const [index, item] of items.entries()) {
    const own = `${event}-${index}`;
    if (item.type === 'system') continue;
    if (item.type === 'user') {
      list.push({ id: item.key ?? input ?? own, role: 'user', content: contentOf(item.parts) });
      answer = null;
    } else {
      const id: string = item.type === 'call' ? (item.id ?? answer ?? own) : ('id' in item && item.id) || own;
      addItem(list, item, id);
      answer = item.type === 'text' || item.type === 'call' ? id : null;
    }
  }
  return list.all;
}

function addItem(
  list: MessageList,
  item: Exclude<HistoryItem, { type: 'user' | 'system' }>,
  id: string,
): void {
  switch (item.type) {
    case 'text':
      list.push({ id, role: 'assistant', content: item.text });
      return;
    case 'reasoning':
      list.push({ id, role: 'reasoning', content: item.text });
      return;
    case 'call': {
      const { call: toolCallId, tool: toolCallName, input } = item;
      list.add({ type: 'TOOL_CALL_START', toolCallId, toolCallName, parentMessageId: id });
      list.add({ type: 'TOOL_CALL_ARGS', toolCallId, delta: JSON.stringify(input) });
      return;
    }
    case 'result': {
      const result = { messageId: id, toolCallId: item.call, content: resultOf(item.parts) };
      list.add({ type: 'TOOL_CALL_RESULT', ...result, role: 'tool' });
    }
  }
}

/** Messages as clients make them from events. */
class MessageList {
  readonly #messages: Message[] = [];

  get length(): number {
    return this.#messages.length;
  }

  get all(): readonly Message[] {
    return this.#messages;
  }

  push(...messages: readonly Message[]): void {
    this.#messages.push(...messages);
  }

  /** Removes the messages from this index on. */
  cut(length: number): void {
    this.#messages.length = Math.min(this.#messages.length, length);
  }

  add(event: ContentEvent): void {
    switch (event.type) {
      case 'TEXT_MESSAGE_START':
      case 'REASONING_MESSAGE_START': {
        const known = this.#find(event.messageId);
        if (known) known.content ??= '';
        else this.#messages.push({ id: event.messageId, role: event.role, content: '' });
        return;
      }
      case 'TEXT_MESSAGE_CONTENT':
      case 'REASONING_MESSAGE_CONTENT': {
        const message = this.#find(event.messageId);
        if (typeof message?.content === 'string') message.content += event.delta;
        return;
      }
      case 'TOOL_CALL_START': {
        const { toolCallId: id, toolCallName: name, parentMessageId } = event;
        let message = this.#find(parentMessageId);
        if (!message) {
          message = { id: parentMessageId, role: 'assistant' };
          this.#messages.push(message);
        }
        if (message.role !== 'assistant') return;
        message.toolCalls = [
          ...(message.toolCalls ?? []),
          { id, type: 'function', function: { name, arguments: '' } },
        ];
        return;
      }
      case 'TOOL_CALL_ARGS': {
        const call = callsOf(this.#ownerOf(event.toolCallId)).find(({ id }) => id === event.toolCallId);
        if (call) call.function.arguments += event.delta;
        return;
      }
      case 'TOOL_CALL_RESULT': {
        const { messageId: id, role, toolCallId, content } = event;
        // After the message with the call, and the results that it has already.
        const owner = this.#ownerOf(toolCallId);
        let at = owner ? this.#messages.lastIndexOf(owner) + 1 : this.#messages.length;
        while (this.#messages[at]?.role === 'tool') at++;
        this.#messages.splice(at, 0, { id, role, toolCallId, content });
        return;
      }
      case 'REASONING_START':
      case 'REASONING_MESSAGE_END':
      case 'REASONING_END':
      case 'TEXT_MESSAGE_END':
      case 'TOOL_CALL_END':
      case 'CUSTOM':
      case 'STEP_STARTED':
      case 'STEP_FINISHED':
      case 'ACTIVITY_SNAPSHOT':
        return;
    }
  }

  /** The last ones are the likely ones. */
  #find(id: string): Message | undefined {
    return this.#messages.findLast((message) => message.id === id);
  }

  #ownerOf(call: string): Message | undefined {
    return this.#messages.findLast((message) => callsOf(message).some(({ id }) => id === call));
  }
}

const callsOf = (message: Message | undefined) =>
  message?.role === 'assistant' ? (message.toolCalls ?? []) : [];
