/**
 * `agui`: front ends and runtimes that use AG-UI 1.0. A thread is a session. The log is authoritative: messages
 * of a request that it does not have are new. Front-end tools are deferred calls of the core, approvals are
 * interrupts. The state is shared through a tool of the dialect. A disconnect ends the turn that the request started,
 * because the protocol has no other way to stop.
 *
 * The protocol is in `dialect.ts`, `contract.ts`, `inbound.ts` and `outbound.ts`. Beside it: `run.ts` follows the turn of one request,
 * `shared-state.ts` merges and shows the state.
 */
import { Fault, type FaultCode } from '@parlance/protocol';
import type { EventStream, Pieces } from '../../http/connection.ts';
import { KeyedQueue } from '../../lib/keyed-queue.ts';
import { type DialectContext, defineDialect, requestIds } from '../kit/dialect.ts';
import { endpointOf } from '../kit/endpoint.ts';
import { HTTP_STATUS, retryText } from '../kit/faults.ts';
import { TOO_SLOW } from '../kit/request-turn.ts';
import { invalidRequest } from '../kit/vendor-requests.ts';
import { type AguiEvent, description, examples, hello, RunAgentInput, run, started } from './contract.ts';
import { begin, type RunRequest } from './inbound.ts';
import { encode, pieces, projection } from './outbound.ts';
import { Run, type RunParts } from './run.ts';

/** The queue runs requests about one thread one after another. */
type Context = DialectContext & { readonly queue: KeyedQueue };

const endpoint = endpointOf<Context, object>();

const COMMON = {
  method: 'post',
  body: RunAgentInput,
  answers: {
    200: {
      description: 'The events of the run',
      type: 'text/event-stream',
      text: '`data: {event}` lines, from RUN_STARTED to RUN_FINISHED or RUN_ERROR',
    },
  },
  errors: [400, 401, 403, 404, 413, 429, 503],
} as const;

const endpoints = [
  endpoint({
    ...COMMON,
    path: '/agui',
    summary: 'Run the default agent, answer what it waits for, or show the thread',
    examples,
    handle: ({ request, principal, body }, ctx) => answer(ctx, request, { principal, run: body }),
  }),
  endpoint({
    ...COMMON,
    path: '/agui/{agent}',
    summary: 'The same with a specific agent',
    examples: ({ session }) => [
      { ...started(session), params: { agent: 'coder' } },
      { params: { agent: 'nobody' }, probe: true, body: run(session, 'run-7', { messages: [hello] }) },
    ],
    allow({ params: { agent } }, { engine }) {
      if (!engine.catalog.listed.agents.some(({ id }) => id === agent))
        throw new Fault('not_found', `There is no agent ${agent}.`);
    },
    handle: ({ request, principal, params: { agent }, body }, ctx) =>
      answer(ctx, request, { principal, agent, run: body }),
  }),
];

async function answer(ctx: Context, request: Request, runRequest: RunRequest): Promise<Response> {
  const started = await begin(ctx, runRequest);
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

const CODES: Readonly<Record<number, FaultCode>> = {
  400: 'invalid',
  401: 'unauthenticated',
  403: 'forbidden',
  404: 'not_found',
  413: 'too_large',
  429: 'limited',
  503: 'overloaded',
};

export const agui = defineDialect({
  name: 'agui',
  listen: [{ http: '/agui/*' }],
  inbound: (ctx) => ({ rest: { ...ctx, queue: new KeyedQueue() } }),
  rest: {
    endpoints,
    invalid: invalidRequest,
    fault: (fault, c) => c.json({ message: retryText(fault), code: fault.code }, HTTP_STATUS[fault.code]),
  },
  projection,
  faults: {
    refusal: (status, message) => ({
      message,
      code: CODES[status] ?? (status < 500 ? 'invalid' : 'internal'),
    }),
  },
  describe: async () => description(),
});
