/** Sessions as resources: their list, and the messages of one. */

import type { ListResourcesResult, ReadResourceResult } from '@modelcontextprotocol/client';
import {
  type DurableEvent,
  decodedUri,
  type TurnId,
  textOf,
  wasStopped,
  writtenQuestion,
} from '@parlance/protocol';
import type { Engine, SessionRecord, SessionRef } from '../../core/index.ts';
import { invalidParams, type Params, RpcFault } from '../kit/json-rpc.ts';
import { latest } from '../kit/replay.ts';
import { rewoundText } from '../kit/texts.ts';
import { finalAnswer } from '../kit/tracking.ts';
import type { Context, Peer } from './clients.ts';
import { BASE_URI, CODES, uriOf } from './contract.ts';
import { type CustomCaller, customResourceAt, customResources, readCustom } from './custom.ts';

const MIME = 'text/markdown';
const PAGE = 100;
const MAX_MESSAGES = 1_000;

export const TEMPLATE = {
  uriTemplate: `${BASE_URI}{id}`,
  name: 'session',
  title: 'Session',
  description: 'The messages of a session with an agent.',
  mimeType: MIME,
};

export const titleOf = ({ title, firstInput, ref }: SessionRecord): string => title || firstInput || ref.id;

/** The first page begins with the operator's resources. */
export async function listResources(
  ctx: Context,
  { principal }: CustomCaller,
  { cursor }: Params,
): Promise<ListResourcesResult> {
  const { engine } = ctx;
  if (cursor !== undefined && typeof cursor !== 'string') throw invalidParams('cursor must be a string.');
  const { sessions, next } = await engine.list(principal, { limit: PAGE, cursor });
  const resources = sessions.map((record) => ({
    uri: uriOf(record.ref.id),
    name: titleOf(record),
    mimeType: MIME,
    annotations: { lastModified: new Date(record.updatedAt).toISOString() },
  }));
  const custom = cursor === undefined ? customResources(ctx) : [];
  return { resources: [...custom, ...resources], ...(next !== null && { nextCursor: next }) };
}

export async function readResource(
  ctx: Context,
  from: CustomCaller,
  params: Params,
): Promise<ReadResourceResult | object> {
  const { engine } = ctx;
  const custom = customResourceAt(ctx, params.uri);
  if (custom) {
    const result = await readCustom(from, custom, params);
    if (!result) throw notFound(from.peer, params.uri);
    return result;
  }
  const ref = await resourceNamed(engine, from, params.uri);
  const uri = String(params.uri);
  const record = await engine.record(ref);
  if (!record) throw notFound(from.peer, uri);
  const messages = await latestMessages(engine, record, MAX_MESSAGES);
  const text = `# ${titleOf(record)}\n\n${transcript(messages)}`;
  return { contents: [{ uri, mimeType: MIME, text }] };
}

/** Throws if the session does not exist or belongs to another user. */
export async function resourceNamed(
  engine: Engine,
  { principal, peer }: Pick<CustomCaller, 'principal' | 'peer'>,
  uri: unknown,
): Promise<SessionRef> {
  if (typeof uri !== 'string') throw invalidParams('uri must be a string.');
  const id = uri.startsWith(BASE_URI) ? decodedUri(uri.slice(BASE_URI.length)) : null;
  const ref = id === null ? null : await engine.find(principal, id);
  if (!ref) throw notFound(peer, uri);
  return ref;
}

/** Since 2026-07-28 it is the code of invalid parameters. */
const notFound = ({ era }: Peer, uri: unknown): RpcFault => {
  const named = String(uri).slice(0, 300);
  return era === 'modern'
    ? new RpcFault(CODES.params, `Resource not found: ${named}`, { uri: named })
    : new RpcFault(CODES.resource, `Resource not found: ${named}`);
};

// Messages: one per input, and one per turn with text.

type Message = { readonly role: 'user' | 'assistant'; readonly text: string; readonly at: string };

/** The latest `limit` messages, oldest first. */
export const latestMessages = async (
  engine: Engine,
  record: SessionRecord,
  limit: number,
): Promise<Message[]> => {
  const drafts = await latest(engine, record, { limit, itemsOf: draftsOf });
  return drafts.map(({ role, texts, at }) => ({
    role,
    text: texts.join(BETWEEN_BLOCKS),
    at: new Date(at).toISOString(),
  }));
};

const BETWEEN_BLOCKS = '\n\n';

type Draft = {
  readonly role: Message['role'];
  /** set for an input */
  readonly input: string | null;
  texts: string[];
  /** number of texts of completed steps */
  settled: number;
  readonly at: number;
};

/** Events before `first` are read but not shown. */
function draftsOf(events: readonly DurableEvent[], first: number): Draft[] {
  const drafts: Draft[] = [];
  let removed: Draft[] = [];
  const answers = new Map<TurnId, Draft>();
  /** what turns without other text have asked */
  const questions = new Map<TurnId, string[]>();
  const asked = new Map<string, string>();
  const direct = directTurns(events);
  for (const event of events.slice(first))
    switch (event.type) {
      case 'history.imported':
        drafts.push(...imported(event));
        break;
      case 'input.accepted':
        // An input without parts lets the model continue; there is no message to show.
        if (event.parts.length > 0 || event.call) drafts.push(draft('user', event, [textOf(event.parts)]));
        break;
      case 'input.cancelled': {
        const cancelled = drafts.findIndex(({ input }) => input === event.input);
        if (cancelled >= 0) drafts.splice(cancelled, 1);
        break;
      }
      case 'session.rewound': {
        const replaced = drafts.findIndex(({ input }) => input === event.input);
        removed = replaced < 0 ? [] : drafts.splice(replaced);
        break;
      }
      case 'session.restored':
        drafts.push(...removed);
        break;
      case 'files.rewound':
        drafts.push(draft('assistant', event, [rewoundText(event)]));
        break;
      case 'text.ended':
        if (event.text !== '') answerOf(event).texts.push(event.text);
        break;
      case 'question.asked':
      case 'question.repeated': {
        const text = writtenQuestion(event);
        asked.set(event.question, text);
        // Without other text, the answer follows the messages that reply to the question.
        const answer = answers.get(event.turn);
        if (answer) answer.settled = answer.texts.push(text);
        else questions.set(event.turn, [...(questions.get(event.turn) ?? []), text]);
        break;
      }
      case 'tool.ended': {
        // The result of a direct call, or of one that ends the turn, is the answer.
        const isAnswer = (direct.has(event.turn) && !wasStopped(event)) || finalAnswer(event) !== null;
        if (!isAnswer) break;
        const answer = answerOf(event);
        answer.settled = answer.texts.push(textOf(event.parts));
        break;
      }
      case 'step.ended': {
        const answer = answers.get(event.turn);
        if (answer) answer.settled = answer.texts.length;
        break;
      }
      case 'question.answered':
        if (event.outcome !== 'withdrawn') asked.delete(event.question);
        break;
      case 'turn.cancelled': {
        // What was not answered is withdrawn.
        const texts = answers.get(event.turn)?.texts ?? questions.get(event.turn) ?? [];
        for (const text of asked.values()) if (texts.includes(text)) texts.splice(texts.lastIndexOf(text), 1);
        if (questions.has(event.turn)) answerOf(event);
        break;
      }
      case 'turn.ended':
      case 'turn.failed':
        if (questions.has(event.turn)) answerOf(event);
        break;
      case 'step.restarted':
      case 'turn.resumed': {
        const answer = answers.get(event.turn);
        answer?.texts.splice(answer.settled);
      }
    }
  return drafts.filter(({ texts }) => texts.length > 0);

  function answerOf(event: { readonly turn: TurnId; readonly at: number }): Draft {
    const known = answers.get(event.turn);
    if (known) return known;
    const texts = questions.get(event.turn) ?? [];
    const answer = { ...draft('assistant', { at: event.at }, texts), settled: texts.length };
    answers.set(event.turn, answer);
    drafts.push(answer);
    return answer;
  }
}

const draft = (
  role: Message['role'],
  event: { readonly at: number; readonly input?: string },
  texts: string[],
): Draft => ({
  role,
  input: event.input ?? null,
  texts,
  settled: 0,
  at: event.at,
});

function imported(event: DurableEvent<'history.imported'>): Draft[] {
  const [first] = event.items;
  const texts = event.items.flatMap((item) => (item.type === 'text' ? [item.text] : []));
  return [
    ...(first?.type === 'user' ? [draft('user', event, [textOf(first.parts)])] : []),
    draft('assistant', { at: event.at }, texts),
  ];
}

/** The turns of direct calls. */
function directTurns(events: readonly DurableEvent[]): ReadonlySet<TurnId> {
  const inputs = new Set<string>();
  const turns = new Set<TurnId>();
  for (const event of events) {
    if (event.type === 'input.accepted' && event.call) inputs.add(event.input);
    if (event.type === 'turn.started' && inputs.has(event.input)) turns.add(event.turn);
  }
  return turns;
}

const NAMES = { user: 'User', assistant: 'Assistant' } as const;

/** The messages as Markdown. */
export const transcript = (messages: readonly Message[]): string =>
  messages.map(({ role, text, at }) => `**${NAMES[role]}** (${at})\n\n${text}`).join('\n\n---\n\n');
