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
import type { Context } from './context.ts';
import { CODES } from './faults.ts';
import { taskIdFor } from './ids.ts';
import { ANSWER_ID, SENT_PARTS } from './messages.ts';
import { hasEnded, type Message, type Task } from './objects.ts';
import { ApprovalPart, type SendParams, type SentMessage, type SentPart } from './schemas.ts';
import { TaskFeed } from './task-feed.ts';
import type { IndexedTask } from './tasks.ts';

export type StartedTask = Pick<IndexedTask, 'id' | 'ref'> & {
  /** from before the message was submitted; empty if the task has ended */
  readonly feed: TaskFeed;
};

/** The caller must close the feed. */
export function begin(ctx: Context, principal: Principal, params: SendParams): Promise<StartedTask> {
  const { message, configuration } = params;
  if (configuration.taskPushNotificationConfig != null)
    throw new RpcFault(CODES.PUSH_NOTIFICATION_NOT_SUPPORTED, 'There are no push notifications.');
  return message.taskId === undefined
    ? startTask(ctx, principal, params)
    : answerTask(ctx, principal, { message, taskId: message.taskId });
}

const callerOf = (principal: Principal): Caller => ({ principal, dialect: 'a2a' });

async function startTask(ctx: Context, principal: Principal, params: SendParams): Promise<StartedTask> {
  const { messageId, contextId } = params.message;
  const ref = ctx.tasks.contextOf(principal, contextId, messageId);
  if (!ref) throw invalidParams('message.contextId: not the id of a session');
  const id = taskIdFor(ref, messageId);
  return following(ctx, { id, ref }, async (feed) => {
    if (await ctx.engine.lookup(principal, { kind: 'turn', id }, 'own')) return { id, ref, feed };
    const caller: Caller = { ...callerOf(principal), key: messageId, turn: id };
    const { events } = await ctx.engine.send(ref, await usable(ctx, ref, inputOf(ctx, params)), caller);
    if (events.length > 0) return { id, ref, feed };
    return sentBefore(ctx, { id, ref, feed }, messageId);
  });
}

/** The same message was sent in another dialect, or twice at once. */
async function sentBefore(ctx: Context, started: StartedTask, messageId: string): Promise<StartedTask> {
  const { ref } = started;
  const other = await ctx.tasks.ofMessage(ref, messageId);
  if (!other || other.id === started.id) return started;
  started.feed.close();
  return following(ctx, other, async (feed) => ({ id: other.id, ref, feed }));
}

function inputOf({ engine }: Context, { message, metadata }: SendParams) {
  const skill = metadata?.skillId ?? message.metadata?.skillId;
  if (skill !== undefined && !engine.catalog.listed.agents.some(({ id }) => id === skill))
    throw invalidParams('metadata.skillId: there is no such skill');
  const agent = typeof skill === 'string' ? skill : undefined;
  return {
    type: 'input.submit',
    parts: coreParts(message.parts),
    data: storedParts(message.parts),
    // The other agent need not have written what it attaches.
    untrusted: message.parts.some(({ text }) => text === undefined),
    agent,
    answeredBy: agent,
  } as const;
}

/** A URL is an ordinary part here: a model that does not accept the link reads the URL as text. */
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
    return { ...input, parts: withoutLinks(input.parts) };
  }
}

type TaskAnswer = { readonly message: SentMessage; readonly taskId: string };

async function answerTask(
  ctx: Context,
  principal: Principal,
  { message, taskId }: TaskAnswer,
): Promise<StartedTask> {
  const { contextId, messageId } = message;
  const found = await ctx.tasks.find(principal, taskId);
  if (!found) throw new Fault('not_found', 'There is no such task.');
  const { id, ref } = found;
  if (contextId !== undefined && contextId !== ref.id)
    throw invalidParams('message.contextId: the task is in another context');
  return following(ctx, { id, ref }, async (feed) => {
    const task = feed.task ?? (await ctx.tasks.reread(found));
    if (task?.history?.some((known) => known.messageId === messageId)) return { id, ref, feed };
    if (!task || hasEnded(task.status.state))
      throw new RpcFault(CODES.UNSUPPORTED_OPERATION, 'The task has ended: send a message without taskId.');
    if (task.status.state !== 'TASK_STATE_INPUT_REQUIRED') throw notPending();
    feed.answering(exchange(task, message));
    await answerApproval(ctx, found, { message, caller: callerOf(principal) });
    return { id, ref, feed };
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

/** Subscribes before the message is submitted, so that no event is missed. */
async function following(
  { hub }: Context,
  { id, ref }: { readonly id: string; readonly ref: SessionRef },
  work: (feed: TaskFeed) => Promise<StartedTask>,
): Promise<StartedTask> {
  const feed = new TaskFeed(hub, { ref, taskId: id });
  try {
    await feed.subscribe();
    return await work(feed);
  } catch (thrown) {
    feed.close();
    throw thrown;
  }
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
  { engine }: Pick<Context, 'engine'>,
  { id, ref }: Pick<IndexedTask, 'id' | 'ref'>,
  { message, caller }: { readonly message: SentMessage; readonly caller: Caller },
): Promise<void> {
  const { approvals } = await engine.snapshot(ref);
  const [first] = approvals.filter(({ turn }) => turn === id);
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

const coreParts = (parts: readonly SentPart[]): Part[] => parts.map(corePart);

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

/** For a model that does not accept links: it receives the URL as text. */
const withoutLinks = (parts: readonly Part[]): Part[] =>
  parts.map((part) => (part.type === 'text' ? textPart(part.text) : part));

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
