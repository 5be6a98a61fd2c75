/**
 * The messages of a session, from all dialects, in pages. A page reads its own events only, however long the session is:
 * the latest are read backwards, others by their positions in the log.
 */
import type { DurableEvent, HistoryItem } from '@parlance/protocol';
import { type Engine, type SessionRecord, sessionKey } from '../../core/index.ts';
import { KeyedQueue } from '../../lib/keyed-queue.ts';
import { LruMap } from '../../lib/lru-map.ts';
import { invalid } from '../kit/chat-request.ts';
import { finalAnswer } from '../kit/tracking.ts';
import type { PageQuery } from './contract.ts';
import { itemList, messageId, messageItem, userMessage } from './responses/objects.ts';

type Log = Pick<SessionRecord, 'ref' | 'head' | 'createdAt'>;

type LogReader = {
  readonly engine: Pick<Engine, 'events' | 'eventsBackwards'>;
  readonly positions: ItemPositions;
};

export async function conversationPage(reader: LogReader, log: Log, query: PageQuery) {
  const isLatest = query.order === 'desc' && query.after === undefined;
  const { items, more } = await (isLatest
    ? latest(reader.engine, log, query.limit)
    : later(reader, log, query));
  return itemList(items, more);
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

// Items

type ConversationItem = ReturnType<typeof userMessage> | ReturnType<typeof messageItem>;

async function* newestFirst(
  engine: LogReader['engine'],
  { ref, head }: Log,
): AsyncGenerator<ConversationItem> {
  const shown = new ShownItems();
  for await (const events of engine.eventsBackwards(ref, head)) {
    for (const event of events.reverse()) yield* shown.before(event);
    if (shown.isOver) return;
  }
}

/** The visible items of the events, last one first. */
class ShownItems {
  /** nothing before is shown */
  isOver = false;
  /** events from this number on were replaced */
  #hiddenFrom = Number.POSITIVE_INFINITY;
  /** turns whose current step was restarted: its earlier output is discarded */
  readonly #void = new Set<string>();

  before(event: DurableEvent): ConversationItem[] {
    if (event.type === 'session.cleared') this.isOver = true;
    if (this.isOver) return [];
    switch (event.type) {
      case 'session.rewound':
        this.#hiddenFrom = Math.min(this.#hiddenFrom, event.from);
        return [];
      case 'step.restarted':
      case 'turn.resumed':
        this.#void.add(event.turn);
        return [];
      case 'step.ended':
        this.#void.delete(event.turn);
        return [];
      default:
        return event.seq >= this.#hiddenFrom || this.#isVoid(event) ? [] : itemsOf(event).reverse();
    }
  }

  #isVoid(event: DurableEvent): boolean {
    return event.type === 'text.ended' && this.#void.has(event.turn) && !event.interrupted;
  }
}

/** The items of an event, in order. */
function itemsOf(event: DurableEvent): ConversationItem[] {
  switch (event.type) {
    case 'history.imported':
      return event.items.flatMap((item, at) =>
        importedItem(item, messageId(event.session, `${event.id}-${at}`)),
      );
    case 'input.accepted':
      // Without parts the model went on from what was there.
      return event.parts.length > 0 ? [userMessage(messageId(event.session, event.input), event.parts)] : [];
    case 'text.ended': {
      const { text, interrupted = false, block, session } = event;
      if (text === '') return [];
      return [
        messageItem(messageId(session, block), text, { status: interrupted ? 'incomplete' : 'completed' }),
      ];
    }
    case 'tool.ended': {
      const text = finalAnswer(event);
      return text === null
        ? []
        : [messageItem(messageId(event.session, event.id), text, { status: 'completed' })];
    }
    default:
      return [];
  }
}

function importedItem(item: HistoryItem, id: string): ConversationItem[] {
  if (item.type === 'user') return [userMessage(id, item.parts)];
  return item.type === 'text' ? [messageItem(id, item.text, { status: 'completed' })] : [];
}

// Positions

const MAX_SESSIONS = 50;

/**
 * Where in the log the items of a conversation are. Built from the log when it is first needed, and then brought up to
 * date: 16 bytes for each item.
 */
export class ItemPositions {
  readonly #sessions = new LruMap<Positions>(MAX_SESSIONS);
  readonly #queue = new KeyedQueue();

  constructor(private readonly engine: Pick<Engine, 'events'>) {}

  of(log: Log): Promise<Positions> {
    const key = sessionKey(log.ref);
    return this.#queue.run(key, async () => {
      const known = this.#sessions.get(key);
      // Another session may have had the same name.
      const isSame = known?.createdAt === log.createdAt && known.head <= log.head;
      const positions = isSame && known ? known : new Positions(log.createdAt);
      this.#sessions.set(key, positions);
      while (positions.head < log.head) {
        const events = await this.engine.events(log.ref, positions.head, READ_AT_ONCE);
        if (events.length === 0) break; // deleted meanwhile
        for (const event of events) positions.add(event);
      }
      return positions;
    });
  }
}

/** The items that are left, oldest first. */
class Positions {
  head = 0;
  /** the events of the items, and a hash of their ids */
  #seqs: number[] = [];
  #hashes: number[] = [];
  /** the texts of the present step of each turn: void if it is restarted */
  readonly #unsettled = new Map<string, Set<number>>();

  constructor(readonly createdAt: number) {}

  get length(): number {
    return this.#seqs.length;
  }

  /** -1 if there is no such item. */
  indexOf(id: string): number {
    return this.#hashes.indexOf(hashOf(id));
  }

  /** The numbers of the events that these items are made of; the first one may have items before them, which are skipped. */
  slice(from: number, to: number) {
    const seqs = this.#seqs.slice(from, to);
    const first = this.#seqs.indexOf(seqs[0] ?? 0);
    return { seqs: [...new Set(seqs)], skipped: from - first, count: seqs.length };
  }

  add(event: DurableEvent): void {
    this.head = event.seq;
    switch (event.type) {
      case 'session.cleared':
        this.#keep(() => false);
        break;
      case 'session.rewound':
        this.#keep((seq) => seq < event.from);
        break;
      case 'step.restarted':
      case 'turn.resumed': {
        const unsettled = this.#unsettled.get(event.turn);
        if (unsettled) this.#keep((seq) => !unsettled.has(seq));
        this.#unsettled.delete(event.turn);
        break;
      }
      case 'step.ended':
      case 'turn.ended':
      case 'turn.failed':
      case 'turn.cancelled':
        this.#unsettled.delete(event.turn);
        break;
      default:
        this.#append(event);
    }
  }

  #append(event: DurableEvent): void {
    for (const { id } of itemsOf(event)) {
      this.#seqs.push(event.seq);
      this.#hashes.push(hashOf(id));
    }
    if (event.type !== 'text.ended' || event.interrupted) return;
    const unsettled = this.#unsettled.get(event.turn) ?? new Set<number>();
    this.#unsettled.set(event.turn, unsettled.add(event.seq));
  }

  #keep(isKept: (seq: number) => boolean): void {
    const seqs = this.#seqs;
    this.#hashes = this.#hashes.filter((_, at) => isKept(seqs[at] ?? 0));
    this.#seqs = seqs.filter(isKept);
  }
}

/** 52 bits: two of a million items have the same one with a probability of 1 in 10,000. */
const hashOf = (id: string): number => Number(BigInt.asUintN(52, BigInt(Bun.hash(id))));
