/**
 * How the session of a request is found again: by its idempotency key, or by a digest of its conversation. Both are
 * stored in the labels of the session. A repeated request with a key returns the same turn. A key belongs to a user,
 * whichever API keys the requests have.
 */
import type { DurableEvent, HistoryItem, Json, Part } from '@parlance/protocol';
import type { Engine, SessionRecord } from '../../core/index.ts';
import { type ChatRequest, type FollowTarget, RequestFault, resultsOf } from './chat-request.ts';

/** The key of the latest request with one. A session is found by any of its keys. */
export const KEY = '@exchange.key';
/** The latest keys, shortened, each with the number of the last event before its request, and its contents. */
const REQUESTS = 'exchange.requests';
/** As before, without the contents; written by earlier versions. */
const KEYS = 'exchange.keys';

const SHORT = 16;
const SHORT_CONTENTS = 8;
const MAX_CHARACTERS = 2_000;

type Labels = SessionRecord['labels'];

/** The labels that store the key of a request made after event number `seq`. */
export function keyLabels(labels: Labels, chat: ChatRequest, seq: number): Record<string, string> {
  const { key } = chat;
  if (key === null) return {};
  const known = (labels[REQUESTS] ?? '').split(' ').filter((entry) => entry !== '' && !isOf(entry, key));
  const entries = [...known, `${key.slice(0, SHORT)}:${seq}:${contentsOf(chat)}`];
  while (entries.join(' ').length > MAX_CHARACTERS) entries.shift();
  return { [KEY]: key, [REQUESTS]: entries.join(' ') };
}

/** Not the model and other terms: a client may repeat a request with another one. */
const contentsOf = ({ dialect, items, lookedUp = 0, approvals = [] }: ChatRequest): string =>
  digestOf(JSON.stringify([dialect, conversationDigest(items.slice(lookedUp)), approvals])).slice(
    0,
    SHORT_CONTENTS,
  );

const isOf = (entry: string, key: string): boolean => entry.startsWith(`${key.slice(0, SHORT)}:`);

function storedRequest(labels: Labels, key: string): { seq: number; contents?: string } | null {
  const entries = [labels[REQUESTS], labels[KEYS]].flatMap((label) => label?.split(' ') ?? []);
  const [, seq, contents] = entries.find((known) => isOf(known, key))?.split(':') ?? [];
  return seq === undefined ? null : { seq: Number(seq), contents };
}

export type EarlierRequest = {
  readonly start: DurableEvent;
  readonly after: number;
  readonly target: FollowTarget;
};

/**
 * The effect of an earlier request with the same key; null if there was none. Throws `invalid` if it had other
 * messages: its answer would be taken for the answer to these.
 */
export async function earlierRequest(
  engine: Pick<Engine, 'events'>,
  { ref, labels }: SessionRecord,
  chat: ChatRequest,
): Promise<EarlierRequest | null> {
  const { key } = chat;
  const stored = key === null ? null : storedRequest(labels, key);
  if (stored === null) return null;
  const { seq: after, contents } = stored;
  if (contents !== undefined && contents !== contentsOf(chat))
    throw new RequestFault(
      'invalid',
      'The idempotency key was used before, for a request with other messages.',
    );
  const calls = new Set(resultsOf(chat).map(({ call }) => String(call)));
  const approvals = new Set(chat.approvals?.map(({ approval }) => String(approval)));
  const requestEvents = (await engine.events(ref, after, 100)).filter(
    (event) =>
      (event.type === 'input.accepted' && event.key === key) ||
      (event.type === 'tool.ended' && calls.has(event.call)) ||
      (event.type === 'approval.answered' && approvals.has(event.approval)),
  );
  const [start] = requestEvents;
  return start ? { start, after, target: followTarget(requestEvents) } : null;
}

/** What to follow, given the events that a request caused. */
export function followTarget(requestEvents: readonly DurableEvent[]): FollowTarget {
  const answered = new Set<string>();
  let input: FollowTarget['input'] = null;
  let turn: FollowTarget['turn'] = null;
  for (const event of requestEvents) {
    if (event.type === 'input.accepted') ({ input } = event);
    if (event.type !== 'tool.ended' && event.type !== 'approval.answered') continue;
    ({ turn } = event);
    answered.add(event.call);
  }
  return { input, turn, answered };
}

// The digest of a conversation: equal for the same roles, texts, calls and results. It is a hash chain, so the digest
// alone is enough to continue it.

export const digestOf = (text: string): string => new Bun.CryptoHasher('sha256').update(text).digest('hex');

const EMPTY = digestOf('');

/** The digest of the items, appended to the conversation with the digest `before`. */
export function conversationDigest(items: readonly HistoryItem[], before = EMPTY): string {
  let digest = before;
  for (const item of items) {
    const counted = countedPart(item);
    if (counted !== null) digest = digestOf(`${digest}${JSON.stringify(counted)}`);
  }
  return digest;
}

/** Clients may send a text whole or in several parts. */
const wordsOf = (parts: readonly Part[]): string =>
  parts.map((part) => (part.type === 'text' ? part.text : '')).join('');

function countedPart(item: HistoryItem): unknown[] | null {
  switch (item.type) {
    case 'user':
      return [
        'user',
        wordsOf(item.parts),
        ...item.parts.flatMap((part) => ('data' in part ? [part.data] : [])),
      ];
    case 'text':
      return ['text', item.text];
    case 'call':
      return ['call', item.call, item.tool, sorted(item.input)];
    case 'result':
      return ['result', item.call, wordsOf(item.parts)];
    case 'system':
    case 'reasoning':
      return null;
  }
}

/** Clients may write the fields of arguments in any order. */
function sorted(value: Json): Json {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([key, inner]) => [key, sorted(inner)]));
}
