/**
 * Where in the log the items of a conversation are, so that a page reads its own events only. Built from the log when it is
 * first needed, and then brought up to date: 16 bytes for each item.
 */
import type { DurableEvent } from '@parlance/protocol';
import { type Engine, type SessionRecord, sessionKey } from '../../core/index.ts';
import { LruMap } from '../../lib/lru-map.ts';
import { KeyedQueue } from '../kit/keyed-queue.ts';
import { itemsOf } from './conversation-items.ts';

export type Log = Pick<SessionRecord, 'ref' | 'head' | 'createdAt'>;

const PAGE = 500;
const MAX_SESSIONS = 50;

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
        const events = await this.engine.events(log.ref, positions.head, PAGE);
        if (events.length === 0) break; // deleted meanwhile
        for (const event of events) positions.add(event);
      }
      return positions;
    });
  }
}

/** The items that are left, oldest first. */
export class Positions {
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
