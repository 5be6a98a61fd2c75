/** The HTTP endpoints of the contract. */
import { asFault, type FaultCode } from '@parlance/protocol';
import type { Hono, Context as RequestContext } from 'hono';
import { principalOf } from '../../http/request-identity.ts';
import { reported, requestIds } from '../kit/dialect.ts';
import { HTTP_STATUS } from '../kit/http-status.ts';
import { parseBody } from '../kit/json-body.ts';
import { retryText, setRetryAfter } from '../kit/retry.ts';
import type { Context } from './context.ts';
import { SummaryRequest } from './contract.ts';

type RouteContext = Omit<Context, 'newId' | 'settings'>;

export function routes(app: Hono, ctx: RouteContext): void {
  app.get('/health', (c) => c.json({ status: 'ok', timestamp: timeOf(ctx) }));
  app.post('/api/summarize', (c) => summarize(c, ctx));
}

async function summarize(c: RequestContext, ctx: RouteContext): Promise<Response> {
  let bytes: Uint8Array;
  try {
    ctx.countRequest(c.req.raw);
    await principalOf(ctx.authenticator, c.req.raw);
    bytes = await ctx.readBody(c.req.raw, 'identified');
  } catch (thrown) {
    const fault = asFault(thrown);
    if (!REFUSALS.has(fault.code)) throw thrown;
    setRetryAfter(c, fault);
    return c.json({ error: retryText(fault) }, HTTP_STATUS[fault.code]);
  }
  const body = parseBody(bytes);
  if ('problem' in body) return c.json({ error: `The body ${body.problem}` }, 400);
  const request = SummaryRequest.safeParse(body.value);
  if (!request.success) return c.json({ error: request.error.issues[0]?.message }, 400);
  const title = request.data.title?.trim() || 'Untitled';
  try {
    const summary = await ctx.engine.summarise(title, request.data.content, c.req.raw.signal);
    return c.json({ summary, title, timestamp: timeOf(ctx) });
  } catch (thrown) {
    const { message } = reported(thrown, ctx, requestIds(c.req.raw));
    return c.json({ error: 'Failed to generate summary', details: message }, 500);
  }
}

// Faults

/** Expected refusals before the request is handled; any other fault is a bug. */
const REFUSALS: ReadonlySet<FaultCode> = new Set([
  'limited',
  'unauthenticated',
  'forbidden',
  'invalid',
  'too_large',
  'too_slow',
  'overloaded',
]);

const timeOf = ({ now }: RouteContext): string => new Date(now()).toISOString();
