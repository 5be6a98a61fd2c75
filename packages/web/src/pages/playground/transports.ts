/**
 * Transports of the playground: a WebSocket; commands and an event stream (native); plain requests (copilot).
 */
import type { CommandInput } from '@parlance/protocol';
import { type Parlance, ParlanceError } from '@parlance/sdk';

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
  try {
    return text === '' ? undefined : JSON.parse(text);
  } catch {
    return text;
  }
}
