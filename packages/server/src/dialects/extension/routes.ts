/** The HTTP endpoints of the contract. */
import { Fault } from '@parlance/protocol';
import { z } from 'zod';
import { type DialectContext, reported, requestIds } from '../kit/dialect.ts';
import { endpointOf, type RestApi } from '../kit/endpoint.ts';
import { HTTP_STATUS, retryText } from '../kit/faults.ts';
import { SummaryRequest, type schemas } from './contract.ts';

export const Settings = z.object({
  /** origins that browser tools may access */
  allowedToolOrigins: z.array(z.string()).readonly(),
});

/** The part of the server context that `extension` uses. */
export type ExtensionContext = Pick<
  DialectContext<z.output<typeof Settings>>,
  'countRequest' | 'authenticator' | 'engine' | 'log' | 'newId' | 'now' | 'readBody' | 'settings'
>;

type RouteContext = Omit<ExtensionContext, 'newId' | 'settings'>;

const endpoint = endpointOf<RouteContext, ReturnType<typeof schemas>>();

const health = endpoint({
  method: 'get',
  path: '/health',
  summary: 'Liveness',
  security: 'nobody',
  limited: false,
  answers: { 200: { description: 'Alive', schema: 'Health' } },
  handle: (_, ctx) => ({ status: 'ok', timestamp: timeOf(ctx) }),
});

const summarize = endpoint({
  method: 'post',
  path: '/api/summarize',
  summary: 'Summarises a document without storing it',
  examples: ({ session }) => [{ body: { content: `Sum up ${session}. It is mine.`, title: session } }],
  body: SummaryRequest,
  answers: { 200: { description: 'The summary', schema: 'Summary' } },
  errors: [400, 401, 500],
  async handle({ c, principal, request, body }, ctx) {
    const title = body.title?.trim() || 'Untitled';
    try {
      const summary = await ctx.engine.summarise(principal, { title, content: body.content }, request.signal);
      return { summary, title, timestamp: timeOf(ctx) };
    } catch (thrown) {
      const { message } = reported(thrown, ctx, requestIds(request));
      return c.json({ error: 'Failed to generate summary', details: message }, 500);
    }
  },
});

export const rest: RestApi<RouteContext> = {
  endpoints: [health, summarize],
  invalid: (problem) =>
    new Fault(
      'invalid',
      'body' in problem ? `The body ${problem.body}` : (problem.error.issues[0]?.message ?? ''),
    ),
  fault: (fault, c) => c.json({ error: retryText(fault) }, HTTP_STATUS[fault.code]),
};

const timeOf = ({ now }: RouteContext): string => new Date(now()).toISOString();
