/** One playground connection with its log, across reconnects. */
import type { Dialect } from '@parlance/sdk';
import { Bounded } from '../../entries/bounded.ts';
import type { Row } from '../../entries/rows.ts';
import type { Known } from './fill.ts';
import { learn } from './learn.ts';
import type { Listener, Speaker } from './speakers.ts';

export type TalkState =
  | { readonly status: 'idle' }
  | { readonly status: 'connecting' }
  | { readonly status: 'open' }
  | { readonly status: 'closed'; readonly code: number | null; readonly reason: string };

export type Talked = {
  readonly state: TalkState;
  /** the principal it is or was connected as */
  readonly as: string | null;
  readonly rows: readonly Row[];
  /** number of dropped rows */
  readonly dropped: number;
  /** ids from frames of the server */
  readonly learned: Known;
};

const MOST_KEPT = 2_000;
const LARGEST_KEPT = 10_000_000;

export class Talk {
  readonly #listeners = new Set<() => void>();
  readonly #rows = new Bounded<Row>({
    most: MOST_KEPT,
    largest: LARGEST_KEPT,
    sizeOf: ({ frame }) => frame?.text.length ?? 0,
  });
  #speaker: Speaker | null = null;
  #number = 0;
  #now: Talked = { state: { status: 'idle' }, as: null, rows: [], dropped: 0, learned: {} };

  constructor(readonly dialect: Dialect) {}

  readonly get = (): Talked => this.#now;

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  /** Closes the previous connection. `address` is for display. */
  connect(speak: (listener: Listener) => Speaker, address: string, as: string): void {
    this.disconnect();
    const state = { status: 'connecting' } as const;
    this.note(`Connecting to ${address} as ${as}`, { state, as, learned: {} });
    let speaker: Speaker | null = null;
    /** ignore late callbacks of an older connection */
    const current = () => speaker === null || this.#speaker === speaker;
    speaker = speak({
      opened: () => current() && this.#opened(),
      received: (text) => current() && this.#received(text),
      noted: (text) => current() && this.note(text),
      closed: (code, reason) => current() && this.#closed(code, reason),
    });
    this.#speaker = speaker;
  }

  disconnect(): void {
    this.#speaker?.close();
  }

  /** Sends the text as it is. False if not connected. */
  send(text: string): boolean {
    if (this.#speaker === null || this.#now.state.status !== 'open') return false;
    this.#add(text, 'in');
    this.#speaker.send(text);
    return true;
  }

  /** Adds a line to the log that was not on the wire. */
  note(text: string, change: Partial<Talked> = {}): void {
    const number = ++this.#number;
    this.#rows.add([{ key: `note-${number}`, note: { at: Date.now(), text } }]);
    this.#update(change);
  }

  clear(): void {
    this.#rows.clear();
    this.#update({});
  }

  /** Call on unmount. */
  close(): void {
    this.#listeners.clear();
    this.#speaker?.close();
    this.#speaker = null;
  }

  #opened(): void {
    if (this.#now.state.status === 'open') return;
    this.note('Connected', { state: { status: 'open' } });
  }

  #received(text: string): void {
    this.#add(text, 'out');
    this.#update({ learned: learn(this.#now.learned, this.dialect, text) });
  }

  #closed(code: number | null, reason: string): void {
    this.#speaker = null;
    this.note(closedText(code, reason), { state: { status: 'closed', code, reason } });
  }

  #add(text: string, direction: 'in' | 'out'): void {
    const number = ++this.#number;
    const dialect = this.dialect.name;
    const frame = {
      type: 'frame',
      number,
      at: Date.now(),
      dialect,
      connection: '',
      direction,
      text,
    } as const;
    this.#rows.add([{ key: `frame-${number}`, frame }]);
    this.#update({});
  }

  #update(change: Partial<Talked>): void {
    this.#now = { ...this.#now, ...change, rows: this.#rows.items, dropped: this.#rows.dropped };
    for (const listener of [...this.#listeners]) listener();
  }
}

export const closedText = (code: number | null, reason: string): string =>
  `Closed${code === null ? '' : ` with ${code}`}${reason === '' ? '' : `: ${reason}`}`;
