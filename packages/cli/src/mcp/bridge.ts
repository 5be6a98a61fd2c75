/**
 * MCP over stdio, as a bridge to the `/mcp` endpoint of a server. The official client's transport speaks
 * Streamable HTTP: it keeps the session id, listens for notifications and resumes broken streams.
 */
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import type { StdioProtocol } from '../stdio/run.ts';
import type { ServerLink } from '../stdio/server-link.ts';
import { errorLine, failureOf, NO_METHOD, PARSE_ERROR, TOO_LARGE } from './errors.ts';
import {
  cancelledIn,
  isModern,
  isRequest,
  type Message,
  type Request,
  type RequestId,
  versionIn,
} from './messages.ts';

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

export class McpBridge implements StdioProtocol {
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
      const refusal = { jsonrpc: '2.0', id: message.id, error: NO_METHOD };
      void this.#transport.send(refusal as never).catch(ignore);
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
