/** In: a message starts a task, or answers a waiting one. */
import {
  type ApprovalAnswer,
  type ApprovalId,
  Fault,
  isObject,
  type Json,
  type JsonObject,
  linkPart,
  type Part,
  type Principal,
  textPart,
} from '@parlance/protocol';
import { answerInText, type Caller, type LinkedInput, type SessionRef } from '../../core/index.ts';
import { invalidParams, paramsOf, RpcFault } from '../kit/json-rpc.ts';
import {
  ApprovalPart,
  CODES,
  hasEnded,
  type Message,
  type SendParams,
  type SentMessage,
  type SentPart,
  type Task,
} from './contract.ts';
import { ANSWER_ID, SENT_PARTS } from './outbound.ts';
import {
  type Context,
  contextOf,
  findTask,
  rereadTask,
  TaskFeed,
  taskIdFor,
  taskOfMessage,
} from './tasks.ts';

/** Follows the task from before the message was submitted; the feed is empty if the task has ended. The caller must close it. */
export async function submit(ctx: Context, principal: Principal, params: SendParams): Promise<TaskFeed> {
  const { message } = params;
  const caller: Caller = { principal, dialect: 'a2a' };
  return message.taskId === undefined
    ? startTask(ctx, caller, params)
    : answerTask(ctx, caller, message, message.taskId);
}

async function startTask(ctx: Context, caller: Caller, params: SendParams): Promise<TaskFeed> {
  const { engine } = ctx;
  const { principal } = caller;
  const { messageId, contextId, parts } = params.message;
  const unreadable = parts.find(({ raw, mediaType = '' }) => raw !== undefined && !READABLE.test(mediaType));
  if (unreadable)
    throw new RpcFault(
      CODES.CONTENT_TYPE_NOT_SUPPORTED,
      `Files of the type ${unreadable.mediaType} are not supported.`,
    );
  const ref = contextOf(principal, contextId, messageId);
  if (!ref) throw invalidParams('message.contextId: not the id of a session');
  const id = taskIdFor(ref, messageId);
  return TaskFeed.follow(ctx, ref, id, async (feed) => {
    if (await engine.lookup(principal, { kind: 'turn', id }, 'own')) return feed;
    const input = await usable(ctx, ref, inputOf(ctx, params));
    const { events } = await engine.send(ref, input, { ...caller, key: messageId, turn: id });
    // Without events, the same message was sent in another dialect, or twice at once.
    const other = events.length > 0 ? id : ((await taskOfMessage(ctx, ref, messageId)) ?? id);
    if (other === id) return feed;
    feed.close();
    return TaskFeed.follow(ctx, ref, other);
  });
}

/** What no model reads is refused. A file without a type may be anything. */
const READABLE =
  /^(?:|text\/.+|image\/(?:png|jpeg|webp|gif)|application\/(?:octet-stream|pdf|json|xml|yaml|x-yaml|toml|javascript|typescript|.+\+(?:json|xml)))(?:;.*)?$/i;

function inputOf({ engine }: Context, { message, metadata }: Pick<SendParams, 'message' | 'metadata'>) {
  const skill = metadata?.skillId ?? message.metadata?.skillId;
  if (skill !== undefined && !engine.catalog.listed.agents.some(({ id }) => id === skill))
    throw invalidParams('metadata.skillId: there is no such skill');
  const agent = typeof skill === 'string' ? skill : undefined;
  return {
    type: 'input.submit',
    parts: message.parts.map(corePart),
    data: storedParts(message.parts),
    // The other agent need not have written what it attaches.
    untrusted: message.parts.some(({ text }) => text === undefined),
    agent,
    answeredBy: agent,
  } as const;
}

/** A URL is an ordinary part here: a model that does not accept the link receives the URL as text. */
async function usable<Input extends LinkedInput>(
  { engine }: Context,
  ref: SessionRef,
  input: Input,
): Promise<Input> {
  try {
    await engine.checkLinks(ref, input);
    return input;
  } catch (thrown) {
    if (!(thrown instanceof Fault && thrown.code === 'invalid')) throw thrown;
    const parts = input.parts.map((part) => (part.type === 'text' ? textPart(part.text) : part));
    return { ...input, parts };
  }
}

async function answerTask(
  ctx: Context,
  caller: Caller,
  message: SentMessage,
  taskId: string,
): Promise<TaskFeed> {
  const { contextId, messageId } = message;
  const turn = await findTask(ctx, caller.principal, taskId);
  if (!turn) throw new Fault('not_found', 'There is no such task.');
  const { id, ref } = turn;
  if (contextId !== undefined && contextId !== ref.id)
    throw invalidParams('message.contextId: the task is in another context');
  return TaskFeed.follow(ctx, ref, id, async (feed) => {
    const task = feed.task ?? (await rereadTask(ctx, turn));
    if (task?.history?.some((known) => known.messageId === messageId)) return feed;
    if (!task || hasEnded(task.status.state))
      throw new RpcFault(CODES.UNSUPPORTED_OPERATION, 'The task has ended: send a message without taskId.');
    if (task.status.state !== 'TASK_STATE_INPUT_REQUIRED') throw notPending();
    feed.answering(exchange(task, message));
    if (!(await answerQuestion(ctx, caller, feed, message))) await answerApproval(ctx, caller, feed, message);
    return feed;
  });
}

/** The question and the answer, as they appear in the history. */
function exchange({ id, contextId, status }: Task, { messageId, parts }: SentMessage): Message[] {
  const answer = {
    messageId,
    contextId,
    taskId: id,
    role: 'ROLE_USER',
    parts: parts as Message['parts'],
  } as const;
  return status.message ? [status.message, answer] : [answer];
}

/** False if the task does not wait for the answer to a question. */
async function answerQuestion(
  ctx: Context,
  caller: Caller,
  { ref, taskId }: TaskFeed,
  message: SentMessage,
): Promise<boolean> {
  const { questions, turn } = await ctx.engine.snapshot(ref);
  if (turn !== taskId || questions.length === 0) return false;
  const input = { ...(await usable(ctx, ref, inputOf(ctx, { message }))), answers: true, agent: undefined };
  const { events } = await ctx.engine.send(ref, input, { ...caller, key: message.messageId });
  return events.some((event) => event.type === 'input.accepted' && event.answers !== undefined);
}

// In: a message to a task that waits for an approval.

type Answer = {
  readonly approval: ApprovalId;
  readonly answer: ApprovalAnswer;
  readonly reason?: string;
  readonly said?: string;
};

/** Throws −32004 if the approval is no longer pending. */
async function answerApproval(
  { engine }: Context,
  caller: Caller,
  { ref, taskId }: TaskFeed,
  message: SentMessage,
): Promise<void> {
  const { approvals } = await engine.snapshot(ref);
  const first = approvals.find(({ turn }) => turn === taskId);
  if (!first) throw notPending();
  const answers = answersOf(message, first.approval);
  const attributes = { [ANSWER_ID]: message.messageId };
  for (const answer of answers) {
    try {
      await engine.send(ref, { type: 'approval.answer', ...answer, attributes }, caller);
    } catch (thrown) {
      if (!(thrown instanceof Fault)) throw thrown;
      if (thrown.code === 'no_approval') throw notPending();
      if (thrown.code === 'not_found') throw invalidParams('The task has no such pending approval.');
      throw thrown;
    }
  }
}

const notPending = (): RpcFault =>
  new RpcFault(CODES.UNSUPPORTED_OPERATION, 'The task is not waiting for input.');

/** Data parts that name an approval, or plain text about the approval that is shown. */
function answersOf({ parts }: SentMessage, shown: ApprovalId): Answer[] {
  const data = parts.flatMap((part) => (part.data === undefined ? [] : [part.data]));
  if (data.length > 0)
    return data.map((value) => {
      const { approval, ...answer } = paramsOf(ApprovalPart, isObject(value) ? value : {});
      return { approval: approval as ApprovalId, ...answer };
    });
  const words = parts
    .flatMap(({ text }) => text ?? [])
    .join('\n')
    .trim();
  if (words === '') throw invalidParams('message.parts: an answer is a text or a data part');
  return [{ approval: shown, ...wordsAnswer(words) }];
}

const ALWAYS = /^(?:yes[, ]+)?always(?:\.|!+)?$/i;
const MAX_ANSWER_LENGTH = 100;
const MAX_REASON_LENGTH = 10_000;

/** Anything but consent is a denial, with the text as its reason. */
function wordsAnswer(words: string): Omit<Answer, 'approval'> {
  const said = words.length <= MAX_ANSWER_LENGTH ? { said: words } : {};
  if (ALWAYS.test(words)) return { answer: 'always', ...said };
  const spoken = answerInText(words);
  if (spoken !== null) return { answer: spoken, ...said };
  return { answer: 'deny', reason: words.slice(0, MAX_REASON_LENGTH).toWellFormed(), ...said };
}

// In: converts the parts of a message to the core.

/** The model receives data as JSON, and a URL as a link or as text: the server does not fetch it. */
function corePart(part: SentPart): Part {
  const { text, data, url, raw, mediaType = 'application/octet-stream', filename } = part;
  if (text !== undefined) return textPart(text);
  if (data !== undefined) return textPart(JSON.stringify(data));
  if (url !== undefined) return urlPart(url, part);
  if (mediaType.startsWith('image/')) return { type: 'image', mime: mediaType, data: raw ?? '' };
  return { type: 'file', name: filename ?? 'file', mime: mediaType, data: raw ?? '' };
}

function urlPart(url: string, { mediaType, filename }: SentPart): Part {
  const kind = mediaType?.startsWith('image/') ? 'image' : 'file';
  const about = { ...(mediaType && { mime: mediaType }), ...(filename && { name: filename }) };
  return linkPart({ kind, url, ...about }) ?? textPart(filename ? `${filename}: ${url}` : url);
}

/** Data to store with the input, so that the history shows its parts as they were sent. */
function storedParts(parts: readonly SentPart[]): JsonObject | undefined {
  const isText = ({ text, raw }: SentPart) => text !== undefined || raw !== undefined;
  if (parts.every(isText)) return undefined;
  const stored = parts.map(({ raw, ...part }): Json => {
    const shown = raw === undefined ? part : { text: `[${part.filename ?? 'a file'}]` };
    return JSON.parse(JSON.stringify(shown)) as Json;
  });
  return { [SENT_PARTS]: stored };
}
