/**
 * `agui`: front ends and runtimes that use AG-UI 1.0. A thread is a session. The log is authoritative: messages
 * of a request that it does not have are new. Front-end tools are deferred calls of the core, approvals are
 * interrupts. State, activities and steps are not sent. A disconnect ends the turn that the request started,
 * because the protocol has no other way to stop.
 */

import { Fault, type FaultCode } from '@parlance/protocol';
import type { Hono, Context as HonoContext } from 'hono';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import type { EventStream, Pieces } from '../../http/connection.ts';
import { principalOf } from '../../http/request-identity.ts';
import { defineDialect, reported, requestIds } from '../kit/dialect.ts';
import { HTTP_STATUS } from '../kit/http-status.ts';
import { TOO_SLOW } from '../kit/request-turn.ts';
import { retryText, setRetryAfter } from '../kit/retry.ts';
import { body } from '../kit/vendor-requests.ts';
import type { Context } from './context.ts';
import { type AguiEvent, encode } from './events.ts';
import { projection } from './projection.ts';
import { Run, type RunParts } from './run.ts';
import type { RunRequest } from './run-request.ts';
import { RunAgentInput } from './schemas.ts';
import { Threads } from './threads.ts';

// Faults before a stream: an HTTP status and `{message, code}`.

type ErrorBody = { readonly message: string; readonly code: string };

const statusOf = ({ code }: Fault): ContentfulStatusCode => HTTP_STATUS[code];

const errorBody = (fault: Fault): ErrorBody => ({ message: retryText(fault), code: fault.code });

const CODES: Readonly<Record<number, FaultCode>> = {
  400: 'invalid',
  401: 'unauthenticated',
  403: 'forbidden',
  404: 'not_found',
  413: 'too_large',
  429: 'limited',
  503: 'overloaded',
};

/** The origin is not allowed, the endpoint does not exist, or an error occurred. */
const refusal = (status: number, message: string): ErrorBody => ({
  message,
  code: CODES[status] ?? (status < 500 ? 'invalid' : 'internal'),
});

export const agui = defineDialect({
  name: 'agui',
  listen: [{ http: '/agui/*' }],
  inbound: (ctx) => ({ routes: (app) => routes(app, ctx) }),
  projection,
  faults: { refusal },
  describe: async () => (await import('./describe.ts')).description,
});

// In: one endpoint per agent.

function routes(app: Hono, ctx: Context): void {
  const threads = new Threads(ctx);
  const answer = (c: HonoContext, agent?: string) =>
    answered(ctx, threads, { c, agent }).catch((thrown: unknown) => failed(ctx, c, thrown));
  app.post('/agui', (c) => answer(c));
  app.post('/agui/:agent', (c) => answer(c, c.req.param('agent')));
}

async function answered(
  ctx: Context,
  threads: Threads,
  { c, agent }: { readonly c: HonoContext; readonly agent: string | undefined },
): Promise<Response> {
  const request = c.req.raw;
  ctx.countRequest(request);
  const principal = await principalOf(ctx.authenticator, request);
  if (agent !== undefined && !ctx.engine.catalog.listed.agents.some(({ id }) => id === agent))
    throw new Fault('not_found', `There is no agent ${agent}.`);
  const runRequest: RunRequest = { principal, agent, run: await body(ctx, request, RunAgentInput) };
  const started = await threads.begin(runRequest);
  const produce = producer(ctx, { request: runRequest, started, ids: requestIds(request) });
  return ctx.stream(request, { dialect: 'agui', encode, produce });
}

/** Created outside of the handler: a closure there would keep the request in memory until the stream ends. */
const producer =
  (ctx: Context, parts: Omit<RunParts, 'send'>) =>
  async (stream: EventStream): Promise<void> => {
    let isComplete = true;
    const send = (event: AguiEvent) => {
      isComplete &&= stream.send(encode(event), event, pieces as Pieces);
    };
    const run = new Run(ctx, { ...parts, send });
    stream.onClosing((fault) => run.fail(fault));
    void stream.lost().then((dropped) => (dropped ? run.fail(TOO_SLOW) : run.abandon()));
    await run.follow();
    if (isComplete) return stream.ready();
    const { message, code } = TOO_SLOW;
    stream.send(encode({ type: 'RUN_ERROR', message, code }));
  };

/** Merges pieces of text and arguments for a slow reader. */
const pieces: Pieces<AguiEvent> = {
  key: (event) => ('delta' in event ? `${event.type} ${idOf(event)}` : null),
  text: (event) => ('delta' in event ? event.delta : ''),
  with: (event, delta) => ({ ...event, delta }) as AguiEvent,
};

const idOf = (event: Extract<AguiEvent, { delta: string }>): string =>
  'toolCallId' in event ? event.toolCallId : event.messageId;

function failed(ctx: Context, c: HonoContext, thrown: unknown): Response {
  const fault = reported(thrown, ctx, requestIds(c.req.raw));
  if (fault.code === 'unauthenticated') c.header('WWW-Authenticate', 'Bearer');
  setRetryAfter(c, fault);
  return c.json(errorBody(fault), statusOf(fault));
}
