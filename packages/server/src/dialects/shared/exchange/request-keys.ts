/**
 * Idempotency keys of requests, stored in the labels of the session: a repeated request returns the same turn.
 */
import type { DurableEvent } from '@parlance/protocol';
import type { Engine, SessionRecord } from '../../../core/api/index.ts';
import { type Question, resultsOf } from './question.ts';
import type { FollowTarget } from './reading.ts';

/** The key of the latest request with one. A session is found by any of its keys. */
export const KEY = '@exchange.key';
/** The latest keys, shortened, each with the number of the last event before its request. */
const KEYS = 'exchange.keys';

const SHORT = 16;
const MAX_CHARACTERS = 2_000;

type Labels = SessionRecord['labels'];

/** The labels that store the key of a request made after event number `seq`. */
export function keyLabels(labels: Labels, key: string, seq: number): Record<string, string> {
  const known = (labels[KEYS] ?? '').split(' ').filter((entry) => entry !== '' && !isOf(entry, key));
  const entries = [...known, `${key.slice(0, SHORT)}:${seq}`];
  while (entries.join(' ').length > MAX_CHARACTERS) entries.shift();
  return { [KEY]: key, [KEYS]: entries.join(' ') };
}

const isOf = (entry: string, key: string): boolean => entry.startsWith(`${key.slice(0, SHORT)}:`);

function seqOf(labels: Labels, key: string): number | null {
  const entry = (labels[KEYS] ?? '').split(' ').find((known) => isOf(known, key));
  return entry === undefined ? null : Number(entry.slice(SHORT + 1));
}

export type EarlierRequest = {
  readonly start: DurableEvent;
  readonly after: number;
  readonly target: FollowTarget;
};

/** The effect of an earlier request with the same key; null if there was none. */
export async function earlierRequest(
  engine: Pick<Engine, 'events'>,
  { ref, labels }: SessionRecord,
  question: Question,
): Promise<EarlierRequest | null> {
  const { key } = question;
  const after = key === null ? null : seqOf(labels, key);
  if (key === null || after === null) return null;
  const calls = new Set(resultsOf(question).map(({ call }) => String(call)));
  const approvals = new Set(question.approvals?.map(({ approval }) => String(approval)));
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
