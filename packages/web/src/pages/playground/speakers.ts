/**
 * The ways to speak to the server: over a socket; for native, with commands and a stream of events; and with requests
 * alone, for a contract that has nothing else.
 */
import type { CommandInput } from '@parlance/protocol';
import { type Parlance, ParlanceError } from '@parlance/sdk';

/** What a connection tells. `closed` is the last thing, and comes once. */
export type Listener = {
  opened(): void;
  received(text: string): void;
  noted(text: string): void;
  /** the code is null where there is none: it is not a socket */
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
    typeof data === 'string' ? listener.received(data) : listener.noted('The server sent binary data.');
  socket.onclose = ({ code, reason }) => listener.closed(code, reason);
  return {
    send: (text) => socket.send(text),
    close: () => socket.close(1000, 'The playground has hung up'),
  };
}

/** Every event of the stream is a frame, and so is what the server answers to a command. */
export function nativeSpeaker(parlance: Parlance, id: string, listener: Listener): Speaker {
  const stop = new AbortController();
  const session = parlance.session(id);

  async function listen(): Promise<void> {
    let fault: ParlanceError | null = null;
    try {
      const onState = ({ status }: { status: string }) => {
        if (status === 'live') listener.opened();
        if (status === 'waiting')
          listener.noted('The stream was cut; it is opened again after the last event.');
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

/** There is nothing to connect: every frame is a request, `{method, path, body}`, and its answer is `{status, body}`. */
export function requestSpeaker(origin: string, token: string | null, listener: Listener): Speaker {
  const stop = new AbortController();

  async function ask(text: string): Promise<void> {
    try {
      const { method, path, body } = JSON.parse(text) as Request;
      // A path that names another server must not be sent our token.
      if (typeof path !== 'string' || !/^\/(?![/\\])/.test(path))
        return listener.noted('A path begins with one /');
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

/** Undefined where there is nothing; as it is where it is no JSON. */
function read(text: string): unknown {
  try {
    return text === '' ? undefined : JSON.parse(text);
  } catch {
    return text;
  }
}
