import { type Command, type DurableEventBody, Fault, type HistoryItem } from '@parlance/protocol';
import type { DecisionContext } from './decision.ts';
import type { SessionState } from './session-state.ts';

type Created = { readonly named: boolean; readonly ephemeral?: boolean; readonly cwd?: string };

export const sessionCreated = (
  { named, ephemeral, cwd }: Created,
  { dialect, domain, agent }: DecisionContext,
): DurableEventBody => ({
  type: 'session.created',
  dialect,
  named,
  domain,
  agent,
  ...(ephemeral && { ephemeral: true as const }),
  ...(cwd !== undefined && { cwd }),
});

export function decideCreation(
  command: Extract<Command, { type: 'session.create' }>,
  context: DecisionContext,
): DurableEventBody[] {
  const { title, automatic, labels, history = [], untrusted } = command;
  const imported = historyImported(history, context).map((event) =>
    untrusted === undefined ? event : { ...event, untrusted },
  );
  const events: DurableEventBody[] = [sessionCreated(command, context), ...imported];
  if (title !== undefined) events.push(decideRename(title, automatic, context));
  if (labels) events.push(decideLabels({ labels: {} }, labels));
  return events;
}

/**
 * Emits one event per user message with the items that follow it, so that compaction, paging and `replaces`
 * treat it like a turn.
 */
function historyImported(
  items: readonly HistoryItem[],
  { dialect, historyInputs }: DecisionContext,
): DurableEventBody<'history.imported'>[] {
  const starts = items.flatMap(({ type }, index) => (type === 'user' && index > 0 ? [index] : []));
  const inputs = historyInputs.values();
  return [0, ...starts].flatMap((from, at): DurableEventBody<'history.imported'>[] => {
    const part = items.slice(from, starts[at]);
    if (part.length === 0) return [];
    const input = part[0]?.type === 'user' ? inputs.next().value : undefined;
    return [{ type: 'history.imported', ...(input && { input }), items: part, dialect }];
  });
}

export const decideRename = (
  title: string,
  automatic: boolean | undefined,
  { by }: DecisionContext,
): DurableEventBody => ({
  type: 'session.renamed',
  title,
  by,
  ...(automatic && { automatic }),
});

/** A session above the label limit can still change its existing labels. */
export function decideLabels(
  state: Pick<SessionState, 'labels'>,
  labels: Readonly<Record<string, string>>,
): DurableEventBody {
  const known = Object.keys(state.labels).length;
  const merged = Object.keys({ ...state.labels, ...labels }).length;
  if (merged > MAX_LABELS && merged > known)
    throw new Fault('invalid', `A session may have at most ${MAX_LABELS} labels.`);
  return { type: 'session.labelled', labels };
}

const MAX_LABELS = 50;

/** Tags are sorted and unique regardless of case. No events if the session already has these tags. */
export function decideTags(
  { tags: before }: Pick<SessionState, 'tags'>,
  requested: readonly string[],
  { by }: DecisionContext,
): DurableEventBody[] {
  const byKey = new Map(requested.toReversed().map((tag) => [tag.toLowerCase(), tag]));
  const tags = [...byKey].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, tag]) => tag);
  const isSame = tags.length === before.length && tags.every((tag, index) => tag === before[index]);
  return isSame ? [] : [{ type: 'session.tagged', tags, by }];
}

/** Throws `not_found` if the session does not exist. */
export function inExisting(state: SessionState, ...events: DurableEventBody[]): DurableEventBody[] {
  if (!state.created) throw new Fault('not_found', 'There is no such session.');
  return events;
}
