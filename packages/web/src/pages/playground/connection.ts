/** One playground connection with its log, across reconnects; its transports and addresses. */

import type { CommandInput } from '@parlance/protocol';
import { parsedJson } from '@parlance/protocol/json-text';
import { type Dialect, type Parlance, ParlanceError } from '@parlance/sdk';
import { Bounded, type Row } from '../../entries/rows.ts';
import { type Known, learn } from './examples.ts';

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

// Transports of the playground: a WebSocket; commands and an event stream (native); plain requests (copilot).

/** Callbacks of a connection. `closed` comes last and once. */
export type TransportEvents = {
  opened(): void;
  received(text: string): void;
  notice(text: string): void;
  /** `code` is null if it is not a socket */
  closed(code: number | null, reason: string): void;
};

export type Transport = {
  send(text: string): void;
  close(): void;
};

export function socketTransport(url: string, events: TransportEvents): Transport {
  const socket = new WebSocket(url);
  socket.onopen = () => events.opened();
  socket.onmessage = ({ data }) =>
    typeof data === 'string' ? events.received(data) : events.notice('Received binary data.');
  socket.onclose = ({ code, reason }) => events.closed(code, reason);
  return {
    send: (text) => socket.send(text),
    close: () => socket.close(1000, 'Closed by the playground'),
  };
}

/** Events of the stream and responses to commands are frames. */
export function nativeTransport(parlance: Parlance, id: string, events: TransportEvents): Transport {
  const stop = new AbortController();
  const session = parlance.session(id);

  async function listen(): Promise<void> {
    let fault: ParlanceError | null = null;
    try {
      const onState = ({ status }: { status: string }) => {
        if (status === 'live') events.opened();
        if (status === 'waiting') events.notice('Stream lost; reconnecting after the last event.');
      };
      for await (const event of session.events({ signal: stop.signal, onState }))
        events.received(JSON.stringify(event));
    } catch (thrown) {
      if (!(thrown instanceof ParlanceError)) throw thrown;
      fault = thrown;
    } finally {
      events.closed(null, fault?.message ?? '');
    }
  }

  async function command(text: string): Promise<void> {
    try {
      events.received(JSON.stringify(await session.send(JSON.parse(text) as CommandInput)));
    } catch (thrown) {
      if (!(thrown instanceof ParlanceError)) throw thrown;
      const { code, message } = thrown;
      events.received(JSON.stringify({ error: { code, message } }));
    }
  }

  void listen();
  return { send: (text) => void command(text), close: () => stop.abort() };
}

type Request = { readonly method?: unknown; readonly path?: unknown; readonly body?: unknown };

/** No connection: a frame is a request `{method, path, body}`, and its response is `{status, body}`. */
export function requestTransport(origin: string, token: string | null, events: TransportEvents): Transport {
  const stop = new AbortController();

  async function ask(text: string): Promise<void> {
    try {
      const { method, path, body } = JSON.parse(text) as Request;
      // Do not send the token to another server.
      if (typeof path !== 'string' || !/^\/(?![/\\])/.test(path))
        return events.notice('The path must start with a single /');
      const response = await fetch(`${origin}${path}`, {
        method: String(method ?? 'GET'),
        headers: {
          'content-type': 'application/json',
          ...(token === null ? {} : { authorization: `Bearer ${token}` }),
        },
        body: body === undefined ? undefined : JSON.stringify(body),
        signal: stop.signal,
      });
      events.received(JSON.stringify({ status: response.status, body: read(await response.text()) }));
    } catch (thrown) {
      if (!stop.signal.aborted) events.notice(thrown instanceof Error ? thrown.message : String(thrown));
    }
  }

  queueMicrotask(() => events.opened());
  return {
    send: (text) => void ask(text),
    close() {
      stop.abort();
      events.closed(null, '');
    },
  };
}

/** Undefined if empty; the text itself if it is not JSON. */
function read(text: string): unknown {
  const value = parsedJson(text);
  return value === undefined && text !== '' ? text : value;
}

// The address of a dialect, with session and token in the form that a page can send.

export type Call = {
  readonly dialect: Pick<Dialect, 'socket' | 'transport' | 'http'>;
  /** '' for none */
  readonly session: string;
  readonly token: string | null;
  /** of the path; default: those of the dialect */
  readonly params?: Readonly<Record<string, string>>;
};

/** Path and query of the socket; of a dialect without one the path of its events, or of its requests. */
export function addressOf({ dialect, session, token, params = {} }: Call): string {
  const { socket, transport, http } = dialect;
  if (transport === 'commands') return `/v1/sessions/${encodeURIComponent(session)}/events`;
  if (!socket) return (http[0] ?? '/').replace(/\/\*$/, '');
  const values = { ...socket.params, ...params };
  const path = (socket.addresses[0]?.address ?? '/').replace(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(values[name] ?? ''),
  );
  const query = new URLSearchParams(socket.query);
  if (!socket.anonymous && session !== '') query.set('session', session);
  if (!socket.anonymous && token !== null) query.set('token', token);
  const search = query.toString();
  return search === '' ? path : `${path}?${search}`;
}

/** For display: the token is redacted. */
export const shownAddress = (call: Call): string =>
  addressOf({ ...call, token: call.token === null ? null : 'TOKEN' }).replace('token=TOKEN', 'token=…');

/** Pages cannot set headers on a WebSocket, so the token goes into the query. */
export const socketUrl = (origin: string, call: Call): string =>
  `${origin.replace(/^http/, 'ws')}${addressOf(call)}`;
