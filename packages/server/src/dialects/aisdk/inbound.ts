/** In: applies a request to its session. */
import {
  type ApprovalId,
  type CallId,
  type CallResult,
  type CommandInput,
  Fault,
  type HistoryItem,
  type InputId,
  isObject,
  type JsonObject,
  linkPart,
  type Part,
  readAnswer,
  type TurnId,
  type TurnOptions,
  textPart,
} from '@parlance/protocol';
import type { z } from 'zod';
import type { Caller, Engine, SessionRef, SessionSnapshot } from '../../core/index.ts';
import { inTime } from '../kit/chat-input.ts';
import { callerTool } from '../kit/chat-request.ts';
import { importable } from '../kit/history.ts';
import { formAnswers } from '../kit/question-forms.ts';
import { replay } from '../kit/replay.ts';
import { IDLE, projection } from '../kit/turn-updates.ts';
import { type ChatRequest, FilePart, type Message, TextPart, ToolPart } from './contract.ts';
import {
  type AcceptedInput,
  inputData,
  inputOf,
  latestInput,
  runningInput,
  type StoredInput,
  turnInput,
} from './log.ts';
import type { ClientPosition, FollowTarget } from './outbound.ts';

/** Throws a `Fault` if the request is not possible; nothing is stored then. */
export async function begin(target: Target, body: ChatRequest): Promise<FollowTarget> {
  const { engine, ref } = target;
  const { messages, messageId } = body;
  const isNew = (await engine.record(ref)) === null;
  const named = messageId == null ? undefined : messages.findLast(({ id }) => id === messageId);
  const last = messages.findLast(({ role }) => role !== 'system');
  const continued = [named, last].find((message) => message?.role === 'assistant');
  const latest = messages.findLast(({ role }) => role === 'user');
  if (body.trigger !== 'regenerate-message' && continued && (named === continued || !named)) {
    if (isNew) throw new Fault('not_found', 'There is no such chat.');
    return continueTurn(target, continued);
  }
  if (!latest) throw new Fault('invalid', 'There is no user message.');
  const sent = { message: latest, parts: userParts(latest), terms: termsOf(body) };
  if (isNew) return first(target, sent, messages);
  if (body.trigger === 'regenerate-message') return again(target, sent, 'stored');
  return named === latest ? again(target, sent, 'sent') : submit(target, sent, messages);
}

type NewMessage = {
  readonly message: Message;
  readonly parts: readonly Part[];
  readonly terms: TurnOptions;
};

function termsOf({ tools, system, messages }: ChatRequest): TurnOptions {
  const instructions = instructionsOf(messages, system);
  const named = Array.isArray(tools)
    ? tools
    : tools && Object.entries(tools).map(([name, tool]) => ({ name, ...tool }));
  return {
    ...(named && {
      tools: named.map(({ inputSchema, parameters, ...tool }) =>
        callerTool({ ...tool, parameters: inputSchema ?? parameters }),
      ),
    }),
    ...(instructions !== undefined && { instructions }),
  };
}

/** Creates the session with the earlier messages as imported history. */
async function first(target: Target, sent: NewMessage, messages: readonly Message[]): Promise<FollowTarget> {
  const { engine, ref, caller } = target;
  const history = historyItems(messages.slice(0, messages.indexOf(sent.message)));
  if (history.length > 0) await engine.send(ref, { type: 'session.create', history }, caller);
  return submit(target, sent, []);
}

async function submit(target: Target, sent: NewMessage, messages: readonly Message[]): Promise<FollowTarget> {
  const { engine, ref } = target;
  const { message } = sent;
  const before = await engine.snapshot(ref);
  const answers = messages.filter(({ role }) => role === 'assistant');
  const withResults = await submitWithResults(target, sent, { before, answers });
  if (withResults) return { ref, input: withResults, known: null };
  await giveAnswers(target, before, answers);
  const mode = await modeFor(target, before);
  const input =
    (await accept(target, sent, { key: message.id, mode })) ?? (await sentBefore(target, message));
  return { ref, input, known: null };
}

/**
 * Submits the message with the results before it in one command, so that its turn continues from them. Null if
 * that is not possible.
 */
async function submitWithResults(
  target: Target,
  sent: NewMessage,
  { before, answers }: { readonly before: SessionSnapshot; readonly answers: readonly Message[] },
): Promise<AcceptedInput | null> {
  const results = allResults(before, answers);
  const isWaiting = (await target.engine.record(target.ref))?.status === 'waiting';
  if (!results || !isWaiting) return null;
  try {
    return await accept(target, sent, { key: sent.message.id, mode: 'supersede', results });
  } catch (thrown) {
    // Another tab has sent one of the results in the meantime.
    if (thrown instanceof Fault && thrown.code === 'not_found') return null;
    throw thrown;
  }
}

/** The input of a message that was already sent. */
async function sentBefore({ engine, ref }: Target, { id }: Message): Promise<AcceptedInput> {
  const { seq: head } = await engine.snapshot(ref);
  const input = await inputOf(engine, { ref, head }, id);
  if (input?.type !== 'input.accepted') throw new Fault('busy', 'This message has already been answered.');
  return input;
}

/**
 * A message instead of the results that a page owes closes the calls that wait for them. Other messages are
 * queued.
 */
async function modeFor({ engine, ref }: Target, before: SessionSnapshot): Promise<'queue' | 'supersede'> {
  if (before.deferred.length === 0) return 'queue';
  const now = await engine.snapshot(ref);
  const input = now.deferred.length > 0 ? await runningInput(engine, now) : null;
  const names = input?.dialect === 'aisdk' ? input.tools?.map(({ name }) => name) : [];
  return now.deferred.some(({ tool }) => names?.includes(tool)) ? 'supersede' : 'queue';
}

/**
 * The message is edited (`sent`) or answered again (`stored`): it and everything after it leave the context. A
 * message that the session does not have was not accepted before, and is accepted now.
 */
async function again(target: Target, sent: NewMessage, content: 'sent' | 'stored'): Promise<FollowTarget> {
  const { engine, ref } = target;
  const now = await engine.snapshot(ref);
  const known = await inputOf(engine, { ref, head: now.seq }, sent.message.id);
  if (!known?.input) return submit(target, sent, []);
  const same = content === 'sent' ? await unchanged(target, now, { known, sent }) : null;
  if (same) return { ref, input: same, known: null };
  const parts = content === 'stored' ? storedParts(known) : sent.parts;
  const input = await accept(target, { ...sent, parts }, { replaces: known.input });
  if (!input) throw new Error('an input without a key was not accepted');
  return { ref, input, known: null };
}

/**
 * The input of a message that is repeated, rather than edited: its answer is running, or nothing followed it.
 */
async function unchanged(
  { engine, ref }: Target,
  now: SessionSnapshot,
  { known, sent }: { readonly known: StoredInput; readonly sent: NewMessage },
): Promise<AcceptedInput | null> {
  if (!Bun.deepEquals(storedParts(known), sent.parts)) return null;
  const running = await runningInput(engine, now);
  const latest = running ?? (await latestInput(engine, { ref, head: now.seq }));
  const isAnswered = running !== null || now.finished.at(-1)?.ok === true;
  return isAnswered && latest?.input === known.input ? latest : null;
}

function storedParts(known: StoredInput): readonly Part[] {
  if (known.type === 'input.accepted') return known.parts;
  const [first] = known.items;
  return first?.type === 'user' ? first.parts : [];
}

type SubmitOptions = {
  readonly key?: string;
  readonly mode?: 'queue' | 'supersede';
  readonly replaces?: InputId;
  readonly results?: CallResult[];
};

/** Null if an input with this key was already accepted. */
async function accept(
  { engine, ref, caller }: Target,
  { message, parts, terms }: NewMessage,
  { key, ...options }: SubmitOptions,
): Promise<AcceptedInput | null> {
  const data = inputData(message.id, message.metadata);
  const command: CommandInput = {
    type: 'input.submit',
    answers: true,
    parts: [...parts],
    data,
    ...options,
    ...terms,
  };
  const { events } = await engine.send(ref, command, { ...caller, key });
  return events.find((event): event is AcceptedInput => event.type === 'input.accepted') ?? null;
}

// A page sends the message of a turn again, with answers that the turn waits for.

type Target = { readonly engine: Engine; readonly ref: SessionRef; readonly caller: Caller };

/** The rest of the turn: the events after the answers or, if they came late, those that already happened. */
async function continueTurn(target: Target, message: Message): Promise<FollowTarget> {
  const { engine, ref, caller } = target;
  const now = await engine.snapshot(ref);
  const { principal } = caller;
  const turn = message.id as TurnId;
  const input = await turnInput(engine, { ref, head: now.seq }, { turn, principal });
  if (!input) throw new Fault('not_found', 'There is no such answer in this chat.');
  const past = await pastOf(target, input, { message, head: now.seq });
  const accepted = await giveAnswers(target, now, [message]);
  if (!accepted && past.resolved === null) throw nothingNew(now, turn);
  return { ref, input, known: clientPosition(message, past.through) };
}

const nothingNew = ({ turn, approvals }: SessionSnapshot, named: TurnId): Fault =>
  turn === named && approvals.length > 0
    ? new Fault('busy', 'The chat waits for an approval that has not been answered.')
    : new Fault('busy', 'This has already been answered.');

/** Sends the answers of the page that the running turn waits for. False if there were none. */
async function giveAnswers(
  target: Target,
  now: SessionSnapshot,
  messages: readonly Message[],
): Promise<boolean> {
  let isAccepted = false;
  if (now.approvals.length + now.deferred.length + now.questions.length === 0) return isAccepted;
  for (const message of messages)
    for (const answer of answeredCalls(message)) if (await giveAnswer(target, now, answer)) isAccepted = true;
  return isAccepted;
}

async function giveAnswer(
  { engine, ref, caller }: Target,
  { approvals, deferred, questions }: SessionSnapshot,
  answer: ToolPart,
): Promise<boolean> {
  const call = answer.toolCallId as CallId;
  if (answer.state === 'approval-responded') {
    const { id, approved, reason } = answer.approval;
    if (!approvals.some((pending) => pending.approval === id && pending.call === call)) return false;
    const verdict = approved ? ('once' as const) : ('deny' as const);
    const approval = id as ApprovalId;
    return inTime(engine.send(ref, { type: 'approval.answer', approval, answer: verdict, reason }, caller));
  }
  const asked = questions.find((question) => question.call === call);
  if (asked && answer.state === 'output-available') {
    const { output } = answer;
    const read = typeof output === 'string' ? readAnswer(asked, output) : formAnswers(asked, output);
    if ('problem' in read) throw new Fault('invalid', read.problem);
    const given = read.outcome === 'declined' ? { declined: true } : { answers: read.answers };
    const { question } = asked;
    return inTime(engine.send(ref, { type: 'question.answer', question, ...given }, caller));
  }
  const result = resultOf(answer);
  if (!result || !deferred.some((pending) => pending.call === call)) return false;
  return inTime(engine.send(ref, { type: 'call.answer', ...result }, caller));
}

/** Null if it is not the result of a call that the page executed. */
function resultOf(answer: ToolPart): CallResult | null {
  if (answer.state === 'approval-responded' || answer.state === 'output-denied' || answer.providerExecuted)
    return null;
  const call = answer.toolCallId as CallId;
  if (answer.state === 'output-error') return { call, failed: true, parts: [textPart(answer.errorText)] };
  const data = { output: answer.output ?? null };
  return { call, failed: false, parts: [textPart(outputText(answer.output))], data };
}

/**
 * The results that a turn waits for, if the messages have all of them and it waits for nothing else; otherwise
 * null.
 */
function allResults(now: SessionSnapshot, messages: readonly Message[]): CallResult[] | null {
  const given = messages.flatMap((message) =>
    answeredCalls(message).flatMap((answer) => resultOf(answer) ?? []),
  );
  const results = now.deferred.flatMap(({ call }) => given.findLast((result) => result.call === call) ?? []);
  const isComplete = results.length > 0 && results.length === now.deferred.length;
  return isComplete && now.approvals.length === 0 ? results : null;
}

type Past = {
  /** the first event with an answer whose outcome the client does not have; null if there is none */
  readonly resolved: number | null;
  /** the stream that the client has read ended with this event */
  readonly through: number;
};

async function pastOf(
  { engine, ref }: Target,
  { seq: accepted }: AcceptedInput,
  { message, head }: { readonly message: Message; readonly head: number },
): Promise<Past> {
  const open = new Set(openCalls(message));
  const turn = message.id;
  let through: number | null = null;
  for (let after = accepted - 1, state = IDLE; after < head; ) {
    const events = await engine.events(ref, after, Math.min(PAGE, head - after));
    for (const { event, state: next, bodies } of replay(projection.step, state, events)) {
      state = next;
      for (const update of bodies)
        if (update.turn === turn && update.kind === 'blocked') through = update.since.seq;
      const answers = event.type === 'approval.answered' || event.type === 'tool.ended';
      if (answers && event.turn === turn && open.has(event.call) && through !== null)
        return { resolved: event.seq, through };
    }
    after = events.at(-1)?.seq ?? head;
  }
  return { resolved: null, through: head };
}

const PAGE = 200;

function clientPosition(message: Message, through: number): ClientPosition {
  const answers = answeredCalls(message);
  return {
    turn: message.id as TurnId,
    through,
    outcomes: new Set(
      answers.flatMap(({ state, toolCallId }) => (state === 'approval-responded' ? [] : [toolCallId])),
    ),
    approvals: new Map(
      answers.flatMap((answer) =>
        answer.state === 'approval-responded' ? [[answer.approval.id, answer.approval.approved]] : [],
      ),
    ),
  };
}

// Converts the UI messages of a request to the core.

/** The content of a user message. Throws `invalid` or `empty` if it has no usable content. */
function userParts({ parts }: Message): Part[] {
  const used = parts.flatMap((part) => userPart(part) ?? []);
  if (used.length === 0) throw new Fault('empty', 'The message is empty.');
  return used;
}

function userPart(part: Message['parts'][number]): Part | null {
  if (part.type === 'text') {
    const { success, data } = TextPart.safeParse(part);
    if (!success) throw new Fault('invalid', 'A text part of the message has no text.');
    return textPart(data.text);
  }
  if (part.type !== 'file') return null;
  const { success, data } = FilePart.safeParse(part);
  if (!success) throw new Fault('invalid', 'A file part of the message has no url.');
  return filePart(data);
}

/** Instructions of the page, which replace those of the agent; undefined if there are none. */
function instructionsOf(messages: readonly Message[], system?: string | null): string | undefined {
  const texts = messages.filter(({ role }) => role === 'system').map(textsOf);
  if (system) texts.unshift(system);
  return texts.length > 0 ? texts.join('\n\n') : undefined;
}

const textsOf = ({ parts }: Message): string =>
  parts.flatMap((part) => TextPart.safeParse(part).data?.text ?? []).join('\n');

const isTool = ({ type }: { readonly type: string }): boolean =>
  type === 'dynamic-tool' || type.startsWith('tool-');

/** The calls in an assistant message that have an answer there. */
const answeredCalls = ({ parts }: Message): ToolPart[] =>
  parts.filter(isTool).flatMap((part) => ToolPart.safeParse(part).data ?? []);

/** The ids of calls in the message without an outcome. */
function openCalls(message: Message): string[] {
  const over = new Set(
    answeredCalls(message).flatMap((part) => (part.state === 'approval-responded' ? [] : [part.toolCallId])),
  );
  return message.parts
    .filter(isTool)
    .flatMap(({ toolCallId }) =>
      typeof toolCallId === 'string' && !over.has(toolCallId) ? [toolCallId] : [],
    );
}

/** Imports earlier messages. Unusable parts are left out. */
const historyItems = (messages: readonly Message[]): HistoryItem[] =>
  importable(
    messages.flatMap((message) => (message.role === 'user' ? earlierInput(message) : answerItems(message))),
  );

function earlierInput(message: Message): HistoryItem[] {
  try {
    return [{ type: 'user', parts: userParts(message), key: message.id }];
  } catch (thrown) {
    if (thrown instanceof Fault) return [];
    throw thrown;
  }
}

function answerItems({ id, role, parts }: Message): HistoryItem[] {
  if (role === 'system') return [];
  return parts.flatMap((part): HistoryItem[] => {
    const { type, text } = part;
    if ((type === 'text' || type === 'reasoning') && typeof text === 'string' && text !== '')
      return [{ type, text, id }];
    return isTool(part) ? callItems(part, id) : [];
  });
}

function callItems(part: Message['parts'][number], id: string): HistoryItem[] {
  const call = part.toolCallId as CallId;
  const tool = part.type === 'dynamic-tool' ? part.toolName : part.type.slice('tool-'.length);
  if (typeof call !== 'string' || call === '' || typeof tool !== 'string' || tool === '') return [];
  const input = (isObject(part.input) ? part.input : {}) as JsonObject;
  const made: HistoryItem = { type: 'call', call, tool: tool.slice(0, 200), input, id };
  const result = ToolPart.safeParse(part).data;
  if (result?.state === 'output-available')
    return [made, { type: 'result', call, parts: [textPart(outputText(result.output))], id }];
  if (result?.state === 'output-error')
    return [made, { type: 'result', call, parts: [textPart(result.errorText)], failed: true, id }];
  return [made];
}

/** An output as the model receives it. */
const outputText = (output: unknown): string =>
  typeof output === 'string' ? output : JSON.stringify(output ?? null);

// Files: URLs in messages; bytes in base64 or links in the core.

const DATA_URL = /^data:([^,;]*)((?:;[^,;]*)*),(.*)$/s;
const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;

/** Throws `invalid` unless the URL is an http, https or data URL. */
function filePart({ url, mediaType, filename: name }: z.output<typeof FilePart>): Part {
  const link = linkOf(url, mediaType, name);
  if (link) return link;
  const [, type = '', options = '', content] = DATA_URL.exec(url) ?? [];
  if (content === undefined)
    throw new Fault('invalid', 'Files are accepted as http:, https: and data: URLs only.');
  const data = /;base64$/i.test(options) ? content : encoded(content);
  if (!BASE64.test(data) || data.length % 4 !== 0)
    throw new Fault('invalid', 'The data: URL of a file is not valid base64.');
  const mime = mimeOf(mediaType || type || 'application/octet-stream');
  return mime.startsWith('image/')
    ? { type: 'image', mime, data }
    : { type: 'file', name: name || 'file', mime, data };
}

const mimeOf = (mediaType: string): string => mediaType.split(';', 1)[0]?.trim().toLowerCase() ?? '';

/** `image/*` is the type of an image of unknown type. */
function linkOf(url: string, mediaType: string, name: string | undefined): Part | null {
  const mime = mimeOf(mediaType);
  const kind = mime.startsWith('image/') ? 'image' : 'file';
  return linkPart({ kind, url, ...(mime.includes('*') || !mime ? {} : { mime }), ...(name && { name }) });
}

function encoded(content: string): string {
  try {
    return Buffer.from(decodeURIComponent(content)).toString('base64');
  } catch {
    throw new Fault('invalid', 'The data: URL of a file is not valid.');
  }
}
