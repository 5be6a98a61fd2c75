/** In: finds or creates the thread of a request, and applies the request to it. */
import {
  type ApprovalAnswer,
  type ApprovalId,
  type CallId,
  type CallResult,
  type CommandInput,
  type DurableEvent,
  Fault,
  type HistoryItem,
  type InputId,
  linkPart,
  type Part,
  type Principal,
  type QuestionId,
  readAnswer,
  type TurnId,
  TurnOptions,
  textOf,
  textPart,
} from '@parlance/protocol';
import { z } from 'zod';
import {
  type Caller,
  type Engine,
  type OpenQuestion,
  type SessionRef,
  type SessionSnapshot,
  sessionKey,
} from '../../core/index.ts';
import type { KeyedQueue } from '../../lib/keyed-queue.ts';
import { inTime } from '../kit/chat-input.ts';
import { argumentsOf, callerTool } from '../kit/chat-request.ts';
import { importable } from '../kit/history.ts';
import { formAnswers } from '../kit/question-forms.ts';
import {
  type ClientContent,
  type ClientMessage,
  type ClientPart,
  type RunAgentInput,
  sharedState,
} from './contract.ts';
import { STATE_TOOL, stateContext } from './shared-state.ts';

export type RunRequest = {
  readonly principal: Principal;
  /** absent: the agent of the session, or the default one */
  readonly agent?: string | undefined;
  readonly run: RunAgentInput;
};

export const callerOf = ({ principal }: RunRequest, key?: string): Caller => ({
  principal,
  dialect: 'agui',
  ...(key !== undefined && { key }),
});

/** The part of the session to show: the turn and those queued behind it, or the turn of the input. */
export type FollowTarget = {
  /** reads everything after this event */
  readonly after: number;
  readonly turn: TurnId | null;
  /** number of further turns to show after it */
  readonly more: number;
  readonly input: InputId | null;
  /** the turn of the input, if it is queued */
  readonly planned: TurnId | null;
  /** counts usage after this event */
  readonly counted: number;
};

export type StartedRun = {
  readonly ref: SessionRef;
  /** null: the request has nothing new, and shows the thread */
  readonly target: FollowTarget | null;
  /** the request started or continued the turn, which ends if the client disconnects */
  readonly owns: boolean;
};

/** The new messages of the user, validated. */
type NewMessages = {
  readonly messages: readonly UserMessage[];
  readonly parts: Part[];
  readonly terms: TurnOptions;
};

type Thread = { readonly engine: Engine; readonly ref: SessionRef; readonly request: RunRequest };

/** Runs requests about the same thread one after another. A refused request changes nothing. */
export async function begin(
  { engine, queue }: { readonly engine: Engine; readonly queue: KeyedQueue },
  request: RunRequest,
): Promise<StartedRun> {
  const ref = await engine.resolve(request.principal, request.run.threadId);
  const thread = { engine, ref, request };
  return queue.run(sessionKey(ref), async () =>
    (await engine.record(ref)) ? continueThread(thread) : startThread(thread),
  );
}

/** Creates a thread with the messages before the new ones as history, without calling a model. */
async function startThread(thread: Thread): Promise<StartedRun> {
  const { engine, ref, request } = thread;
  const { run, agent } = request;
  const messages = chatMessages(run.messages);
  const added = newMessages(run, lastUserMessages(messages));
  const before = messages.slice(0, messages.length - added.messages.length);
  const continues = added.messages.length === 0;
  if (run.resume?.length || (continues && before.at(-1)?.role !== 'tool'))
    throw new Fault('not_found', 'There is no such thread.');
  const history = importable(before.flatMap(historyItems));
  if (history.length > 0)
    await engine.send(ref, { type: 'session.create', agent, history }, callerOf(request));
  return { ref, target: await submit(thread, { ...added, continues }), owns: true };
}

/** The log is authoritative: messages that it does not have are new. */
async function continueThread(thread: Thread): Promise<StartedRun> {
  const { engine, ref, request } = thread;
  const { run } = request;
  const now = await engine.snapshot(ref);
  const log = { engine, ref, head: now.seq };
  const messages = chatMessages(run.messages);
  const known = await findInput(log, {
    messages: new Set(messages.filter(isUser).map(({ id }) => id)),
    run: run.runId,
    parts: inputParts(lastUserMessages(messages)),
  });
  const added = newMessages(run, newUserMessages(messages, known));
  const answers = await answersOf(thread, now);
  const { results, approvals, questions } = answers;
  if (added.messages.length + results.length + approvals.length + questions.length === 0)
    return { ref, target: await repeatedTarget(log, messages.at(-1), known), owns: false };
  const hasOnlyResults = results.length > 0 && approvals.length + now.approvals.length === 0;
  const joined = added.messages.length > 0 && hasOnlyResults && (await withResults(thread, added, results));
  if (joined) return { ref, target: startingAt(joined, now), owns: true };
  const { target, owns } = await giveAnswers(thread, now, answers);
  if (added.messages.length === 0) return { ref, target, owns };
  // A message instead of a result closes the calls that wait for one.
  const mode = results.length < now.deferred.length ? 'supersede' : 'queue';
  const next = await submit(thread, { ...added, mode });
  if (!target || mode === 'supersede') return { ref, target: startingAt(next, now), owns: true };
  return { ref, target: { ...target, more: target.more + 1 }, owns: true };
}

/** Submits the message with the results before it in one command; null if that is not possible. */
async function withResults(
  thread: Thread,
  added: NewMessages,
  results: CallResult[],
): Promise<FollowTarget | null> {
  if ((await thread.engine.record(thread.ref))?.status !== 'waiting') return null;
  try {
    return await submit(thread, { ...added, mode: 'supersede', results });
  } catch (thrown) {
    // Another client has sent one of the results in the meantime.
    if (thrown instanceof Fault && thrown.code === 'not_found') return null;
    throw thrown;
  }
}

/**
 * The turn of the last message, if the request ends with it, which means it is repeated. Null: the request
 * shows the thread.
 */
async function repeatedTarget(
  log: Log,
  last: ClientMessage | undefined,
  known: KnownInput | null,
): Promise<FollowTarget | null> {
  if (known?.seq && last?.role === 'user') return inputTarget({ ...known, seq: known.seq });
  if (last?.role !== 'tool') return null;
  const { toolCallId } = last;
  const turn = await findTurn(log, (event) => event.type === 'tool.ended' && event.call === toolCallId);
  return turn && turnTarget(turn, turn.seq);
}

async function submit(
  { engine, ref, request }: Thread,
  {
    messages,
    terms,
    ...input
  }: NewMessages & {
    readonly mode?: 'queue' | 'supersede';
    readonly continues?: boolean;
    readonly results?: CallResult[];
  },
): Promise<FollowTarget> {
  const { run, agent } = request;
  const state = sharedState(run);
  const data = { run: run.runId, ...(state && { state }) };
  const command = {
    type: 'input.submit',
    answers: true,
    ...input,
    agent,
    answeredBy: agent,
    data,
    ...terms,
  } as const;
  const { events, seq } = await engine.send(ref, command, callerOf(request, messages.at(-1)?.id));
  const accepted = events.find((event) => event.type === 'input.accepted');
  if (accepted?.joins) return turnTarget({ turn: accepted.joins, began: accepted.seq }, accepted.seq);
  if (accepted) return inputTarget(accepted);
  // Another node has accepted the same message in the meantime.
  const query = { messages: new Set(messages.map(({ id }) => id)), run: run.runId, parts: input.parts };
  const known = await findInput({ engine, ref, head: seq }, query);
  if (!known?.seq) throw new Fault('invalid', 'The message is part of the history of this thread.');
  return inputTarget({ ...known, seq: known.seq });
}

/** The messages of the user at the end. */
const lastUserMessages = (messages: readonly ClientMessage[]): UserMessage[] =>
  messages.slice(messages.findLastIndex(({ role }) => role !== 'user') + 1).filter(isUser);

/** The messages of the user after the latest one in the log. */
function newUserMessages(messages: readonly ClientMessage[], known: KnownInput | null): UserMessage[] {
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

const turnTarget = ({ turn, began }: Omit<KnownTurn, 'seq'>, counted: number): FollowTarget => ({
  after: began - 1,
  turn,
  more: 0,
  input: null,
  planned: null,
  counted,
});

type AcceptedInput = { readonly input: InputId; readonly seq: number; readonly turn?: TurnId | undefined };

const inputTarget = ({ input, seq, turn }: AcceptedInput): FollowTarget => ({
  after: seq - 1,
  turn: null,
  more: 0,
  input,
  planned: turn ?? null,
  counted: seq,
});

// Answers that a turn waits for: results of front-end tools, and entries of `resume`.

type ApprovalReply = {
  readonly approval: ApprovalId;
  readonly answer: ApprovalAnswer;
  readonly reason?: string | undefined;
};

type Answers = {
  /** results of front-end tools: of several for one call, the last */
  readonly results: CallResult[];
  /** in order; other clients may have answered some of them */
  readonly approvals: readonly ApprovalReply[];
  readonly questions: readonly Extract<CommandInput, { type: 'question.answer' }>[];
};

/**
 * Validates without changes. Throws `not_found` for an unknown interrupt, `invalid` for an invalid payload or result.
 */
async function answersOf({ engine, ref, request }: Thread, now: SessionSnapshot): Promise<Answers> {
  const approvals: ApprovalReply[] = [];
  const questions: Extract<CommandInput, { type: 'question.answer' }>[] = [];
  for (const entry of request.run.resume ?? []) {
    const asked = now.questions.find(({ question }) => question === entry.interruptId);
    if (asked) {
      questions.push(questionReply(asked, entry));
      continue;
    }
    const approval = entry.interruptId as ApprovalId;
    if (!now.approvals.some((pending) => pending.approval === approval)) {
      const found =
        (await engine.lookup(request.principal, { kind: 'approval', id: approval })) ??
        (await engine.lookup(request.principal, { kind: 'question', id: entry.interruptId as QuestionId }));
      if (!found || sessionKey(found) !== sessionKey(ref))
        throw new Fault('not_found', `There is no interrupt ${entry.interruptId} in this thread.`);
    }
    approvals.push({ approval, ...answerOf(entry) });
  }
  const messages = request.run.messages.filter((message) => message.role === 'tool');
  const results = now.deferred.flatMap(({ call }) => {
    const message = messages.findLast(({ toolCallId }) => toolCallId === call);
    return message ? [{ call, failed: false, ...resultOf(message) }] : [];
  });
  return { results, approvals, questions };
}

/**
 * Sends the answers. Returns the turn that continues with them or, for an answer that comes too late, the turn it
 * was for.
 */
async function giveAnswers(
  { engine, ref, request }: Thread,
  now: SessionSnapshot,
  { results, approvals, questions }: Answers,
): Promise<Pick<StartedRun, 'target' | 'owns'>> {
  const terms = optionalTerms(request.run);
  const commands = [
    ...results.map(({ call, parts, failed }) => ({
      type: 'call.answer' as const,
      call,
      parts,
      ...(failed && { failed }),
    })),
    ...approvals.map((reply) => ({ type: 'approval.answer' as const, ...reply })),
    ...questions,
  ];
  let isGiven = false;
  for (const command of commands)
    if (await inTime(engine.send(ref, { ...command, ...terms }, callerOf(request)))) isGiven = true;
  if (isGiven && now.turn && now.began) {
    const target = turnTarget({ turn: now.turn, began: now.began }, now.seq);
    return { target: { ...target, more: now.queued }, owns: true };
  }
  const ids = new Set(approvals.map(({ approval }) => approval));
  const late = await findTurn(
    { engine, ref, head: now.seq },
    (event) => event.type === 'approval.requested' && ids.has(event.approval),
  );
  return { target: late && turnTarget(late, late.seq), owns: false };
}

/** Throws `invalid` if the payload is no answer. */
function questionReply(
  asked: OpenQuestion,
  { status, payload }: NonNullable<RunAgentInput['resume']>[number],
): Extract<CommandInput, { type: 'question.answer' }> {
  const question = asked.question;
  if (status === 'cancelled') return { type: 'question.answer', question, declined: true };
  const read = typeof payload === 'string' ? readAnswer(asked, payload) : formAnswers(asked, payload);
  if ('problem' in read) throw new Fault('invalid', read.problem);
  return read.outcome === 'declined'
    ? { type: 'question.answer', question, declined: true }
    : { type: 'question.answer', question, answers: read.answers };
}

const Payload = z.object({
  approved: z.boolean(),
  always: z.boolean().optional(),
  reason: z.string().max(10_000).optional(),
});

/** Throws `invalid` if the payload does not match the schema of the interrupt. */
function answerOf({
  interruptId,
  status,
  payload,
}: NonNullable<RunAgentInput['resume']>[number]): Omit<ApprovalReply, 'approval'> {
  if (status === 'cancelled') return { answer: 'deny' };
  const parsed = Payload.safeParse(payload);
  if (!parsed.success) {
    const message = `The payload for ${interruptId} must be {approved: boolean, always?: boolean, reason?: string}.`;
    throw new Fault('invalid', message);
  }
  const { approved, always, reason } = parsed.data;
  if (!approved) return { answer: 'deny', reason };
  return { answer: always ? 'always' : 'once' };
}

// Finds the input or turn of a request in the log of a session, backwards.

const PAGE = 200;

type Log = {
  readonly engine: Pick<Engine, 'eventsBackwards'>;
  readonly ref: SessionRef;
  readonly head: number;
};

async function* newestFirst({ engine, ref, head }: Log): AsyncGenerator<DurableEvent, void> {
  for await (const events of engine.eventsBackwards(ref, head, PAGE)) yield* events.reverse();
}

type KnownInput = {
  /** the id of the message in the request; null if it was found by the run */
  readonly message: string | null;
  readonly input: InputId;
  /** the number of the event that accepted it; null if it is imported history, which has no turn */
  readonly seq: number | null;
};

type InputQuery = {
  /** ids of user messages */
  readonly messages: ReadonlySet<string>;
  /** the id of the run, and the parts it would submit */
  readonly run: string;
  readonly parts: readonly Part[];
};

/**
 * The latest of these messages in the log, or the message that the same run submitted; null if there is none.
 */
async function findInput(log: Log, { messages, run, parts }: InputQuery): Promise<KnownInput | null> {
  if (messages.size === 0) return null;
  const text = textOf(parts);
  for await (const event of newestFirst(log)) {
    if (event.type === 'input.accepted') {
      const { input, seq, key } = event;
      const message = [key, input].find((id) => id !== undefined && messages.has(id));
      if (message !== undefined) return { message, input, seq };
      if (event.data?.run === run && textOf(event.parts) === text) return { message: null, input, seq };
    } else if (event.type === 'history.imported' && event.input) {
      const [first] = event.items;
      const key = first?.type === 'user' ? first.key : undefined;
      const message = [key, event.input].find((id) => id !== undefined && messages.has(id));
      if (message !== undefined) return { message, input: event.input, seq: null };
    }
  }
  return null;
}

type KnownTurn = {
  readonly turn: TurnId;
  /** the number of the event that started it */
  readonly began: number;
  /** the number of the found event */
  readonly seq: number;
};

/** The turn of the latest event that `fits`; null if there is none. */
async function findTurn(log: Log, fits: (event: DurableEvent) => boolean): Promise<KnownTurn | null> {
  let found: { readonly turn: TurnId; readonly seq: number } | null = null;
  for await (const event of newestFirst(log)) {
    if (!found && 'turn' in event && event.turn && fits(event)) found = { turn: event.turn, seq: event.seq };
    if (found && event.type === 'turn.started' && event.turn === found.turn)
      return { ...found, began: event.seq };
  }
  return null;
}

// Converts the messages of a request to a conversation of the core.

type UserMessage = Extract<ClientMessage, { role: 'user' }>;
type ToolMessage = Extract<ClientMessage, { role: 'tool' }>;

const isUser = (message: ClientMessage): message is UserMessage => message.role === 'user';

/** The messages of a conversation, without instructions and activities. */
const chatMessages = (messages: readonly ClientMessage[]): ClientMessage[] =>
  messages.filter(({ role }) => role !== 'system' && role !== 'developer' && role !== 'activity');

/** The terms of the turn: the client's instructions, the context of its application, and its tools. */
function termsOf(run: RunAgentInput): TurnOptions {
  const { messages, context } = run;
  const state = sharedState(run);
  const own = state && !isStateOfClient(run) ? [STATE_TOOL] : [];
  const tools = [...(run.tools ?? []).map(callerTool), ...own];
  const instructions = messages.flatMap((message) =>
    message.role === 'system' || message.role === 'developer' ? [message.content] : [],
  );
  const entries = [
    ...(context ?? []).map(({ description, value }) => `${description}:\n${value}`),
    ...(state ? [stateContext(state)] : []),
  ];
  return {
    ...(tools.length > 0 && { tools }),
    ...(instructions.length > 0 && { instructions: instructions.join('\n\n') }),
    ...(entries.length > 0 && { context: `Context of the application:\n\n${entries.join('\n\n')}` }),
  };
}

/** The client has a tool of its own with that name. */
export const isStateOfClient = ({ tools }: RunAgentInput): boolean =>
  tools?.some(({ name }) => name === STATE_TOOL.name) ?? false;

/** Terms for the rest of a turn; unchanged if the request has none. */
function optionalTerms(run: RunAgentInput): { readonly terms?: TurnOptions } {
  const terms = termsOf(run);
  return Object.keys(terms).length > 0 ? { terms } : {};
}

/** Joins new messages of the user to one input. */
const inputParts = (messages: readonly UserMessage[]): Part[] =>
  messages.flatMap(({ id, content }) => partsOf(content, `The message ${id}`));

/** Keeps the ids, so that clients recognise the messages. */
function historyItems(message: ClientMessage): HistoryItem[] {
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
          input: argumentsOf(input),
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

/** Throws `invalid` for unsupported content. `where` names the field. */
function partsOf(content: ClientContent, where: string): Part[] {
  if (typeof content === 'string') return [textPart(content)];
  const parts = content.map((part, index) => partOf(part, `${where}[${index}]`));
  return parts.length > 0 ? parts : [textPart('')];
}

function partOf(part: ClientPart, where: string): Part {
  switch (part.type) {
    case 'text':
      return textPart(part.text);
    case 'binary': {
      const { mimeType: mime, data, filename, url } = part;
      const kind = mime.startsWith('image/') ? 'image' : 'file';
      const link = url ? linkPart({ kind, url, mime, ...(filename && { name: filename }) }) : null;
      return link ?? filePart({ mime, data: data ?? '', name: filename ?? 'file' }, where);
    }
    default: {
      const { type, value, mimeType: mime } = part.source;
      const kind = part.type === 'image' ? 'image' : 'file';
      const link = type === 'url' ? linkPart({ kind, url: value, ...(mime && { mime }) }) : null;
      return (
        link ?? filePart({ mime: mime ?? '', data: type === 'data' ? value : '', name: part.type }, where)
      );
    }
  }
}

const MIME = /^[\w.+-]+\/[\w.+-]+$/;
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;

function filePart(
  { mime, data, name }: { readonly mime: string; readonly data: string; readonly name: string },
  where: string,
): Part {
  if (!MIME.test(mime) || !BASE64.test(data))
    throw new Fault(
      'invalid',
      `${where}: files are taken as base64 data with a mimeType, and as http(s): URLs.`,
    );
  return mime.startsWith('image/') ? { type: 'image', mime, data } : { type: 'file', name, mime, data };
}
