/**
 * What the APIs of vendors have in common: the caller and the session of a request, errors of requests, the model or
 * agent that a request names, and its answer, whole or as a stream.
 */
import { decodedUri, type Fault, type Principal, type TurnOptions } from '@parlance/protocol';
import type { Context as HonoContext } from 'hono';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import { z } from 'zod';
import type { Engine } from '../../core/index.ts';
import type { EventStream, Pieces } from '../../http/connection.ts';
import { mayStaySilent } from '../../http/idle-connections.ts';
import { principalOfVendorClient } from '../../http/request-identity.ts';
import { namesOfChain } from '../../lib/model-chain.ts';
import { type ChatRequest, invalid, type Progress, RequestFault, type StartedTurn } from './chat-request.ts';
import { type DialectContext, type LogIds, reported, requestIds } from './dialect.ts';
import type { InvalidRequest } from './endpoint.ts';
import { digestOf } from './request-keys.ts';
import { Sessions } from './request-sessions.ts';
import { Answer, type Delta, RequestTurn, TOO_SLOW } from './request-turn.ts';
import { firstIssue } from './serve-endpoints.ts';

export const SESSION_HEADER = 'x-parlance-session';

/** The caller and the session of a request. */
export type AuthenticatedRequest = {
  readonly request: Request;
  readonly principal: Principal;
  /** null if the request names none */
  readonly session: string | null;
  /** digest of the idempotency key; null without one */
  readonly key: string | null;
  readonly progress: Progress;
};

export const VendorHeaders = z.object({
  [SESSION_HEADER]: z.string().optional().describe('the session; without it the history decides'),
  'idempotency-key': z.string().optional().describe('a repeated request gets the same answer'),
});

export function vendorRequest(c: HonoContext, principal: Principal): AuthenticatedRequest {
  const request = c.req.raw;
  const session = request.headers.get(SESSION_HEADER);
  const key = request.headers.get('idempotency-key');
  return {
    request,
    principal,
    session: session ? fromHeader(session) : null,
    key: key ? digestOf(key) : null,
    progress: progressOf(c),
  };
}

export const progressOf = (c: HonoContext): Progress => c.get('progress');

/** The answer to a failed request. */
export function vendorError(
  c: HonoContext,
  body: object,
  { status, fault }: { readonly status: ContentfulStatusCode; readonly fault: Fault },
): Response {
  // The vendors' clients retry by themselves, which would start a second turn, or not help.
  if (progressOf(c).accepted || fault.code === 'budget_exhausted') c.header('x-should-retry', 'false');
  return c.json(body, status);
}

/** What the endpoints of vendors' APIs have in common. Every answer names the session that it is in. */
export const VENDOR_REST = {
  identify: (request: Request, { authenticator }: Pick<DialectContext, 'authenticator'>) =>
    principalOfVendorClient(authenticator, request),
  invalid: invalidRequest,
  async around(c: HonoContext, answer: () => Promise<Response>): Promise<Response> {
    const progress: Progress = { session: null, accepted: false };
    c.set('progress', progress);
    const response = await answer();
    if (progress.session !== null) response.headers.set(SESSION_HEADER, toHeader(progress.session));
    return response;
  },
};

/** Names the first field that does not match. */
export function invalidRequest(problem: InvalidRequest): RequestFault {
  if ('body' in problem) return new RequestFault('invalid', `The body ${problem.body}.`);
  const { path, message } = firstIssue(problem.error.issues);
  const param = paramOf(path);
  return param === ''
    ? new RequestFault('invalid', 'The body must be a JSON object.')
    : invalid(param, `Invalid value for '${param}': ${message}.`);
}

/** Formats a path as `messages[2].role`. */
const paramOf = (path: readonly PropertyKey[]): string =>
  path
    .map((step, at) => (typeof step === 'number' ? `[${step}]` : `${at > 0 ? '.' : ''}${String(step)}`))
    .join('');

/** Headers are ASCII: other session ids are percent-encoded. */
const toHeader = (session: string): string =>
  /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/.test(session) ? session : encodeURIComponent(session);

function fromHeader(value: string): string {
  const decoded = decodedUri(value);
  return decoded !== null && toHeader(decoded) === value ? decoded : value;
}

/** The context of the endpoints. */
export type VendorContext = DialectContext<z.output<typeof ModelSettings>> & {
  readonly models: Models;
  readonly sessions: Sessions;
  /** the start of the server, in milliseconds */
  readonly started: number;
};

export const vendorContext = (ctx: DialectContext<z.output<typeof ModelSettings>>): VendorContext => ({
  ...ctx,
  models: new Models(ctx),
  sessions: new Sessions(ctx),
  started: ctx.now(),
});

/** The part of the configuration that is used here. */
export const ModelSettings = z.object({
  modelAliases: z.array(z.object({ from: z.string(), to: z.string() })),
});

/** The name of the default agent. */
const DEFAULT = 'parlance';

type ModelContext = {
  readonly engine: Pick<Engine, 'catalog'>;
  readonly about: Pick<DialectContext['about'], 'model' | 'provider'>;
  readonly settings: z.output<typeof ModelSettings>;
};

class Models {
  constructor(private readonly ctx: ModelContext) {}

  list(): string[] {
    const { about, engine } = this.ctx;
    const agents = engine.catalog.listed.agents.map(({ id }) => id);
    return [...new Set([DEFAULT, about.model, ...agents])];
  }

  /** Throws `not_found` if no model or agent has this name. */
  find(name: string): string {
    const id = this.#isServed(name) ? name : this.#alias(name);
    if (id !== undefined && this.#isServed(id)) return id;
    const message = `The model \`${name}\` does not exist or you do not have access to it.`;
    throw new RequestFault('not_found', message, { param: 'model', apiCode: 'model_not_found' });
  }

  /** Throws like `find`. Without an agent, it is that of the session, or the default one. */
  choose(name: string): { readonly agent?: string; readonly named: Pick<TurnOptions, 'namesModel'> } {
    const id = this.find(name);
    if (id !== DEFAULT && id !== this.ctx.about.model) return { agent: id, named: {} };
    return { named: name === this.ctx.about.model ? { namesModel: true } : {} };
  }

  /** The model that the agent uses; `sessionModel` is the override of the session. */
  answering(agent: string, sessionModel: string | null): string {
    const { engine, about } = this.ctx;
    const named = engine.catalog.agents.find(({ id }) => id === agent)?.model;
    return namesOfChain(sessionModel ?? named ?? about.model)[0];
  }

  #isServed(id: string): boolean {
    const { about, engine } = this.ctx;
    return (
      id === DEFAULT || id === about.model || engine.catalog.listed.agents.some((agent) => agent.id === id)
    );
  }

  #alias(name: string): string | undefined {
    return this.ctx.settings.modelAliases.find(({ from }) =>
      from.endsWith('*') ? name.startsWith(from.slice(0, -1)) : name === from,
    )?.to;
  }
}

// Answers

export type AnsweredRequest = {
  readonly started: StartedTurn;
  readonly requestTurn: RequestTurn;
  readonly answer: Answer;
  /** the model that answers */
  readonly model: string;
};

/** Starts the turn of a request, or continues one. `isStream`: what is sent cannot be retracted. */
export async function beginAnswer(
  ctx: VendorContext,
  chat: ChatRequest,
  progress: Progress,
  isStream: boolean,
): Promise<AnsweredRequest> {
  const started = await ctx.sessions.begin(chat, progress);
  const { tools = [] } = chat.terms;
  // The turn may have been started by a request with the tools, while this one has only the results.
  const isCallers = (tool: string) =>
    tools.some(({ name }) => name === tool) || (tools.length === 0 && started.target.turn !== null);
  const answer = new Answer(isStream, isCallers);
  const requestTurn = new RequestTurn(ctx, chat, { started, answer });
  ctx.sessions.rememberAtEnd(started, chat, requestTurn, answer);
  const { agent, model } = await ctx.engine.snapshot(started.ref);
  return { started, requestTurn, answer, model: ctx.models.answering(chat.agent ?? agent.id, model) };
}

/** The events of a streamed answer. */
export type AnswerEvents<Event extends object> = {
  readonly dialect: string;
  readonly keepAlive?: string;
  start(): readonly Event[];
  add(delta: Delta): readonly Event[];
  end(answer: Answer): readonly Event[];
  encode(event: Event): string;
  /** merges pieces of text for a slow reader */
  readonly pieces: Pieces<Event>;
  /** the last event if the answer fails */
  failed(fault: Fault): string;
};

type Answering = Pick<AnsweredRequest, 'requestTurn' | 'answer'> & {
  /** resolves when the answer is complete and the next request can continue it */
  readonly finished: Promise<void>;
};

/** Resolves when the answer is complete. If the client disconnects, the turn that its request started is cancelled. */
export async function wholeAnswer(request: Request, { requestTurn, finished }: Answering): Promise<void> {
  await untilGone(request, finished, () => requestTurn.abandon());
}

/** Waits for `finished` without a time limit; calls `gone` if the client disconnects before. */
export async function untilGone(request: Request, finished: Promise<void>, gone: () => void): Promise<void> {
  mayStaySilent(request);
  if (request.signal.aborted) gone();
  request.signal.addEventListener('abort', gone, { once: true });
  await finished.finally(() => request.signal.removeEventListener('abort', gone));
}

/**
 * A stream is opened after this time even if there is nothing to send yet; until then a failure has an HTTP
 * status of its own.
 */
const OPENS_AFTER_MS = 5_000;

/** Resolves when there is something to send, or after that time. */
export async function untilStarted(started: Promise<unknown>): Promise<void> {
  const timer = Promise.withResolvers<void>();
  const timeout = setTimeout(timer.resolve, OPENS_AFTER_MS);
  await Promise.race([started, timer.promise]).finally(() => clearTimeout(timeout));
}

/** Throws if the answer fails before there is anything to send. */
export async function streamedAnswer<Event extends object>(
  ctx: Pick<DialectContext, 'log' | 'stream'>,
  request: Request,
  answering: Answering,
  events: AnswerEvents<Event>,
): Promise<Response> {
  const { requestTurn, answer } = answering;
  await untilStarted(requestTurn.started);
  if (answer.text === '' && answer.calls.length === 0)
    await Promise.race([requestTurn.done, Promise.resolve()]);
  const { dialect, keepAlive } = events;
  return ctx.stream(request, {
    dialect,
    keepAlive,
    encode: (event) => events.encode(event as Event),
    produce: producer(ctx, answering, events, requestIds(request)),
  });
}

/** Created outside of the handler: a closure there would keep the request in memory until the stream ends. */
const producer =
  <Event extends object>(
    ctx: Pick<DialectContext, 'log'>,
    { requestTurn, answer, finished }: Answering,
    events: AnswerEvents<Event>,
    ids: LogIds,
  ) =>
  async (stream: EventStream): Promise<void> => {
    let isComplete = true;
    const send = (event: Event) => {
      isComplete &&= stream.send(events.encode(event), event, events.pieces as never);
    };
    events.start().forEach(send);
    requestTurn.show((delta) => events.add(delta).forEach(send));
    stream.onClosing((fault) => requestTurn.fail(fault));
    void stream.lost().then((dropped) => (dropped ? requestTurn.fail(TOO_SLOW) : requestTurn.abandon()));
    try {
      await finished;
      if (!isComplete) throw TOO_SLOW;
      events.end(answer).forEach(send);
    } catch (thrown) {
      stream.send(events.failed(reported(thrown, ctx, ids)));
      if (thrown === TOO_SLOW) return;
    }
    await stream.ready();
  };
