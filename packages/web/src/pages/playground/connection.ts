/** One playground connection with its log, across reconnects. */
import type { Dialect } from '@parlance/sdk';
import { Bounded } from '../../entries/bounded.ts';
import type { Row } from '../../entries/rows.ts';
import type { Known } from './fill.ts';
import { learn } from './learn.ts';
import type { Transport, TransportEvents } from './transports.ts';

export type ConnectionStatus =
  | { readonly status: 'idle' }
  | { readonly status: 'connecting' }
  | { readonly status: 'open' }
  | { readonly status: 'closed'; readonly code: number | null; readonly reason: string };

export type ConnectionSnapshot = {
  readonly state: ConnectionStatus;
  /** the principal it is or was connected as */
  readonly as: string | null;
  readonly rows: readonly Row[];
  /** number of dropped rows */
  readonly dropped: number;
  /** ids from frames of the server */
  readonly learned: Known;
};

const MAX_ENTRIES = 2_000;
const MAX_SIZE = 10_000_000;

export class PlaygroundConnection {
  readonly #listeners = new Set<() => void>();
  readonly #rows = new Bounded<Row>({
    maxItems: MAX_ENTRIES,
    maxSize: MAX_SIZE,
    sizeOf: ({ frame }) => frame?.text.length ?? 0,
  });
  #transport: Transport | null = null;
  #number = 0;
  #snapshot: ConnectionSnapshot = { state: { status: 'idle' }, as: null, rows: [], dropped: 0, learned: {} };

  constructor(readonly dialect: Dialect) {}

  readonly get = (): ConnectionSnapshot => this.#snapshot;

  readonly subscribe = (events: () => void): (() => void) => {
    this.#listeners.add(events);
    return () => this.#listeners.delete(events);
  };

  /** Closes the previous connection. `address` is for display. */
  connect(openTransport: (events: TransportEvents) => Transport, address: string, as: string): void {
    this.disconnect();
    const state = { status: 'connecting' } as const;
    this.note(`Connecting to ${address} as ${as}`, { state, as, learned: {} });
    let transport: Transport | null = null;
    /** ignore late callbacks of an older connection */
    const current = () => transport === null || this.#transport === transport;
    transport = openTransport({
      opened: () => current() && this.#opened(),
      received: (text) => current() && this.#received(text),
      notice: (text) => current() && this.note(text),
      closed: (code, reason) => current() && this.#closed(code, reason),
    });
    this.#transport = transport;
  }

  disconnect(): void {
    this.#transport?.close();
  }

  /** Sends the text as it is. False if not connected. */
  send(text: string): boolean {
    if (this.#transport === null || this.#snapshot.state.status !== 'open') return false;
    this.#add(text, 'in');
    this.#transport.send(text);
    return true;
  }

  /** Adds a line to the log that was not on the wire. */
  note(text: string, change: Partial<ConnectionSnapshot> = {}): void {
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
    this.#transport?.close();
    this.#transport = null;
  }

  #opened(): void {
    if (this.#snapshot.state.status === 'open') return;
    this.note('Connected', { state: { status: 'open' } });
  }

  #received(text: string): void {
    this.#add(text, 'out');
    this.#update({ learned: learn(this.#snapshot.learned, this.dialect, text) });
  }

  #closed(code: number | null, reason: string): void {
    this.#transport = null;
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

  #update(change: Partial<ConnectionSnapshot>): void {
    this.#snapshot = { ...this.#snapshot, ...change, rows: this.#rows.items, dropped: this.#rows.dropped };
    for (const events of [...this.#listeners]) events();
  }
}

export const closedText = (code: number | null, reason: string): string =>
  `Closed${code === null ? '' : ` with ${code}`}${reason === '' ? '' : `: ${reason}`}`;
