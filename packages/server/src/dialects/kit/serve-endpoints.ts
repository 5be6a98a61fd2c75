/** Serves the endpoints of a dialect: rate limit, caller, permission, validation, handler, answer. */
import { Fault, jsonRefusal } from '@parlance/protocol';
import type { Hono, Context as HonoContext } from 'hono';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import type { z } from 'zod';
import { principalOf } from '../../http/request-identity.ts';
import { type DialectContext, reported, requestIds } from './dialect.ts';
import type { InvalidRequest, RestApi, ServedEndpoint } from './endpoint.ts';
import { setRetryAfter } from './faults.ts';

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
    // Only callers that are known may send large bodies.
    readBody = () => ctx.readBody(request, security === 'nobody' ? 'anonymous' : 'identified'),
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
    const bytes = await readBody(request, ctx, security);
    const parsed = isForm(endpoint, request) ? { value: formOf(bytes) } : parseBody(bytes);
    if ('problem' in parsed) throw invalid({ body: parsed.problem, cause: parsed.cause });
    body = checked(endpoint.parsed?.(ctx) ?? endpoint.body, parsed.value);
  }

  const returned = await endpoint.handle({ ...caller, params, query, headers, body }, ctx);
  if (returned instanceof Response) return returned;
  if (returned === undefined) return c.body(null, 204);
  const status = Object.keys(endpoint.answers).find((code) => code.startsWith('2'));
  return c.json(returned, Number(status) as ContentfulStatusCode);
}

/** Clients that send forms do not always name their type. */
const isForm = <Ctx>({ bodyTypes = [] }: ServedEndpoint<Ctx>, { headers }: Request): boolean =>
  bodyTypes.includes('application/x-www-form-urlencoded') && !headers.get('content-type')?.includes('json');

const formOf = (bytes: Uint8Array): object =>
  Object.fromEntries(new URLSearchParams(new TextDecoder().decode(bytes)));

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

// Bodies

export type JsonBody =
  | { readonly value: unknown }
  | {
      readonly problem: 'is not valid JSON' | 'is nested too deeply' | 'has too many keys';
      readonly cause?: unknown;
    };

/** Depth and number of keys are checked first: parsing a hostile body would block the event loop. */
export function parseBody(bytes: Uint8Array): JsonBody {
  const text = new TextDecoder().decode(bytes);
  const problem = jsonRefusal(text);
  if (problem !== null) return { problem };
  try {
    return { value: JSON.parse(text) };
  } catch (cause) {
    return { problem: 'is not valid JSON', cause };
  }
}

// The field of a request that does not match its schema.

export type FieldIssue = { readonly path: readonly PropertyKey[]; readonly message: string };

type Issue = z.core.$ZodIssue;

/** The first field that does not match; for a union, in the closest alternative. */
export function firstIssue([issue]: readonly Issue[]): FieldIssue {
  if (!issue) return { path: [], message: 'invalid value' };
  const alternatives = issue.code === 'invalid_union' ? issue.errors : [];
  const [closest] = alternatives.toSorted((one, other) => distance(one) - distance(other));
  if (!closest) return issue;
  const { path, message } = firstIssue(closest);
  return { path: [...issue.path, ...path], message };
}

/**
 * An alternative with another `type` is the farthest; of the others, the one that matches up to a deeper field
 * is closer.
 */
function distance(issues: readonly Issue[]): number {
  const isOther = issues.some(({ path }) => path.length === 1 && path[0] === 'type');
  const depth = Math.max(...issues.map(({ path }) => path.length));
  return (isOther ? 1_000_000 : 0) - 1_000 * depth + issues.length;
}
