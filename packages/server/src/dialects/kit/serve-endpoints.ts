/** Serves the endpoints of a dialect: rate limit, caller, permission, validation, handler, answer. */
import { Fault } from '@parlance/protocol';
import type { Hono, Context as HonoContext } from 'hono';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import type { z } from 'zod';
import { principalOf } from '../../http/request-identity.ts';
import { type DialectContext, reported, requestIds } from './dialect.ts';
import type { InvalidRequest, RestApi, ServedEndpoint } from './endpoint.ts';
import { parseBody } from './json-body.ts';
import { setRetryAfter } from './retry.ts';

/** What every context of handlers has. */
type RestContext = Pick<DialectContext, 'authenticator' | 'countRequest' | 'log' | 'readBody'>;

export function serveEndpoints<Ctx extends RestContext>(app: Hono, api: RestApi<Ctx>, ctx: Ctx): void {
  const { around = (_, answer) => answer() } = api;
  for (const endpoint of api.endpoints) {
    app.on(endpoint.method.toUpperCase(), endpoint.path.replace(/\{(\w+)\}/g, ':$1'), (c) =>
      around(
        c,
        () => answer(api, endpoint, c, ctx).catch((thrown: unknown) => failed(api, endpoint, c, ctx, thrown)),
        ctx,
      ),
    );
  }
}

async function answer<Ctx extends RestContext>(
  api: RestApi<Ctx>,
  endpoint: ServedEndpoint<Ctx>,
  c: HonoContext,
  ctx: Ctx,
): Promise<Response> {
  const request = c.req.raw;
  const { security } = endpoint;
  const {
    identify = () => principalOf(ctx.authenticator, request),
    invalid = firstField,
    limit = () => ctx.countRequest(request),
  } = api;
  if (endpoint.limited !== false) limit(c, ctx);
  const hasCaller = endpoint.identified !== false && (security === 'caller' || security === 'token');
  const principal = hasCaller ? await identify(request, ctx, security) : undefined;
  const caller = { c, request, principal, params: c.req.param() };
  await endpoint.allow?.(caller, ctx);

  function checked<Schema extends z.ZodType>(schema: Schema | undefined, value: unknown) {
    const result = schema?.safeParse(value);
    if (result?.error) throw invalid({ error: result.error });
    return result?.data;
  }
  const params = endpoint.params ? checked(endpoint.params, caller.params) : caller.params;
  const query = checked(endpoint.query, c.req.query());
  const headers = checked(endpoint.headers, c.req.header());
  let body: unknown;
  if (endpoint.body) {
    // Only callers that are known may send large bodies.
    const parsed = parseBody(await ctx.readBody(request, security === 'nobody' ? 'anonymous' : 'identified'));
    if ('problem' in parsed) throw invalid({ body: parsed.problem, cause: parsed.cause });
    body = checked(endpoint.parsed?.(ctx) ?? endpoint.body, parsed.value);
  }

  const returned = await endpoint.handle({ ...caller, params, query, headers, body }, ctx);
  if (returned instanceof Response) return returned;
  if (returned === undefined) return c.body(null, 204);
  const status = Object.keys(endpoint.answers).find((code) => code.startsWith('2'));
  return c.json(returned, Number(status) as ContentfulStatusCode);
}

function failed<Ctx extends RestContext>(
  api: RestApi<Ctx>,
  { security }: ServedEndpoint<Ctx>,
  c: HonoContext,
  ctx: Ctx,
  thrown: unknown,
): Response {
  const fault = reported(thrown, ctx, requestIds(c.req.raw));
  if (fault.code === 'unauthenticated' && security !== 'signed') c.header('WWW-Authenticate', 'Bearer');
  setRetryAfter(c, fault);
  return api.fault(fault, c);
}

function firstField(problem: InvalidRequest): Fault {
  if ('body' in problem) return new Fault('invalid', `The body ${problem.body}.`, { cause: problem.cause });
  const issue = problem.error.issues[0];
  return new Fault('invalid', `${issue?.path.join('.') || 'body'}: ${issue?.message}`);
}
