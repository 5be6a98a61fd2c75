/**
 * Transports of the playground: a WebSocket; commands and an event stream (native); plain requests (copilot).
 */
import type { CommandInput } from '@parlance/protocol';
import { type Parlance, ParlanceError } from '@parlance/sdk';

/** Callbacks of a connection. `closed` comes last and once. */
export type Listener = {
  opened(): void;
  received(text: string): void;
  noted(text: string): void;
  /** `code` is null if it is not a socket */
  closed(code: number | null, reason: string): void;
};

export type Speaker = {
  send(text: string): void;
  close(): void;
};

export function socketSpeaker(url: string, listener: Listener): Speaker {
  const socket = new WebSocket(url);
  socket.onopen = () => listener.opened();
  socket.onmessage = ({ data }) =>
    typeof data === 'string' ? listener.received(data) : listener.noted('Received binary data.');
  socket.onclose = ({ code, reason }) => listener.closed(code, reason);
  return {
    send: (text) => socket.send(text),
    close: () => socket.close(1000, 'Closed by the playground'),
  };
}

/** Events of the stream and responses to commands are frames. */
export function nativeSpeaker(parlance: Parlance, id: string, listener: Listener): Speaker {
  const stop = new AbortController();
  const session = parlance.session(id);

  async function listen(): Promise<void> {
    let fault: ParlanceError | null = null;
    try {
      const onState = ({ status }: { status: string }) => {
        if (status === 'live') listener.opened();
        if (status === 'waiting') listener.noted('Stream lost; reconnecting after the last event.');
      };
      for await (const event of session.events({ signal: stop.signal, onState }))
        listener.received(JSON.stringify(event));
    } catch (thrown) {
      if (!(thrown instanceof ParlanceError)) throw thrown;
      fault = thrown;
    } finally {
      listener.closed(null, fault?.message ?? '');
    }
  }

  async function command(text: string): Promise<void> {
    try {
      listener.received(JSON.stringify(await session.send(JSON.parse(text) as CommandInput)));
    } catch (thrown) {
      if (!(thrown instanceof ParlanceError)) throw thrown;
      const { code, message } = thrown;
      listener.received(JSON.stringify({ error: { code, message } }));
    }
  }

  void listen();
  return { send: (text) => void command(text), close: () => stop.abort() };
}

type Request = { readonly method?: unknown; readonly path?: unknown; readonly body?: unknown };

/** No connection: a frame is a request `{method, path, body}`, and its response is `{status, body}`. */
export function requestSpeaker(origin: string, token: string | null, listener: Listener): Speaker {
  const stop = new AbortController();

  async function ask(text: string): Promise<void> {
    try {
      const { method, path, body } = JSON.parse(text) as Request;
      // Do not send the token to another server.
      if (typeof path !== 'string' || !/^\/(?![/\\])/.test(path))
        return listener.noted('The path must start with a single /');
      const response = await fetch(`${origin}${path}`, {
        method: String(method ?? 'GET'),
        headers: {
          'content-type': 'application/json',
          ...(token === null ? {} : { authorization: `Bearer ${token}` }),
        },
        body: body === undefined ? undefined : JSON.stringify(body),
        signal: stop.signal,
      });
      listener.received(JSON.stringify({ status: response.status, body: read(await response.text()) }));
    } catch (thrown) {
      if (!stop.signal.aborted) listener.noted(thrown instanceof Error ? thrown.message : String(thrown));
    }
  }

  queueMicrotask(() => listener.opened());
  return {
    send: (text) => void ask(text),
    close() {
      stop.abort();
      listener.closed(null, '');
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
