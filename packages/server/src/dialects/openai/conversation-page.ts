/** A page of the items of a conversation. It reads its own events only, however long the conversation is. */
import type { Engine } from '../../core/index.ts';
import { invalid } from '../kit/request-fault.ts';
import { type ConversationItem, itemsOf, newestFirst } from './conversation-items.ts';
import type { ItemPositions, Log, Positions } from './item-positions.ts';
import type { PageQuery } from './responses/list.ts';

type LogReader = {
  readonly engine: Pick<Engine, 'events' | 'eventsBackwards'>;
  readonly positions: ItemPositions;
};

export async function conversationPage(reader: LogReader, log: Log, query: PageQuery) {
  const { items, more } =
    query.order === 'desc' && query.after === undefined
      ? await latest(reader.engine, log, query.limit)
      : await later(reader, log, query);
  return {
    object: 'list' as const,
    data: items,
    first_id: items[0]?.id ?? null,
    last_id: items.at(-1)?.id ?? null,
    has_more: more,
  };
}

type Page = { readonly items: readonly ConversationItem[]; readonly more: boolean };

async function latest(engine: LogReader['engine'], log: Log, limit: number): Promise<Page> {
  const items: ConversationItem[] = [];
  for await (const item of newestFirst(engine, log)) {
    if (items.length === limit) return { items, more: true };
    items.push(item);
  }
  return { items, more: false };
}

async function later({ engine, positions }: LogReader, log: Log, query: PageQuery): Promise<Page> {
  const { order, after, limit } = query;
  const found = await positions.of(log);
  const at = after === undefined ? -1 : found.indexOf(after);
  if (after !== undefined && at < 0) throw invalid('after', `There is no item ${after.slice(0, 500)}.`);
  const [from, to] =
    order === 'asc' ? [at + 1, Math.min(at + 1 + limit, found.length)] : [Math.max(0, at - limit), at];
  const items = await itemsAt(engine, log, found.slice(from, to));
  return order === 'asc' ? { items, more: to < found.length } : { items: items.toReversed(), more: from > 0 };
}

const READ_AT_ONCE = 500;

async function itemsAt(
  engine: LogReader['engine'],
  { ref }: Log,
  { seqs, skipped, count }: ReturnType<Positions['slice']>,
): Promise<ConversationItem[]> {
  const wanted = new Set(seqs);
  const last = seqs.at(-1) ?? 0;
  const items: ConversationItem[] = [];
  let next = seqs[0];
  while (next !== undefined) {
    const end: number = Math.min(last, next + READ_AT_ONCE - 1);
    const events = await engine.events(ref, next - 1, end - next + 1);
    items.push(...events.filter(({ seq }) => wanted.has(seq)).flatMap(itemsOf));
    next = seqs.find((seq) => seq > end);
  }
  return items.slice(skipped, skipped + count);
}
