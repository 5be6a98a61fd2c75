/** Transport to a server: a child process or an address. */
import type { ChildProcess } from 'node:child_process';
import type { Readable } from 'node:stream';
import type { FetchLike, Transport } from '@modelcontextprotocol/client';
import type { Log } from '../../core/ports/telemetry.ts';
import { cutText } from '../cut.ts';
import { Budget, MAX_MESSAGE, Meter } from './budget.ts';
import type { Redact } from './secrets.ts';
import type { McpServer } from './servers.ts';

export type TransportSettings = {
  readonly name: string;
  readonly server: McpServer;
  /** for addresses that have no credentials in their headers */
  readonly auth: TransportAuth | null;
  readonly redact: Redact;
  /** receives every logged line of stderr */
  readonly keep: (line: string) => void;
  /** called when the process ends, with the end of a sentence: "ended with exit code 1" */
  readonly ended: (ending: string) => void;
  /** called when the connection is closed because of what the server sends */
  readonly exceeded: (reason: string) => void;
};

export type TransportAuth = {
  token(): Promise<string | undefined>;
  /** Renews the token, or throws `SignInNeeded`. */
  renew(response: Response): Promise<void>;
};

/** Requests of an HTTP connection that wait for an answer or its end. */
const MAX_OPEN_REQUESTS = 1_000;
/** Characters of the id of a request. */
const MAX_ID = 1_000;
/** Each reconnection of the stream of notifications counts as that many messages. */
const STREAM_MESSAGES = 20;

/**
 * Starts nothing yet. The SDK passes HOME, LOGNAME, PATH, SHELL, TERM, USER and the server's own variables to
 * a process.
 */
export async function openTransport(settings: TransportSettings, log: Log): Promise<Transport> {
  const { name, server, auth, redact, keep, ended, exceeded } = settings;
  if ('url' in server) {
    const { StreamableHTTPClientTransport } = await import('@modelcontextprotocol/client');
    const budget = new Budget((reason) => {
      exceeded(reason);
      void transport.close();
    });
    const transport = new StreamableHTTPClientTransport(new URL(server.url), {
      requestInit: { headers: server.headers },
      fetch: meteredFetch(budget),
      ...(auth && {
        authProvider: { token: auth.token, onUnauthorized: ({ response }) => auth.renew(response) },
      }),
    });
    return transport;
  }
  const { StdioClientTransport } = await import('@modelcontextprotocol/client/stdio');
  const { command, args, env, cwd } = server;
  const transport = new StdioClientTransport({
    ...{ command, args, env, stderr: 'pipe', ...(cwd ? { cwd } : {}) },
    // The budget is stricter, and has a reason.
    maxBufferSize: 2 * MAX_MESSAGE,
  });
  let child: ChildProcess | undefined;
  const budget = new Budget((reason) => {
    exceeded(reason);
    // The SDK would wait for the process and read on.
    for (const stream of [child?.stdout, child?.stderr, child?.stdin]) stream?.destroy();
    child?.kill('SIGKILL');
  });
  if (transport.stderr) logStderr(transport.stderr as Readable, { server: name, redact, keep, budget }, log);
  const meter = new Meter(budget, 'lines');
  const buffer: { append(chunk: Uint8Array): void } = Reflect.get(transport, '_readBuffer');
  const append = buffer.append.bind(buffer);
  buffer.append = (chunk) => {
    meter.read(chunk);
    append(chunk);
  };
  const { start, send } = transport;
  transport.start = async () => {
    await start.call(transport);
    // The SDK does not tell how the process ended.
    child = Reflect.get(transport, '_process');
    child?.once('exit', (code, signal) =>
      ended(signal === null ? `ended with exit code ${code}` : `was ended by ${signal}`),
    );
  };
  transport.send = async (message) => {
    if ((child?.stdin?.writableLength ?? 0) > MAX_MESSAGE)
      budget.exceed('the server does not read its input');
    // An answer repeats the id of its request.
    if ('id' in message && String(message.id).length > MAX_ID)
      budget.exceed('an id of the server is too long');
    return send.call(transport, message);
  };
  return transport;
}

/** Bytes are counted after decompression. */
function meteredFetch(budget: Budget): FetchLike {
  let open = 0;
  return async (url, init) => {
    budget.messages(init?.method === 'GET' ? STREAM_MESSAGES : 1);
    if (open >= MAX_OPEN_REQUESTS) budget.exceed('the server leaves too many requests unanswered');
    open++;
    let isOpen = true;
    const end = () => {
      if (isOpen) open--;
      isOpen = false;
    };
    try {
      const { body, status, statusText, headers } = await fetchWithin(url, init);
      if (body === null) end();
      const framing = headers.get('content-type')?.includes('text/event-stream') ? 'events' : 'body';
      return new Response(body && metered(body, new Meter(budget, framing), end), {
        ...{ status, statusText, headers },
      });
    } catch (thrown) {
      end();
      throw thrown;
    }
  };
}

const MAX_REDIRECTS = 3;

/**
 * Follows redirects to other paths of the same origin, as some servers do for a trailing slash. Anywhere else they would
 * take the headers along, or turn a call into a request to an address that only this machine can reach.
 */
async function fetchWithin(url: string | URL, init: RequestInit | undefined): Promise<Response> {
  let address = new URL(url);
  for (let redirects = 0; ; redirects++) {
    const response = await fetch(address, { ...init, redirect: 'manual' });
    const location = response.headers.get('location');
    if (response.status < 300 || response.status > 399 || location === null) return response;
    await response.body?.cancel();
    const target = URL.parse(location, address.href);
    if (target?.origin !== address.origin)
      throw new Error(
        `the server redirects to ${target ? target.origin : 'an invalid address'}, which is not followed`,
      );
    const keepsMethod = response.status === 307 || response.status === 308 || init?.method === 'GET';
    if (!keepsMethod || redirects === MAX_REDIRECTS)
      throw new Error('the server redirects in a way that is not followed');
    address = target;
  }
}

function metered(
  body: ReadableStream<Uint8Array>,
  meter: Meter,
  end: () => void,
): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  const cancel = async (reason: unknown) => {
    end();
    await reader.cancel(reason);
  };
  return new ReadableStream({
    async pull(controller) {
      try {
        const { done, value } = await reader.read();
        if (done) {
          end();
          controller.close();
          return;
        }
        meter.read(value);
        controller.enqueue(value);
      } catch (thrown) {
        await cancel(thrown).catch(() => undefined);
        throw thrown;
      }
    },
    cancel,
  });
}

// Logs the stderr of an MCP server: bounded, rate limited and redacted. A server that floods it is disconnected.

const LINE_CHARACTERS = 2_000;
/** Maximum number of lines per minute; further lines are dropped until the next minute. */
const LINES_A_MINUTE = 200;

type StderrOptions = {
  readonly server: string;
  readonly redact: Redact;
  readonly keep: (line: string) => void;
  readonly budget: Budget;
};

function logStderr(stream: Readable, { server, redact, keep, budget }: StderrOptions, log: Log): void {
  const decoder = new TextDecoder();
  const writeLine = limited((raw) => {
    const line = cutText(redact(raw), LINE_CHARACTERS);
    keep(line);
    log.info({ server, line }, 'MCP server stderr');
  });
  let rest = '';
  stream.on('data', (chunk: Uint8Array) => {
    if (!budget.logged(chunk.length)) return;
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) if (line.trim() !== '') writeLine(line);
    if (rest.length > LINE_CHARACTERS * 10) {
      writeLine(rest);
      rest = '';
    }
  });
  stream.on('end', () => {
    if (rest.trim() !== '') writeLine(rest);
  });
  stream.on('error', (error) => log.debug({ server, err: error }, 'MCP server stderr ended with an error'));
}

function limited(writeLine: (line: string) => void): (line: string) => void {
  let minute = 0;
  let count = 0;
  return (line) => {
    const now = Math.floor(Date.now() / 60_000);
    if (now !== minute) [minute, count] = [now, 0];
    if (count < LINES_A_MINUTE) writeLine(line);
    if (count === LINES_A_MINUTE) writeLine('(more lines, left out)');
    count++;
  };
}
