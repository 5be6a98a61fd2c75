/** What the endpoints of conversations do. A conversation is a session, and its metadata are labels. */
import type { DurableEvent, HistoryItem, Principal } from '@parlance/protocol';
import type { z } from 'zod';
import { type Engine, type SessionRecord, sessionKey } from '../../core/index.ts';
import { KeyedQueue } from '../../lib/keyed-queue.ts';
import { LruMap } from '../../lib/lru-map.ts';
import { invalid, RequestFault } from '../kit/chat-request.ts';
import { importable } from '../kit/history.ts';
import { finalAnswer } from '../kit/tracking.ts';
import type { VendorContext } from '../kit/vendor-requests.ts';
import type {
  ConversationCreate,
  ConversationUpdate,
  ItemsCreate,
  PageQuery,
  ResponseRequest,
} from './contract.ts';
import { inputConversation } from './input.ts';
import {
  callOutputItem,
  functionCallItem,
  itemId,
  itemList,
  messageId,
  messageItem,
  reasoningItem,
  systemMessage,
  userMessage,
} from './responses/objects.ts';
import { resolved } from './responses/request.ts';

/** Labels that the server sets. */
const OWN = /^(?:@|exchange\.|client\.|openai\.|anthropic\.|claude-code\.)/;
/** Labels cannot be removed: one without a value is hidden. */
const REMOVED = '';

const caller = ({ principal }: Pick<NamedConversation, 'principal'>) => ({ principal, dialect: 'openai' });

const conversationObject = ({ ref, createdAt, labels }: SessionRecord) => ({
  id: ref.id as string,
  object: 'conversation' as const,
  created_at: Math.floor(createdAt / 1000),
  metadata: metadataOf(labels),
});

const metadataOf = (labels: SessionRecord['labels']): Record<string, string> =>
  Object.fromEntries(Object.entries(labels).filter(([name, value]) => !OWN.test(name) && value !== REMOVED));

function labelsOf(metadata: Readonly<Record<string, string>>): Record<string, string> {
  const reserved = Object.keys(metadata).find((name) => OWN.test(name));
  if (reserved !== undefined) throw invalid(`metadata.${reserved}`, 'The server sets labels of this name.');
  return { ...metadata };
}

export type NamedConversation = { readonly principal: Principal; readonly id: string };

export async function findConversation(
  { engine }: VendorContext,
  { principal, id }: NamedConversation,
): Promise<SessionRecord> {
  const ref = await engine.find(principal, id);
  const record = ref && (await engine.record(ref));
  if (record && !record.archived) return record;
  throw new RequestFault('not_found', `Conversation with id '${id.slice(0, 200)}' not found.`, {
    param: 'conversation_id',
  });
}

export async function createConversation(
  ctx: VendorContext,
  principal: Principal,
  { metadata, items }: z.output<typeof ConversationCreate>,
) {
  const given = await historyOf(ctx, principal, items ?? undefined);
  const ref = await ctx.engine.resolve(principal, `conv_${ctx.newId().replaceAll('-', '')}`);
  const labels = labelsOf(metadata ?? {});
  const command = { type: 'session.create', history: importable(given), labels } as const;
  await ctx.engine.send(ref, command, caller({ principal }));
  return retrieveConversation(ctx, { principal, id: ref.id });
}

export const retrieveConversation = async (ctx: VendorContext, named: NamedConversation) =>
  conversationObject(await findConversation(ctx, named));

/** Replaces the metadata. */
export async function updateConversation(
  ctx: VendorContext,
  named: NamedConversation,
  { metadata }: z.output<typeof ConversationUpdate>,
) {
  const { ref, labels } = await findConversation(ctx, named);
  const removed = Object.fromEntries(Object.keys(metadataOf(labels)).map((name) => [name, REMOVED]));
  const command = { type: 'session.label', labels: labelsOf({ ...removed, ...metadata }) } as const;
  await ctx.engine.send(ref, command, caller(named));
  return retrieveConversation(ctx, named);
}

/** Adds items. No model is called. Returns them as the conversation has them. */
export async function createItems(
  ctx: VendorContext & LogReader,
  named: NamedConversation,
  { items }: z.output<typeof ItemsCreate>,
) {
  const { ref } = await findConversation(ctx, named);
  const history = await historyOf(ctx, named.principal, items);
  if (history.length === 0) return itemList([], false);
  const { events } = await ctx.engine.send(ref, { type: 'history.append', items: history }, caller(named));
  return itemList(events.flatMap(itemsOf), false);
}

async function historyOf(
  ctx: VendorContext,
  principal: Principal,
  given: ResponseRequest['input'],
): Promise<HistoryItem[]> {
  const { items, instructions, approvals } = inputConversation(await resolved(ctx, principal, given));
  if (approvals.length > 0) throw invalid('items', 'An approval is answered with a request for a response.');
  // At the beginning of a request, these are its instructions. Here, they are an item.
  return instructions ? [{ type: 'system', text: instructions }, ...items] : [...items];
}

/** Throws `not_found` if the conversation has no such item. */
export async function findItem(
  ctx: VendorContext & LogReader,
  named: NamedConversation & { readonly item: string },
) {
  const found = await conversationItem(ctx, await findConversation(ctx, named), named.item);
  if (found) return found;
  throw new RequestFault('not_found', `Item with id '${named.item.slice(0, 200)}' not found.`, {
    param: 'item_id',
  });
}

/** The item leaves the list and the context of the model. The log keeps it. */
export async function deleteItem(
  ctx: VendorContext & LogReader,
  named: NamedConversation & { readonly item: string },
) {
  const { position } = await findItem(ctx, named);
  const { ref } = await findConversation(ctx, named);
  await ctx.engine.send(ref, { type: 'history.remove', ...position }, caller(named));
  return retrieveConversation(ctx, named);
}

export async function deleteConversation(ctx: VendorContext, named: NamedConversation) {
  const { ref } = await findConversation(ctx, named);
  await ctx.engine.send(ref, { type: 'session.archive' }, caller(named));
  return { id: ref.id as string, object: 'conversation.deleted' as const, deleted: true as const };
}

// The items of a session, from all dialects, in pages: messages, reasoning, calls and results. A page reads its own events only, however long the session is: the latest are read backwards, others by their positions in the log.

type Log = Pick<SessionRecord, 'ref' | 'head' | 'createdAt'>;

export type LogReader = {
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

type FoundItem = { readonly item: ConversationItem; readonly position: ItemPosition };

/** Null if the session has no such item. */
export async function conversationItem(
  { engine, positions }: LogReader,
  log: Log,
  id: string,
): Promise<FoundItem | null> {
  const found = await positions.of(log);
  const at = found.indexOf(id);
  const [position] = at < 0 ? [] : found.slice(at, at + 1);
  const [item] = position ? await itemsAt(engine, log, [position]) : [];
  return item?.id === id && position ? { item, position } : null;
}

const READ_AT_ONCE = 500;

async function itemsAt(
  engine: LogReader['engine'],
  { ref }: Log,
  positions: readonly ItemPosition[],
): Promise<ConversationItem[]> {
  const found = new Map<number, ConversationItem[]>();
  const wanted = new Set(positions.map(({ seq }) => seq));
  const last = positions.at(-1)?.seq ?? 0;
  let next = positions[0]?.seq;
  while (next !== undefined) {
    const end: number = Math.min(last, next + READ_AT_ONCE - 1);
    const events = await engine.events(ref, next - 1, end - next + 1);
    for (const event of events) if (wanted.has(event.seq)) found.set(event.seq, itemsOf(event));
    next = positions.find(({ seq }) => seq > end)?.seq;
  }
  return positions.flatMap(({ seq, index }) => found.get(seq)?.[index] ?? []);
}

// Items

type ConversationItem =
  | ReturnType<typeof userMessage | typeof systemMessage | typeof messageItem>
  | ReturnType<typeof reasoningItem | typeof functionCallItem | typeof callOutputItem>;

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
  /** rewinds that were undone */
  readonly #undone = new Set<string>();
  /** items that were removed, as `seq:index` */
  readonly #removed = new Set<string>();
  /** turns whose current step was restarted: its earlier output is discarded */
  readonly #void = new Set<string>();

  before(event: DurableEvent): ConversationItem[] {
    if (event.type === 'session.cleared') this.isOver = true;
    if (this.isOver) return [];
    switch (event.type) {
      case 'history.removed':
        this.#removed.add(`${event.item}:${event.index}`);
        return [];
      case 'session.restored':
        this.#undone.add(event.rewind);
        return [];
      case 'session.rewound':
        if (!this.#undone.has(event.rewind ?? '')) this.#hiddenFrom = Math.min(this.#hiddenFrom, event.from);
        return [];
      case 'step.restarted':
      case 'turn.resumed':
        this.#void.add(event.turn);
        return [];
      case 'step.ended':
        this.#void.delete(event.turn);
        return [];
      default:
        if (event.seq >= this.#hiddenFrom || this.#isVoid(event)) return [];
        return itemsOf(event)
          .filter((_, index) => !this.#removed.has(`${event.seq}:${index}`))
          .reverse();
    }
  }

  #isVoid(event: DurableEvent): boolean {
    return isBlock(event) && this.#void.has(event.turn) && !event.interrupted;
  }
}

const isBlock = (event: DurableEvent): event is DurableEvent<'text.ended' | 'reasoning.ended'> =>
  event.type === 'text.ended' || event.type === 'reasoning.ended';

/** The items of an event, in order. An imported history has one for each of its own. */
export function itemsOf(event: DurableEvent): ConversationItem[] {
  switch (event.type) {
    case 'history.imported':
      return event.items.map((item, at) => importedItem(item, event.session, `${event.id}-${at}`));
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
    case 'reasoning.ended': {
      const { text, block, session } = event;
      return text === '' ? [] : [reasoningItem(itemId('rs', { session, id: block }), text)];
    }
    case 'call.requested': {
      const { call, tool, input, session } = event;
      const id = itemId('fc', { session, id: call });
      return [functionCallItem({ id, call, tool }, JSON.stringify(input), 'completed')];
    }
    case 'tool.ended': {
      const { call, session } = event;
      const output = callOutputItem(itemId('fco', { session, id: call }), event);
      const text = finalAnswer(event);
      return text === null
        ? [output]
        : [output, messageItem(messageId(session, event.id), text, { status: 'completed' })];
    }
    default:
      return [];
  }
}

function importedItem(item: HistoryItem, session: string, id: string): ConversationItem {
  switch (item.type) {
    case 'user':
      return userMessage(messageId(session, id), item.parts);
    case 'system':
      return systemMessage(messageId(session, id), item.text);
    case 'text':
      return messageItem(messageId(session, id), item.text, { status: 'completed' });
    case 'reasoning':
      return reasoningItem(itemId('rs', { session, id }), item.text);
    case 'call': {
      const named = { id: itemId('fc', { session, id }), call: item.call, tool: item.tool };
      return functionCallItem(named, JSON.stringify(item.input), 'completed');
    }
    case 'result':
      return callOutputItem(itemId('fco', { session, id }), item);
  }
}

// Positions

const MAX_SESSIONS = 50;

/**
 * Where in the log the items of a conversation are. Built from the log when it is first needed, and then brought up to
 * date: 24 bytes for each item.
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

/** The event of an item, and which of its items it is. */
type ItemPosition = { readonly seq: number; readonly index: number };

/** The items that are left, oldest first. */
class Positions {
  head = 0;
  /** the events of the items, their places in these, and a hash of their ids */
  #seqs: number[] = [];
  #indexes: number[] = [];
  #hashes: number[] = [];
  /** by the last rewind */
  #removed: [number[], number[], number[]] = [[], [], []];
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

  slice(from: number, to: number): ItemPosition[] {
    const indexes = this.#indexes.slice(from, to);
    return this.#seqs.slice(from, to).map((seq, at) => ({ seq, index: indexes[at] ?? 0 }));
  }

  add(event: DurableEvent): void {
    this.head = event.seq;
    switch (event.type) {
      case 'session.cleared':
        this.#keep(() => false);
        break;
      case 'history.removed':
        this.#keep((seq, index) => seq !== event.item || index !== event.index);
        break;
      case 'session.rewound': {
        const from = this.#seqs.findIndex((seq) => seq >= event.from);
        const at = from < 0 ? this.#seqs.length : from;
        this.#removed = [this.#seqs.splice(at), this.#indexes.splice(at), this.#hashes.splice(at)];
        break;
      }
      case 'session.restored': {
        const [seqs, indexes, hashes] = this.#removed;
        this.#seqs.push(...seqs);
        this.#indexes.push(...indexes);
        this.#hashes.push(...hashes);
        break;
      }
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
    for (const [index, { id }] of itemsOf(event).entries()) {
      this.#seqs.push(event.seq);
      this.#indexes.push(index);
      this.#hashes.push(hashOf(id));
    }
    if (!isBlock(event) || event.interrupted) return;
    const unsettled = this.#unsettled.get(event.turn) ?? new Set<number>();
    this.#unsettled.set(event.turn, unsettled.add(event.seq));
  }

  #keep(isKept: (seq: number, index: number) => boolean): void {
    const kept = this.#seqs.map((seq, at) => isKept(seq, this.#indexes[at] ?? 0));
    this.#hashes = this.#hashes.filter((_, at) => kept[at]);
    this.#indexes = this.#indexes.filter((_, at) => kept[at]);
    this.#seqs = this.#seqs.filter((_, at) => kept[at]);
  }
}

/** 52 bits: two of a million items have the same one with a probability of 1 in 10,000. */
const hashOf = (id: string): number => Number(BigInt.asUintN(52, BigInt(Bun.hash(id))));
