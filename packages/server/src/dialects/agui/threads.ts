/** Finds or creates the thread of a request, and applies the request to it. */
import {
  type ApprovalId,
  type CallId,
  type CallResult,
  type DurableEvent,
  Fault,
  type HistoryItem,
  isObject,
  type JsonObject,
  jsonRefusal,
  type Part,
  TurnOptions,
  textOf,
} from '@parlance/protocol';
import type { DeferredCall, SessionRef, SessionSnapshot } from '../../core/index.ts';
import type { DialectContext } from '../kit/dialect.ts';
import { importable } from '../kit/history.ts';
import { KeyedQueue } from '../kit/keyed-queue.ts';
import { partsOf } from './content.ts';
import { type Answer, answerOf } from './interrupts.ts';
import { findInput, findTurn, type KnownInput } from './log.ts';
import {
  callerOf,
  type FollowTarget,
  inputTarget,
  type RunRequest,
  type StartedRun,
  turnTarget,
} from './run-request.ts';
import type { Message, ResumeEntry, RunAgentInput } from './schemas.ts';

/** The new messages of the user, validated. */
type NewMessages = {
  readonly messages: readonly UserMessage[];
  readonly parts: Part[];
  readonly terms: TurnOptions;
};

export class Threads {
  readonly #queue = new KeyedQueue();

  constructor(private readonly ctx: Pick<DialectContext, 'engine'>) {}

  /** Runs requests about the same thread one after another. A refused request changes nothing. */
  async begin(request: RunRequest): Promise<StartedRun> {
    const { engine } = this.ctx;
    const ref = await engine.resolve(request.principal, request.run.threadId);
    return this.#queue.run(`${ref.owner} ${ref.id}`, async () =>
      (await engine.record(ref)) ? this.#continue(ref, request) : this.#start(ref, request),
    );
  }

  /** Creates a thread with the messages before the new ones as history, without calling a model. */
  async #start(ref: SessionRef, request: RunRequest): Promise<StartedRun> {
    const { engine } = this.ctx;
    const { run, agent } = request;
    const messages = chatMessages(run.messages);
    const added = newMessages(run, lastUserMessages(messages));
    const before = messages.slice(0, messages.length - added.messages.length);
    const continues = added.messages.length === 0;
    if (run.resume?.length || (continues && before.at(-1)?.role !== 'tool'))
      throw new Fault('not_found', 'There is no such thread.');
    const history = importable(itemsOf(before));
    if (history.length > 0)
      await engine.send(ref, { type: 'session.create', agent, history }, callerOf(request));
    const target = await this.#submit(ref, request, { ...added, continues });
    return { ref, target, owns: true };
  }

  /** The log is authoritative: messages that it does not have are new. */
  async #continue(ref: SessionRef, request: RunRequest): Promise<StartedRun> {
    const { engine } = this.ctx;
    const { run } = request;
    const now = await engine.snapshot(ref);
    const messages = chatMessages(run.messages);
    const known = await this.#known(now, run, messages);
    const added = newMessages(run, newUserMessages(messages, known));
    const answers = await Answers.check(engine, { ref, request, now });
    if (added.messages.length === 0 && answers.isEmpty)
      return { ref, target: await this.#again(now, messages, known), owns: false };
    const joined = added.messages.length > 0 && (await this.#withResults(ref, request, { added, answers }));
    if (joined) return { ref, target: startingAt(joined, now), owns: true };
    const { target, owns } = await answers.give();
    if (added.messages.length === 0) return { ref, target, owns };
    // A message instead of a result closes the calls that wait for one.
    const mode = answers.unanswered.length > 0 ? 'supersede' : 'queue';
    const next = await this.#submit(ref, request, { ...added, mode });
    if (!target || mode === 'supersede') return { ref, target: startingAt(next, now), owns: true };
    return { ref, target: { ...target, more: target.more + 1 }, owns: true };
  }

  /** Submits the message with the results before it in one command; null if that is not possible. */
  async #withResults(
    ref: SessionRef,
    request: RunRequest,
    { added, answers }: { readonly added: NewMessages; readonly answers: Answers },
  ): Promise<FollowTarget | null> {
    const isWaiting = (await this.ctx.engine.record(ref))?.status === 'waiting';
    if (!isWaiting || !answers.hasOnlyResults) return null;
    const { results } = answers;
    try {
      return await this.#submit(ref, request, { ...added, mode: 'supersede', results });
    } catch (thrown) {
      // Another client has sent one of the results in the meantime.
      if (thrown instanceof Fault && thrown.code === 'not_found') return null;
      throw thrown;
    }
  }

  #known(now: SessionSnapshot, run: RunAgentInput, messages: readonly Message[]): Promise<KnownInput | null> {
    const users = messages.filter(isUser);
    const query = new Set(users.map(({ id }) => id));
    const log = { engine: this.ctx.engine, ref: now.ref, head: now.seq };
    return findInput(log, { messages: query, run: run.runId, parts: inputParts(lastUserMessages(messages)) });
  }

  /**
   * The turn of the last message, if the request ends with it, which means it is repeated. Null: the request
   * shows the thread.
   */
  async #again(
    now: SessionSnapshot,
    messages: readonly Message[],
    known: KnownInput | null,
  ): Promise<FollowTarget | null> {
    const last = messages.at(-1);
    if (known?.seq && last?.role === 'user') return inputTarget({ ...known, seq: known.seq });
    if (last?.role !== 'tool') return null;
    const log = { engine: this.ctx.engine, ref: now.ref, head: now.seq };
    const { toolCallId } = last;
    const turn = await findTurn(log, (event) => event.type === 'tool.ended' && event.call === toolCallId);
    return turn && turnTarget(turn, turn.seq);
  }

  async #submit(
    ref: SessionRef,
    request: RunRequest,
    what: NewMessages & {
      readonly mode?: 'queue' | 'supersede';
      readonly continues?: boolean;
      readonly results?: CallResult[];
    },
  ): Promise<FollowTarget> {
    const { engine } = this.ctx;
    const { run, agent } = request;
    const { messages, parts, terms, mode, continues, results } = what;
    const command = {
      type: 'input.submit',
      parts,
      mode,
      continues,
      results,
      agent,
      answeredBy: agent,
      data: { run: run.runId },
      ...terms,
    } as const;
    const { events, seq } = await engine.send(ref, command, callerOf(request, messages.at(-1)?.id));
    const accepted = events.find(
      (event): event is DurableEvent<'input.accepted'> => event.type === 'input.accepted',
    );
    if (accepted) return inputTarget(accepted);
    // Another node has accepted the same message in the meantime.
    const query = { messages: new Set(messages.map(({ id }) => id)), run: run.runId, parts };
    const known = await findInput({ engine, ref, head: seq }, query);
    if (!known?.seq) throw new Fault('invalid', 'The message is part of the history of this thread.');
    return inputTarget({ ...known, seq: known.seq });
  }
}

/** The messages of the user at the end. */
const lastUserMessages = (messages: readonly Message[]): UserMessage[] =>
  messages.slice(messages.findLastIndex(({ role }) => role !== 'user') + 1).filter(isUser);

/** The messages of the user after the latest one in the log. */
function newUserMessages(messages: readonly Message[], known: KnownInput | null): UserMessage[] {
  if (known?.message === null) return [];
  if (!known) return lastUserMessages(messages);
  return messages.slice(messages.findLastIndex(({ id }) => id === known.message) + 1).filter(isUser);
}

/** Throws `empty` or `invalid` if the messages cannot be submitted. */
function newMessages(run: RunAgentInput, messages: readonly UserMessage[]): NewMessages {
  for (const { id, content } of messages) {
    const isText = typeof content === 'string' || content.every(({ type }) => type === 'text');
    if (isText && textOf(inputParts([{ id, role: 'user', content }])).trim() === '')
      throw new Fault('empty', `The message ${id} is empty.`);
  }
  const terms = TurnOptions.safeParse(termsOf(run));
  if (!terms.success) {
    const [issue] = terms.error.issues;
    throw new Fault('invalid', `${issue?.path.join('.')}: ${issue?.message}`);
  }
  return { messages, parts: inputParts(messages), terms: terms.data };
}

/** Reads from the start of the current turn: it may wait for an answer that blocks the input. */
const startingAt = (target: FollowTarget, { began }: SessionSnapshot): FollowTarget => ({
  ...target,
  after: Math.min(target.after, (began ?? Number.POSITIVE_INFINITY) - 1),
});

// Answers that a turn waits for: results of front-end tools, and entries of `resume`.

type Checked = { readonly approval: ApprovalId } & Answer;

class Answers {
  readonly #results: readonly ToolMessage[];
  /** in order; other clients may have answered some of them */
  readonly #approvals: readonly Checked[];

  private constructor(
    private readonly engine: DialectContext['engine'],
    private readonly thread: {
      readonly ref: SessionRef;
      readonly request: RunRequest;
      readonly now: SessionSnapshot;
    },
    approvals: readonly Checked[],
  ) {
    const { request, now } = thread;
    this.#approvals = approvals;
    this.#results = lastResults(
      request.run.messages.filter((message) => message.role === 'tool'),
      now.deferred,
    );
  }

  /**
   * Validates without changes. Throws `not_found` for an unknown interrupt, `invalid` for an invalid payload.
   */
  static async check(
    engine: DialectContext['engine'],
    thread: { readonly ref: SessionRef; readonly request: RunRequest; readonly now: SessionSnapshot },
  ): Promise<Answers> {
    const approvals: Checked[] = [];
    for (const entry of thread.request.run.resume ?? []) approvals.push(await checked(engine, thread, entry));
    return new Answers(engine, thread, approvals);
  }

  get isEmpty(): boolean {
    return this.#results.length + this.#approvals.length === 0;
  }

  /** the calls of front-end tools without a result */
  get unanswered(): readonly DeferredCall[] {
    const { deferred } = this.thread.now;
    return deferred.filter(({ call }) => !this.#results.some(({ toolCallId }) => toolCallId === call));
  }

  /** For a message in the same request: its turn continues from the results, without another model call. */
  get results(): CallResult[] {
    return this.#results.map((message) => ({
      call: message.toolCallId as CallId,
      failed: false,
      ...resultOf(message),
    }));
  }

  /** whether there are results, and the turn waits only for results */
  get hasOnlyResults(): boolean {
    const { approvals } = this.thread.now;
    return this.#results.length > 0 && this.#approvals.length === 0 && approvals.length === 0;
  }

  /**
   * Sends the answers. Returns the turn that continues with them or, for an answer that comes too late, the
   * turn it was for.
   */
  async give(): Promise<{ readonly target: FollowTarget | null; readonly owns: boolean }> {
    const { now, ref } = this.thread;
    let given = 0;
    for (const message of this.#results) given += await this.#result(message);
    for (const approval of this.#approvals) given += await this.#approval(approval);
    if (given > 0 && now.turn && now.began) {
      const target = turnTarget({ turn: now.turn, began: now.began }, now.seq);
      return { target: { ...target, more: now.queued }, owns: true };
    }
    const ids = new Set(this.#approvals.map(({ approval }) => approval));
    const log = { engine: this.engine, ref, head: now.seq };
    const late = await findTurn(
      log,
      (event) => event.type === 'approval.requested' && ids.has(event.approval),
    );
    return { target: late && turnTarget(late, late.seq), owns: false };
  }

  async #result(message: ToolMessage): Promise<number> {
    const { ref, request, now } = this.thread;
    const open = now.deferred.find(({ call }) => call === message.toolCallId);
    if (!open) return 0;
    const command = {
      type: 'call.answer',
      call: open.call,
      ...resultOf(message),
      ...optionalTerms(request.run),
    } as const;
    return unlessLate(this.engine.send(ref, command, callerOf(request)));
  }

  #approval({ approval, answer, reason }: Checked): Promise<number> {
    const { ref, request } = this.thread;
    const command = {
      type: 'approval.answer',
      approval,
      answer,
      reason,
      ...optionalTerms(request.run),
    } as const;
    return unlessLate(this.engine.send(ref, command, callerOf(request)));
  }
}

/** 0 if another client answered first. */
async function unlessLate(sent: Promise<unknown>): Promise<number> {
  try {
    await sent;
    return 1;
  } catch (thrown) {
    if (thrown instanceof Fault && (thrown.code === 'no_approval' || thrown.code === 'not_found')) return 0;
    throw thrown;
  }
}

async function checked(
  engine: DialectContext['engine'],
  {
    ref,
    request,
    now,
  }: { readonly ref: SessionRef; readonly request: RunRequest; readonly now: SessionSnapshot },
  entry: ResumeEntry,
): Promise<Checked> {
  const approval = entry.interruptId as ApprovalId;
  if (!now.approvals.some((pending) => pending.approval === approval)) {
    const found = await engine.lookup(request.principal, { kind: 'approval', id: approval });
    if (found?.id !== ref.id || found.owner !== ref.owner)
      throw new Fault('not_found', `There is no interrupt ${entry.interruptId} in this thread.`);
  }
  return { approval, ...answerOf(entry) };
}

/** If a call has several results, the last one is used. */
const lastResults = (messages: readonly ToolMessage[], open: readonly DeferredCall[]): ToolMessage[] =>
  open.flatMap(({ call }) => messages.findLast(({ toolCallId }) => toolCallId === call) ?? []);

// Converts the messages of a request to a conversation of the core.

type UserMessage = Extract<Message, { role: 'user' }>;
type ToolMessage = Extract<Message, { role: 'tool' }>;

const isUser = (message: Message): message is UserMessage => message.role === 'user';

/** The messages of a conversation, without instructions and activities. */
const chatMessages = (messages: readonly Message[]): Message[] =>
  messages.filter(({ role }) => role !== 'system' && role !== 'developer' && role !== 'activity');

/** The terms of the turn: the client's instructions, the context of its application, and its tools. */
function termsOf({ messages, tools, context }: RunAgentInput): TurnOptions {
  const instructions = messages.flatMap((message) =>
    message.role === 'system' || message.role === 'developer' ? [message.content] : [],
  );
  const entries = (context ?? []).map(({ description, value }) => `${description}:\n${value}`);
  return {
    ...(tools && tools.length > 0 && { tools: tools.map(toolOf) }),
    ...(instructions.length > 0 && { instructions: instructions.join('\n\n') }),
    ...(entries.length > 0 && { context: `Context of the application:\n\n${entries.join('\n\n')}` }),
  };
}

/** Terms for the rest of a turn; unchanged if the request has none. */
function optionalTerms(run: RunAgentInput): { readonly terms?: TurnOptions } {
  const terms = termsOf(run);
  return Object.keys(terms).length > 0 ? { terms } : {};
}

const toolOf = ({ name, description, parameters }: NonNullable<RunAgentInput['tools']>[number]) => ({
  name,
  description: description ?? '',
  parameters: parameters ?? {},
});

/** Joins new messages of the user to one input. */
const inputParts = (messages: readonly UserMessage[]): Part[] =>
  messages.flatMap(({ id, content }) => partsOf(content, `The message ${id}`));

/** Keeps the ids, so that clients recognise the messages. */
const itemsOf = (messages: readonly Message[]): HistoryItem[] => messages.flatMap(messageItems);

function messageItems(message: Message): HistoryItem[] {
  switch (message.role) {
    case 'user':
      return [
        { type: 'user', parts: partsOf(message.content, `The message ${message.id}`), key: message.id },
      ];
    case 'assistant': {
      const { id, content, toolCalls } = message;
      return [
        ...(content ? [{ type: 'text' as const, text: content, id }] : []),
        ...(toolCalls ?? []).map(({ id: call, function: { name, arguments: input } }) => ({
          type: 'call' as const,
          call: call as CallId,
          tool: name,
          input: inputOf(input),
          id,
        })),
      ];
    }
    case 'tool':
      return [{ type: 'result', call: message.toolCallId as CallId, ...resultOf(message), id: message.id }];
    case 'reasoning':
      return message.content === '' ? [] : [{ type: 'reasoning', text: message.content, id: message.id }];
    case 'system':
    case 'developer':
    case 'activity':
      return [];
  }
}

/** The result of a front-end tool. */
function resultOf({ id, content, error }: ToolMessage): {
  readonly parts: Part[];
  readonly failed?: true;
} {
  const parts = partsOf(content === '' && error ? error : content, `The message ${id}`);
  return error ? { parts, failed: true } : { parts };
}

/** Arguments written by a model may not be JSON: they count as empty. */
function inputOf(text: string): JsonObject {
  if (jsonRefusal(text) !== null) return {};
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? (value as JsonObject) : {};
  } catch {
    return {};
  }
}
