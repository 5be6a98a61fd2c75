/** `parlance mcp`: the Model Context Protocol on standard input and output. */

import { SdkHttpError, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { errorMessage, type RequestId, RPC_CODES, type RpcError } from '@parlance/server/json-rpc';
import { CommandError, parseFlags } from '../command.ts';
import { noServer, SERVER_FLAGS } from '../connection/address.ts';
import { connectionError, openRunning } from '../connection/open.ts';
import { runStdio, type StdioProtocol } from '../connection/stdio/run.ts';
import type { ServerLink } from '../connection/stdio/server-link.ts';
import { safeLine } from '../terminal/safe-text.ts';

const USAGE = `Usage: parlance mcp [--url URL [--token TOKEN]] [SETTING…]
       parlance mcp sign-in NAME [--url URL] [--token TOKEN]

Speaks the Model Context Protocol on standard input and output, for clients that start programs.

  --url URL      connect to a running server (or PARLANCE_URL)
  --token TOKEN  a token or an API key (or PARLANCE_TOKEN)

Without a URL, a server with the settings of parlance serve runs in this process, without a port.

sign-in prints the link with which you sign in to the MCP server NAME of a running server. Open it in
any browser that reaches that server.`;

export async function mcp(argv: string[]): Promise<number> {
  if (argv.some((argument) => argument === '--help' || argument === '-h')) {
    console.log(USAGE);
    return 0;
  }
  if (argv[0] === 'sign-in') return signIn(argv.slice(1));
  return runStdio(argv, (link, write) => new McpBridge(link, write));
}

async function signIn(argv: readonly string[]): Promise<number> {
  const { values, positionals } = parseFlags(argv, SERVER_FLAGS);
  const [name, extra] = positionals;
  if (name === undefined || extra !== undefined)
    throw new CommandError('sign-in takes the name of one MCP server', 2);
  const connection = await openRunning(values);
  if (!connection) throw noServer();

  const link = await connection.parlance.mcp.begin(name).catch((error: unknown) => {
    throw connectionError(error, 'the server');
  });
  console.log(safeLine(link));
  return 0;
}

// MCP over stdio, as a bridge to the `/mcp` endpoint of a server. The official client's transport speaks
// Streamable HTTP: it keeps the session id, listens for notifications and resumes broken streams.

/** Reconnects to a restarted server. */
const RECONNECTION = {
  initialReconnectionDelay: 500,
  maxReconnectionDelay: 10_000,
  reconnectionDelayGrowFactor: 1.5,
  maxRetries: Number.POSITIVE_INFINITY,
};

/** What the server may request from the client: not its model or its folders, which a server never uses. */
const PASSED: ReadonlySet<string> = new Set(['elicitation/create', 'ping']);

/** A request without a response yet. */
type Open = {
  readonly isModern: boolean;
  readonly abort: AbortController;
  /** resolves when the server has received it */
  readonly sent: Promise<void>;
};

class McpBridge implements StdioProtocol {
  readonly #transport: StreamableHTTPClientTransport;
  readonly #open = new Map<RequestId, Open>();
  readonly #started: Promise<void>;
  #settled = Promise.withResolvers<void>();

  constructor(
    link: ServerLink,
    private readonly write: (text: string) => void,
  ) {
    this.#transport = new StreamableHTTPClientTransport(new URL('http://parlance.invalid/mcp'), {
      fetch: (_url, init) => link.fetch('/mcp', init),
      reconnectionOptions: RECONNECTION,
    });
    this.#transport.onmessage = (message) => this.#pass(message as Message);
    this.#started = this.#transport.start();
  }

  async receive(line: Buffer): Promise<void> {
    await this.#started;
    const message = parsed(line);
    if (message === null) return this.write(errorLine(null, PARSE_ERROR));
    const cancelled = cancelledIn(message);
    if (isRequest(message)) this.#ask(message);
    else if (cancelled !== null) await this.#cancel(message, cancelled);
    else void this.#transport.send(message as never).catch(ignore);
  }

  onTooLong(): void {
    this.write(errorLine(null, TOO_LARGE));
  }

  settled(): Promise<void> {
    if (this.#open.size === 0) return Promise.resolve();
    this.#settled = Promise.withResolvers();
    return this.#settled.promise;
  }

  #ask(request: Request): void {
    const { id } = request;
    const abort = new AbortController();
    const sent = this.#transport.send(request as never, {
      requestSignal: abort.signal,
      onRequestStreamEnd: () => this.#fail(id, new Error('The connection to the server was lost.')),
    });
    this.#open.set(id, { isModern: isModern(request), abort, sent: sent.catch(ignore) });
    sent.catch((error: unknown) => this.#fail(id, error));
  }

  /** Since 2026-07-28, a request is cancelled by closing it. */
  async #cancel(message: Message, id: RequestId): Promise<void> {
    const open = this.#open.get(id);
    if (!open) return;
    if (open.isModern) {
      this.#done(id);
      open.abort.abort();
      return;
    }
    await open.sent;
    await this.#transport.send(message as never).catch(ignore);
    this.#done(id);
  }

  #pass(message: Message): void {
    if (isRequest(message) && !PASSED.has(message.method)) {
      void this.#transport.send(errorMessage(message.id, NO_METHOD) as never).catch(ignore);
      return;
    }
    const version = versionIn(message);
    if (version !== null) this.#transport.setProtocolVersion(version);
    this.write(JSON.stringify(message));
    if (message.id !== undefined && message.method === undefined) this.#done(message.id);
  }

  #fail(id: RequestId, error: unknown): void {
    if (!this.#open.has(id)) return;
    this.write(errorLine(id, failureOf(error)));
    this.#done(id);
  }

  #done(id: RequestId): void {
    this.#open.delete(id);
    if (this.#open.size === 0) this.#settled.resolve();
  }
}

const ignore = () => undefined;

function parsed(line: Buffer): Message | null {
  try {
    const value: unknown = JSON.parse(line.toString());
    return typeof value === 'object' && value !== null ? (value as Message) : null;
  } catch {
    return null;
  }
}

// Errors that the bridge itself responds with.

const PARSE_ERROR: RpcError = { code: RPC_CODES.parse, message: 'The line is not a JSON-RPC message.' };
const NO_METHOD: RpcError = { code: RPC_CODES.method, message: 'Method not found' };
const TOO_LARGE: RpcError = { code: RPC_CODES.request, message: 'The message is too large.' };

const errorLine = (id: RequestId | null, error: RpcError): string => JSON.stringify(errorMessage(id, error));

/** Why a request has no response: the server's error, or a lost connection. */
function failureOf(error: unknown): RpcError {
  if (error instanceof SdkHttpError) {
    const { status, text } = error.data as { readonly status: number; readonly text?: string | null };
    return (
      errorIn(text) ?? { code: RPC_CODES.refused, message: `The server responded with status ${status}.` }
    );
  }
  return { code: RPC_CODES.refused, message: 'The server cannot be reached, or the connection was lost.' };
}

function errorIn(text: string | null | undefined): RpcError | null {
  try {
    const { error } = JSON.parse(text ?? '') as { error?: RpcError };
    return typeof error?.code === 'number' && typeof error.message === 'string' ? error : null;
  } catch {
    return null;
  }
}

/** The parts of messages that the bridge reads. */

type Message = {
  readonly id?: RequestId;
  readonly method?: string;
  readonly params?: { readonly requestId?: unknown; readonly _meta?: Readonly<Record<string, unknown>> };
  readonly result?: { readonly protocolVersion?: unknown };
};

type Request = Message & { readonly id: RequestId; readonly method: string };

const isId = (value: unknown): value is RequestId => typeof value === 'string' || typeof value === 'number';

const isRequest = (message: Message): message is Request =>
  isId(message.id) && typeof message.method === 'string';

/** Since 2026-07-28, every request names its revision. */
const isModern = ({ params }: Message): boolean =>
  typeof params?._meta?.['io.modelcontextprotocol/protocolVersion'] === 'string';

/** The request that a notification cancels, or null. */
function cancelledIn({ method, params }: Message): RequestId | null {
  const id = method === 'notifications/cancelled' ? params?.requestId : null;
  return isId(id) ? id : null;
}

/** The revision agreed on in the response to `initialize`. */
function versionIn({ result }: Message): string | null {
  const version = result?.protocolVersion;
  return typeof version === 'string' ? version : null;
}
