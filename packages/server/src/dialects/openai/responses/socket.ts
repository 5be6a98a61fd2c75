/**
 * Responses over a WebSocket: `response.create` messages are answered one after another with the events of a stream. A
 * response with `store: false` can be continued on its connection only, and no longer after a failed attempt.
 */
import { Fault, isObject, type Principal } from '@parlance/protocol';
import type { z } from 'zod';
import type { Connection, Socket } from '../../../http/connection.ts';
import { LruMap } from '../../../lib/lru-map.ts';
import { invalid, RequestFault } from '../../kit/chat-request.ts';
import { reported, socketIds } from '../../kit/dialect.ts';
import { retryField } from '../../kit/faults.ts';
import { invalidRequest, SESSION_HEADER, type VendorContext } from '../../kit/vendor-requests.ts';
import { errorBody, type InputItem, ResponseCreate, statusOf } from '../contract.ts';
import { inputConversation } from '../input.ts';
import { beginResponse, type ResponseStream, sendEvents } from './endpoints.ts';
import { IN_PROGRESS, responseObject } from './objects.ts';
import { CLIENT_SESSION, dataOf, type Incoming, previousSegment, resolved, termsOf } from './request.ts';

type Create = z.output<typeof ResponseCreate>;

/** The headers of the handshake that stand for those of a request. */
export const HANDSHAKE_HEADERS = [SESSION_HEADER, ...CLIENT_SESSION];

/** The specification limits connections to one hour. */
const LIMIT_MS = 60 * 60_000;

export function openSocket(socket: Socket, ctx: VendorContext, limitMs = LIMIT_MS): Connection {
  const connection = new ResponseSocket(socket, ctx);
  return {
    opened: () => connection.opened(limitMs),
    receive: (frame) => connection.receive(frame),
    onInvalidFrame: (reason) => connection.refuse(new RequestFault('invalid', `The message ${reason}.`)),
    onRateLimited: (fault) => connection.refuse(fault),
    closed: (_, code) => connection.closed(code),
    draining: () => connection.draining(),
  };
}

/** What a connection holds of a response that is not stored. */
type Held =
  | { readonly kind: 'response' }
  /** nothing was generated: the input waits for the next message */
  | { readonly kind: 'prepared'; readonly input: readonly InputItem[]; readonly previous: string | null };

const MAX_HELD = 50;

/** Close codes of the server: its readers may come back, and the turn continues. */
const CLOSED_BY_SERVER = [1001, 1013];

class ResponseSocket {
  readonly #held = new LruMap<Held>(MAX_HELD);
  /** the response that is being sent */
  #current: { readonly closed: () => void; readonly gone: () => void } | null = null;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isExpired = false;

  constructor(
    private readonly socket: Socket,
    private readonly ctx: VendorContext,
  ) {}

  opened(limitMs: number): void {
    if (!this.socket.principal) {
      this.refuse(new Fault('unauthenticated', 'A valid token is required.'));
      this.socket.close(1008, 'A valid token is required');
      return;
    }
    this.#timer = setTimeout(() => {
      this.#isExpired = true;
      if (!this.#current) this.#expire();
    }, limitMs);
  }

  async receive(frame: unknown): Promise<void> {
    const { principal } = this.socket;
    if (!principal || !this.socket.open) return;
    const stream = isObject(frame) && typeof frame.stream_id === 'string' ? frame.stream_id : undefined;
    try {
      await this.#create(principal, createOf(frame));
    } catch (thrown) {
      this.#evict(frame);
      this.refuse(reported(thrown, this.ctx, socketIds(this.socket)), stream);
    }
    if (this.#isExpired) this.#expire();
  }

  /** Sends an error. Unlike over HTTP, each has a code. */
  refuse(fault: Fault, stream?: string): void {
    const { type, code, message, param } = errorBody(fault).error;
    const headers = Object.entries(retryField('retry-after', fault)).map(([name, value]) => [
      name,
      `${value}`,
    ]);
    this.socket.sendFrame({
      type: 'error',
      status: statusOf(fault),
      error: {
        type,
        code: code ?? type,
        message,
        param,
        ...(headers.length > 0 && { headers: Object.fromEntries(headers) }),
      },
      ...(stream !== undefined && { stream_id: stream }),
    });
  }

  closed(code: number): void {
    clearTimeout(this.#timer);
    if (CLOSED_BY_SERVER.includes(code)) this.#current?.closed();
    else this.#current?.gone();
  }

  draining(): void {
    this.refuse(new Fault('shutting_down', 'The server is shutting down.'));
    this.#current?.closed();
  }

  async #create(principal: Principal, create: Create): Promise<void> {
    const { type: _, generate, stream_id: stream, ...given } = create;
    const body = this.#continued(given);
    const incoming: Incoming = {
      principal,
      session: this.#header(SESSION_HEADER) ?? this.socket.session,
      key: null,
      progress: { session: null, accepted: false },
      headers: { get: (name) => this.#header(name) },
      holds: (response) => this.#held.get(response)?.kind === 'response',
    };
    const send: ResponseStream['send'] = (event) =>
      this.socket.sendFrame(stream == null ? event : { ...event, stream_id: stream });
    if (generate === false) return this.#prepare(incoming, body, send);
    const answering = await beginResponse(this.ctx, incoming, body);
    const closed = Promise.withResolvers<void>();
    const gone = Promise.withResolvers<void>();
    this.#current = { closed: closed.resolve, gone: gone.resolve };
    // It may have closed while the turn was started.
    if (!this.socket.open) gone.resolve();
    const { id } = answering.segment.head;
    this.#held.set(id, { kind: 'response' });
    const fault = await sendEvents(this.ctx, answering, {
      send,
      closed: closed.promise,
      gone: gone.promise,
    }).finally(() => {
      this.#current = null;
    });
    if (fault) this.#evict(create);
  }

  /** Answers with an empty response, which holds the input for the message that continues it. */
  async #prepare(
    { principal, holds }: Incoming,
    body: Omit<Create, 'type'>,
    send: ResponseStream['send'],
  ): Promise<void> {
    const { ctx } = this;
    const previous = body.previous_response_id ?? null;
    if (previous !== null)
      await previousSegment(ctx, { principal, previous, isHeld: holds?.(previous) ?? false });
    const { agent } = ctx.models.choose(body.model);
    const input = inputConversation(await resolved(ctx, principal, body.input));
    const at = ctx.now();
    const id = `resp_${ctx.newId()}`;
    const { catalog } = ctx.engine;
    const head = {
      id,
      session: '',
      createdAt: at,
      model: ctx.models.answering(agent ?? catalog.first(catalog.defaultDomain).id, null),
      terms: termsOf(body, input),
      data: { ...dataOf(ctx, body, input).response, conversation: false },
    };
    this.#held.set(id, { kind: 'prepared', input: itemsOf(body.input), previous });
    const usage = { inputTokens: 0, outputTokens: 0 };
    const completed = { ...IN_PROGRESS, status: 'completed' as const, completedAt: at, usage };
    const lifecycle = { created: IN_PROGRESS, in_progress: IN_PROGRESS, completed };
    for (const [number, [name, outcome]] of Object.entries(lifecycle).entries())
      send({ type: `response.${name}`, sequence_number: number, response: responseObject(head, outcome) });
  }

  /** The message with the input that was prepared for it. */
  #continued(body: Omit<Create, 'type'>): Omit<Create, 'type'> {
    const held = body.previous_response_id && this.#held.get(body.previous_response_id);
    if (!held || held.kind === 'response') return body;
    return { ...body, previous_response_id: held.previous, input: [...held.input, ...itemsOf(body.input)] };
  }

  /** A response that a failed message named can no longer be continued, unless it is stored. */
  #evict(frame: unknown): void {
    if (isObject(frame) && typeof frame.previous_response_id === 'string')
      this.#held.delete(frame.previous_response_id);
  }

  #expire(): void {
    const message = 'The connection has reached its limit of 60 minutes: open another one.';
    this.refuse(new RequestFault('invalid', message, { apiCode: 'websocket_connection_limit_reached' }));
    this.socket.close(1000, 'Connection limit reached');
  }

  #header(name: string): string | null {
    return this.socket.params?.[name] ?? null;
  }
}

function createOf(frame: unknown): Create {
  if (!isObject(frame)) throw new RequestFault('invalid', 'The message must be a JSON object.');
  if (frame.type !== 'response.create')
    throw invalid('type', `Unknown message type: ${String(frame.type).slice(0, 100)}`);
  const parsed = ResponseCreate.safeParse(frame);
  if (!parsed.success) throw invalidRequest({ error: parsed.error });
  if (parsed.data.background) throw invalid('background', 'A WebSocket has no responses in the background.');
  return parsed.data;
}

const itemsOf = (input: Create['input']): readonly InputItem[] =>
  typeof input === 'string' ? [{ role: 'user', content: input }] : (input ?? []);
