/**
 * What a timeline shows of a session: its facts from the beginning, read page by page and then as they happen, and the
 * frames on its sockets from now on. Listeners are told in batches, so that a stream of words does not draw each one.
 */
import type { Fact } from '@parlance/protocol';
import { type ConnectionState, type FramesEvent, ParlanceError, type SessionHandle } from '@parlance/sdk';
import { Bounded } from '../../entries/bounded.ts';
import type { NumberedFrame } from '../../entries/rows.ts';

export type Timeline = {
  readonly facts: readonly Fact[];
  readonly frames: readonly NumberedFrame[];
  readonly paused: boolean;
  /** what happened since it was paused */
  readonly waiting: { readonly facts: number; readonly frames: number };
  /** frames that were let go, because there are more than are kept */
  readonly dropped: number;
  /** frames that the server could not tell us, because we were too slow or not connected */
  readonly missed: number;
  /** who is attached, by dialect, when the frames were last connected */
  readonly attached: Readonly<Record<string, number>>;
  /** frames are seen from then on, in milliseconds of this browser; null: not yet */
  readonly since: number | null;
  /** facts of the past are still being read */
  readonly reading: boolean;
  readonly erased: boolean;
  readonly connection: { readonly facts: ConnectionState; readonly frames: ConnectionState };
  /** why nothing more comes */
  readonly fault: ParlanceError | null;
};

export const MOST_FRAMES = 5_000;
const LARGEST_FRAMES = 20_000_000;
const PAGE = 1_000;
const BATCH_MS = 80;

const CONNECTING: ConnectionState = { status: 'connecting', failures: 0 };

export const NOTHING_YET: Timeline = {
  facts: [],
  frames: [],
  paused: false,
  waiting: { facts: 0, frames: 0 },
  dropped: 0,
  missed: 0,
  attached: {},
  since: null,
  reading: true,
  erased: false,
  connection: { facts: CONNECTING, frames: CONNECTING },
  fault: null,
};

type Source = Pick<SessionHandle, 'facts' | 'events' | 'frames'>;

export class TimelineFeed {
  readonly #stop = new AbortController();
  readonly #listeners = new Set<() => void>();
  readonly #frames = new Bounded<NumberedFrame>({
    most: MOST_FRAMES,
    largest: LARGEST_FRAMES,
    sizeOf: ({ text }) => text.length,
  });
  #facts: Fact[] = [];
  #incoming: NumberedFrame[] = [];
  #number = 0;
  #now: Timeline = NOTHING_YET;
  #due: ReturnType<typeof setTimeout> | null = null;

  constructor(private readonly source: Source) {
    void this.#run(this.#readFacts());
    void this.#run(this.#watchFrames());
  }

  readonly get = (): Timeline => this.#now;

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  pause(paused: boolean): void {
    this.#tell({});
    if (paused) this.#frames.hold();
    else this.#frames.release();
    this.#tell({ paused });
  }

  /** Where it waits to connect again, it waits no longer. */
  retryNow(): void {
    const { facts, frames } = this.#now.connection;
    for (const connection of [facts, frames]) if (connection.status === 'waiting') connection.retryNow();
  }

  /** Forgets the frames so far; the facts are the session's. */
  clearFrames(): void {
    this.#incoming = [];
    this.#frames.clear();
    this.#tell({ missed: 0 });
  }

  close(): void {
    this.#stop.abort();
    if (this.#due !== null) clearTimeout(this.#due);
    this.#listeners.clear();
  }

  /** The server has said no: nothing more comes. Anything else that is thrown is a bug. */
  async #run(work: Promise<void>): Promise<void> {
    try {
      await work;
    } catch (thrown) {
      if (this.#stop.signal.aborted) return;
      if (!(thrown instanceof ParlanceError)) throw thrown;
      this.#tell({ fault: thrown, reading: false });
    }
  }

  async #readFacts(): Promise<void> {
    const { signal } = this.#stop;
    await this.#readPast(signal);
    const onState = (facts: ConnectionState) =>
      this.#tell({ connection: { ...this.#now.connection, facts } });
    for await (const event of this.source.events({ after: this.#facts.at(-1)?.seq, signal, onState })) {
      if (event.type === 'snapshot') this.#tell({ reading: false });
      else if (event.type === 'reset' || event.type === 'session.erased') {
        this.#facts = [];
        this.#tell({ erased: event.type === 'session.erased' });
      } else if ('seq' in event) {
        this.#facts.push(event);
        this.#tellSoon();
      }
    }
  }

  /** What cannot be read now is read by the stream, which does not give up. */
  async #readPast(signal: AbortSignal): Promise<void> {
    try {
      for (let after: number | null = 0; after !== null; ) {
        const page = await this.source.facts({ after, limit: PAGE, signal });
        if (page.reset) this.#facts = [];
        this.#facts.push(...page.events);
        this.#tellSoon();
        after = page.next;
      }
    } catch (thrown) {
      if (!(thrown instanceof ParlanceError && thrown.code === 'unreachable')) throw thrown;
    }
  }

  async #watchFrames(): Promise<void> {
    const { signal } = this.#stop;
    const onState = (frames: ConnectionState) =>
      this.#tell({ connection: { ...this.#now.connection, frames } });
    for await (const event of this.source.frames({ signal, onState })) this.#take(event);
  }

  #take(event: FramesEvent): void {
    switch (event.type) {
      case 'attached':
        this.#tell({ attached: event.dialects, since: this.#now.since ?? Date.now() });
        break;
      case 'missed':
        this.#tell({ missed: this.#now.missed + event.frames });
        break;
      case 'frame':
        this.#incoming.push({ ...event, number: ++this.#number });
        this.#tellSoon();
        break;
    }
  }

  #tellSoon(): void {
    this.#due ??= setTimeout(() => this.#tell({}), BATCH_MS);
  }

  #tell(change: Partial<Timeline>): void {
    if (this.#stop.signal.aborted) return;
    if (this.#due !== null) clearTimeout(this.#due);
    this.#due = null;
    this.#frames.add(this.#incoming);
    this.#incoming = [];
    const next = { ...this.#now, ...change };
    const facts = next.paused && this.#facts.length > 0 ? next.facts : this.#shownFacts(next.facts);
    this.#now = {
      ...next,
      facts,
      frames: this.#frames.items,
      waiting: { facts: Math.max(0, this.#facts.length - facts.length), frames: this.#frames.waiting },
      dropped: this.#frames.dropped,
    };
    for (const listener of [...this.#listeners]) listener();
  }

  /** The same array where nothing was added: facts never change. */
  #shownFacts(before: readonly Fact[]): readonly Fact[] {
    const same = before.length === this.#facts.length && before.at(-1)?.id === this.#facts.at(-1)?.id;
    return same ? before : [...this.#facts];
  }
}
