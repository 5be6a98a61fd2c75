/**
 * Merges events and frames by time into rows of two cells. An event and a frame that are adjacent and close in time share
 * a row; everything else has its own row, so that both columns read forward in time.
 */
import type { DurableEvent } from '@parlance/protocol';
import type { TappedFrame } from '@parlance/sdk';

/** A frame with its index since the page was opened. */
export type NumberedFrame = Omit<TappedFrame, 'connection'> & {
  readonly number: number;
  /** '' if the page itself is the client */
  readonly connection: string;
};

/** A command that sends a frame from a terminal. */
export type ShellCommand = { readonly tool: 'wscat' | 'curl'; readonly text: string };

/** A note between frames that was not on the wire. */
export type Note = { readonly at: number; readonly text: string };

export type Row = {
  readonly key: string;
  readonly event?: DurableEvent;
  readonly frame?: NumberedFrame;
  readonly note?: Note;
};

const eventKey = (event: DurableEvent): string => `event-${event.seq}`;
const frameKey = (frame: NumberedFrame): string => `frame-${frame.number}`;

/** Within one millisecond an inbound frame is the cause and an outbound frame the effect. */
const comesFirst = (frame: NumberedFrame, event: DurableEvent): boolean =>
  frame.at < event.at || (frame.at === event.at && frame.direction === 'in');

/** Maximum distance of two cells of one row. */
const TOGETHER_MS = 100;

export function alignedRows(events: readonly DurableEvent[], frames: readonly NumberedFrame[]): Row[] {
  const rows: Row[] = [];
  let [nextEvent, nextFrame] = [0, 0];
  for (;;) {
    const [event, frame] = [events[nextEvent], frames[nextFrame]];
    if (frame && (!event || comesFirst(frame, event))) {
      nextFrame++;
      const last = rows.at(-1);
      if (last?.event && !last.frame && frame.at - last.event.at <= TOGETHER_MS)
        rows[rows.length - 1] = { ...last, frame };
      else rows.push({ key: frameKey(frame), frame });
    } else if (event) {
      nextEvent++;
      const last = rows.at(-1);
      if (last?.frame && !last.event && event.at - last.frame.at <= TOGETHER_MS)
        rows[rows.length - 1] = { ...last, event };
      else rows.push({ key: eventKey(event), event });
    } else return rows;
  }
}

export const eventRows = (events: readonly DurableEvent[]): Row[] =>
  events.map((event) => ({ key: eventKey(event), event }));

export const frameRows = (frames: readonly NumberedFrame[]): Row[] =>
  frames.map((frame) => ({ key: frameKey(frame), frame }));

/** JSON lines in the order of the rows: `{"event": …}` and `{"frame": …}`, each exactly as received. */
export function exportLines(rows: readonly Row[]): string {
  const lines = rows.flatMap(({ event, frame }) => {
    const both: { at: number; line: string }[] = [];
    if (event) both.push({ at: event.at, line: JSON.stringify({ event }) });
    if (frame) {
      const { number: _number, type: _type, ...passed } = frame;
      const line = { at: frame.at, line: JSON.stringify({ frame: passed }) };
      if (event && !comesFirst(frame, event)) both.push(line);
      else both.unshift(line);
    }
    return both.map(({ line }) => `${line}\n`);
  });
  return lines.join('');
}

/**
 * Ring buffer limited by count and size; counts the items it drops. While it is held, new items are buffered separately
 * under the same limits, so that the shown items do not move.
 */
export type Bounds<Item> = {
  readonly maxItems: number;
  /** in the unit of `sizeOf` */
  readonly maxSize: number;
  readonly sizeOf: (item: Item) => number;
};

class Queue<Item> {
  items: Item[] = [];
  #size = 0;

  constructor(private readonly bounds: Bounds<Item>) {}

  /** Returns the number of dropped items. The latest item is kept even if it is too large. */
  add(added: readonly Item[]): number {
    const { maxItems, maxSize, sizeOf } = this.bounds;
    this.items = [...this.items, ...added];
    for (const item of added) this.#size += sizeOf(item);
    let gone = 0;
    while (this.items.length - gone > 1 && (this.items.length - gone > maxItems || this.#size > maxSize)) {
      const oldest = this.items[gone];
      if (oldest !== undefined) this.#size -= sizeOf(oldest);
      gone++;
    }
    if (gone > 0) this.items = this.items.slice(gone);
    return gone;
  }

  take(): Item[] {
    const taken = this.items;
    this.items = [];
    this.#size = 0;
    return taken;
  }
}

export class Bounded<Item> {
  readonly #shown: Queue<Item>;
  readonly #waiting: Queue<Item>;
  #dropped = 0;
  #holding = false;

  constructor(bounds: Bounds<Item>) {
    this.#shown = new Queue(bounds);
    this.#waiting = new Queue(bounds);
  }

  /** the same array until items are shown or cleared */
  get items(): readonly Item[] {
    return this.#shown.items;
  }

  /** items buffered while held */
  get waiting(): number {
    return this.#waiting.items.length;
  }

  /** items dropped since the start or the last clear */
  get dropped(): number {
    return this.#dropped;
  }

  add(items: readonly Item[]): void {
    if (items.length === 0) return;
    this.#dropped += (this.#holding ? this.#waiting : this.#shown).add(items);
  }

  hold(): void {
    this.#holding = true;
  }

  release(): void {
    this.#holding = false;
    const waited = this.#waiting.take();
    if (waited.length > 0) this.#dropped += this.#shown.add(waited);
  }

  clear(): void {
    this.#shown.take();
    this.#waiting.take();
    this.#dropped = 0;
  }
}
