/**
 * Data of a timeline: the session's events from the beginning, read page by page, and live frames on its sockets. New
 * events are noticed through the page's activity stream, since browsers allow six connections per server. Listeners are
 * notified in batches.
 */
import type { DurableEvent } from '@parlance/protocol';
import {
  type ActivityEvent,
  type ConnectionState,
  type EventPage,
  type FramesEvent,
  ParlanceError,
  type SessionHandle,
} from '@parlance/sdk';
import { Bounded, type NumberedFrame } from '../../entries/rows.ts';

export type Timeline = {
  readonly events: readonly DurableEvent[];
  readonly frames: readonly NumberedFrame[];
  readonly paused: boolean;
  /** received while paused */
  readonly waiting: { readonly events: number; readonly frames: number };
  /** frames dropped because of the limit */
  readonly dropped: number;
  /** frames that the server skipped because this page was too slow or disconnected */
  readonly missed: number;
  /** attached connections by dialect */
  readonly attached: Readonly<Record<string, number>>;
  /** start of the frame stream, in local milliseconds; null: not started */
  readonly since: number | null;
  /** history is still being read */
  readonly reading: boolean;
  readonly erased: boolean;
  /** of the frame stream */
  readonly connection: ConnectionState;
  /** why the feed ended */
  readonly fault: ParlanceError | null;
};

export const MAX_FRAMES = 5_000;
const MAX_FRAMES_SIZE = 20_000_000;
const PAGE = 1_000;
const BATCH_MS = 80;

export const NOTHING_YET: Timeline = {
  events: [],
  frames: [],
  paused: false,
  waiting: { events: 0, frames: 0 },
  dropped: 0,
  missed: 0,
  attached: {},
  since: null,
  reading: true,
  erased: false,
  connection: { status: 'connecting', failures: 0 },
  fault: null,
};
/** Subscribes to activity. Returns the unsubscribe function. */
type Activity = (listener: (event: ActivityEvent) => void) => () => void;

/** Whether a turn runs, or waits for an approval. */
export function isRunning(events: readonly DurableEvent[]): boolean {
  const last = events.findLast(({ type }) => type.startsWith('turn.'))?.type;
  return last === 'turn.started' || last === 'turn.resumed';
}

export class TimelineFeed {
  readonly #stop = new AbortController();
  readonly #listeners = new Set<() => void>();
  readonly #frames = new Bounded<NumberedFrame>({
    maxItems: MAX_FRAMES,
    maxSize: MAX_FRAMES_SIZE,
    sizeOf: ({ text }) => text.length,
  });
  #events: DurableEvent[] = [];
  #incoming: NumberedFrame[] = [];
  #number = 0;
  #now: Timeline = NOTHING_YET;
  #due: ReturnType<typeof setTimeout> | null = null;

  /** there may be unread events */
  #wanted = false;
  #reading = false;
  readonly #unhear: () => void;

  constructor(
    private readonly source: Pick<SessionHandle, 'id' | 'get' | 'historyPage' | 'frames'>,
    activity: Activity,
  ) {
    this.#unhear = activity((event) => this.#hear(event));
    this.#readOn();
    void this.#run(() => this.#watchFrames());
  }

  readonly get = (): Timeline => this.#now;

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  pause(paused: boolean): void {
    this.#update({});
    if (paused) this.#frames.hold();
    else this.#frames.release();
    this.#update({ paused });
  }

  /** Reconnects at once if waiting. */
  retryNow(): void {
    const { connection } = this.#now;
    if (connection.status === 'waiting') connection.retryNow();
  }

  /** Drops the frames; events stay. */
  clearFrames(): void {
    this.#incoming = [];
    this.#frames.clear();
    this.#update({ missed: 0 });
  }

  close(): void {
    this.#stop.abort();
    this.#unhear();
    if (this.#due !== null) clearTimeout(this.#due);
    this.#listeners.clear();
  }

  /** A `ParlanceError` ends the feed; anything else is a bug and rethrown. */
  async #run(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (thrown) {
      if (this.#stop.signal.aborted) return;
      if (!(thrown instanceof ParlanceError)) throw thrown;
      this.#update({ fault: thrown, reading: false });
    }
  }

  #hear(event: ActivityEvent): void {
    if (event.type === 'settings.changed' || event.type === 'mcp.changed') return;
    if (event.type === 'ready') this.retryNow();
    if (event.type === 'ready' || event.type === 'missed') this.#readOn();
    else if (event.session === null) void this.#run(() => this.#readAttached());
    else if (event.session !== this.source.id) return;
    else if (event.type === 'session.attached') this.#update({ attached: event.attached });
    else this.#readOn();
  }

  async #readAttached(): Promise<void> {
    try {
      const { attached } = await this.source.get({ signal: this.#stop.signal });
      this.#update({ attached });
    } catch (thrown) {
      if (!(thrown instanceof ParlanceError)) throw thrown;
    }
  }

  /** One read at a time; changes during a read trigger another. */
  #readOn(): void {
    this.#wanted = true;
    if (this.#reading) return;
    this.#reading = true;
    void this.#run(async () => {
      try {
        while (this.#wanted) {
          this.#wanted = false;
          await this.#readEvents();
        }
      } finally {
        this.#reading = false;
      }
    });
  }

  async #readEvents(): Promise<void> {
    try {
      for (let after: number | null = this.#events.at(-1)?.seq ?? 0; after !== null; ) {
        const page: EventPage = await this.source.historyPage({
          after,
          limit: PAGE,
          signal: this.#stop.signal,
        });
        if (page.reset) this.#events = [];
        this.#events.push(...page.events);
        this.#tellSoon();
        after = page.next;
      }
      this.#update({ reading: false, erased: false });
    } catch (thrown) {
      if (!(thrown instanceof ParlanceError)) throw thrown;
      const gone = thrown.code === 'not_found' && this.#events.length > 0;
      // `ready` follows after a reconnection and triggers another read.
      if (!gone && thrown.code !== 'unreachable') throw thrown;
      if (gone) this.#events = [];
      this.#update({ reading: false, erased: gone });
    }
  }

  async #watchFrames(): Promise<void> {
    const { signal } = this.#stop;
    const onState = (connection: ConnectionState) => this.#update({ connection });
    for await (const event of this.source.frames({ signal, onState })) this.#take(event);
  }

  #take(event: FramesEvent): void {
    switch (event.type) {
      case 'attached':
        this.#update({ attached: event.dialects, since: this.#now.since ?? Date.now() });
        break;
      case 'missed':
        this.#update({ missed: this.#now.missed + event.frames });
        break;
      case 'frame':
        this.#incoming.push({ ...event, number: ++this.#number });
        this.#tellSoon();
        break;
    }
  }

  #tellSoon(): void {
    this.#due ??= setTimeout(() => this.#update({}), BATCH_MS);
  }

  #update(change: Partial<Timeline>): void {
    if (this.#stop.signal.aborted) return;
    if (this.#due !== null) clearTimeout(this.#due);
    this.#due = null;
    this.#frames.add(this.#incoming);
    this.#incoming = [];
    const next = { ...this.#now, ...change };
    const events = next.paused && this.#events.length > 0 ? next.events : this.#shownEvents(next.events);
    this.#now = {
      ...next,
      events,
      frames: this.#frames.items,
      waiting: { events: Math.max(0, this.#events.length - events.length), frames: this.#frames.waiting },
      dropped: this.#frames.dropped,
    };
    for (const listener of [...this.#listeners]) listener();
  }

  /** The same array if nothing was added: events are immutable. */
  #shownEvents(before: readonly DurableEvent[]): readonly DurableEvent[] {
    const same = before.length === this.#events.length && before.at(-1)?.id === this.#events.at(-1)?.id;
    return same ? before : [...this.#events];
  }
}
