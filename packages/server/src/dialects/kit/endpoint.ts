/**
 * HTTP endpoints of a dialect. An endpoint is one object: what it accepts and answers, examples, and the function that handles it. The
 * route, the validation of requests, the OpenAPI document, the isolation tests and the fuzzer are derived from it, so a route without
 * a description cannot exist.
 *
 * Endpoints are loaded when the server starts; schemas of answers only for documents and tests. An endpoint therefore names them, and
 * the description of the dialect has them.
 */
import type { Fault, Json, Principal } from '@parlance/protocol';
import type { Context as HonoContext } from 'hono';
import { z } from 'zod';
import type { Answer, Endpoint, EndpointAnswers, Security } from './description.ts';

/** The HTTP endpoints of a dialect, and what they have in common. */
export type RestApi<Ctx> = {
  readonly endpoints: readonly ServedEndpoint<Ctx>[];
  /** The answer to a failed request. Headers for retries and authentication are set. */
  fault(fault: Fault, c: HonoContext): Response;
  /** The caller. Default: `principalOf`, which is `local` without a token in open mode. */
  identify?(request: Request, ctx: Ctx, security: Security): Promise<Principal>;
  /** Reads the body. Default: `readBody` of the server, with the limit of identified callers if the endpoint has security. */
  readBody?(request: Request, ctx: Ctx, security: Security): Promise<Uint8Array>;
  /** The fault of a request that does not match. Default: `invalid` with the first field. */
  invalid?(problem: InvalidRequest): Fault;
  /** Counts the request, and throws `limited` if the caller sends too many. Default: the limit of the server. */
  limit?(c: HonoContext, ctx: Ctx): void;
  /** Wraps every request, to add what all answers have. `answer` never throws. */
  around?(c: HonoContext, answer: () => Promise<Response>, ctx: Ctx): Promise<Response>;
};

export type InvalidRequest =
  /** the body is not JSON, or not safe to parse */
  { readonly body: string; readonly cause?: unknown } | { readonly error: z.ZodError };

/** A request after validation. */
export type EndpointRequest<Params, Query, Headers, Body, Caller> = {
  readonly c: HonoContext;
  readonly request: Request;
  readonly params: Params;
  readonly query: Query;
  readonly headers: Headers;
  readonly body: Body;
  readonly principal: Caller;
};

/** An endpoint whose types were checked by `endpointOf`. */
export type ServedEndpoint<Ctx> = Omit<Endpoint, 'answers'> & {
  readonly answers: NamedAnswers;
  readonly errors?: readonly number[];
  readonly limited?: false;
  readonly identified?: false;
  parsed?(ctx: Ctx): z.ZodType;
  // biome-ignore lint/suspicious/noExplicitAny: each endpoint has its own types
  allow?(request: any, ctx: Ctx): void | Promise<void>;
  // biome-ignore lint/suspicious/noExplicitAny: each endpoint has its own types
  handle(request: any, ctx: Ctx): unknown;
};

/** An answer whose schema is named, or that is a text with this description. */
type NamedAnswer<Name = string> = Omit<Answer, 'schema'> & {
  readonly schema?: Name | undefined;
  readonly text?: string;
};

type NamedAnswers<Name = string> = Readonly<Record<number, NamedAnswer<Name> | readonly NamedAnswer<Name>[]>>;

type Definition<Ctx, Schemas, Path, Params, Query, Headers, Body, Caller, Identified, Replies> = Omit<
  Endpoint,
  'answers' | 'body' | 'headers' | 'params' | 'path' | 'query' | 'security'
> & {
  readonly path: Path;
  /** default: `caller`, so that an endpoint is open to nobody unless it says so */
  readonly security?: Caller;
  readonly params?: Params;
  readonly query?: Query;
  readonly headers?: Headers;
  readonly body?: Body;
  /** The schema of the body with the limits of this server; `body` has the default ones. */
  parsed?(ctx: Ctx): Body;
  readonly answers: Replies;
  /** statuses of failures; the description has their texts and schema */
  readonly errors?: readonly number[];
  /** false: requests do not count against the caller's rate limit */
  readonly limited?: false;
  /** false: the caller is determined by `handle`, if at all */
  readonly identified?: Identified;
  /** Throws if the caller may not use the endpoint. Called before the request is validated and its body is read. */
  allow?(
    request: Pick<
      EndpointRequest<ParamsOf<Path, Params>, never, never, never, CallerOf<Caller, Identified>>,
      'c' | 'params' | 'principal' | 'request'
    >,
    ctx: Ctx,
  ): void | Promise<void>;
  /** Returns the body of the successful answer, nothing for 204, or a response. */
  handle(
    request: EndpointRequest<
      ParamsOf<Path, Params>,
      OutputOf<Query>,
      OutputOf<Headers>,
      OutputOf<Body>,
      CallerOf<Caller, Identified>
    >,
    ctx: Ctx,
  ): Returned<Schemas, Replies> | Promise<Returned<Schemas, Replies>>;
};

type OutputOf<Schema> = Schema extends z.ZodType ? z.output<Schema> : undefined;

type ParamsOf<Path, Params> = Params extends z.ZodType ? z.output<Params> : PathParams<Path>;

type PathParams<Path> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? { readonly [Key in Name]: string } & PathParams<Rest>
  : unknown;

type CallerOf<Caller, Identified> = Identified extends false
  ? undefined
  : Caller extends 'caller' | 'token'
    ? Principal
    : undefined;

type Returned<Schemas, Replies> =
  | Response
  | { [Status in keyof Replies & (200 | 201 | 202)]: BodyOf<Schemas, Replies[Status]> }[keyof Replies &
      (200 | 201 | 202)]
  // biome-ignore lint/suspicious/noConfusingVoidType: the handler of a 204 returns nothing
  | (204 extends keyof Replies ? void : never);

type BodyOf<Schemas, Reply> = Reply extends { readonly schema: infer Name extends keyof Schemas }
  ? Schemas[Name] extends z.ZodType
    ? Sent<z.output<Schemas[Name]>>
    : never
  : Reply extends readonly [infer First, ...unknown[]]
    ? BodyOf<Schemas, First>
    : never;

/** A value of the API, built from values that may be read-only. */
export type Sent<T> = [Json] extends [T] ? T : ReadOnly<T>;
type ReadOnly<T> = T extends string | number | boolean | null | undefined
  ? T
  : { readonly [Key in keyof T]: Sent<T[Key]> };

/**
 * Makes the function that defines the endpoints of a dialect: `Ctx` is what their handlers use, `Schemas` the named schemas of answers.
 *
 * @example
 * const endpoint = endpointOf<Context, typeof schemas>();
 * const things = endpoint({
 *   method: 'get',
 *   path: '/things/{id}',
 *   summary: 'A thing',
 *   examples: () => [{ params: { id: 'one' } }],
 *   answers: { 200: { description: 'The thing', schema: 'Thing' } },
 *   errors: [401, 404],
 *   handle: ({ params, principal }, { things }) => things.find(principal, params.id),
 * });
 */
export const endpointOf =
  <Ctx, Schemas>() =>
  <
    const Path extends string,
    const Replies extends NamedAnswers<keyof Schemas>,
    const Caller extends Security = 'caller',
    const Identified extends boolean = true,
    Params extends z.ZodObject | undefined = undefined,
    Query extends z.ZodObject | undefined = undefined,
    Headers extends z.ZodObject | undefined = undefined,
    Body extends z.ZodType | undefined = undefined,
  >(
    definition: Definition<Ctx, Schemas, Path, Params, Query, Headers, Body, Caller, Identified, Replies>,
  ): ServedEndpoint<Ctx> =>
    ({ security: 'caller', ...definition }) as unknown as ServedEndpoint<Ctx>;

// Describing

/** The endpoints with the schemas that they name. Throws if the description lacks one. */
export function describedEndpoints(
  endpoints: readonly ServedEndpoint<never>[],
  { schemas = {}, errors = {} }: EndpointAnswers,
): Endpoint[] {
  const answerOf = ({ schema: name, text, ...answer }: NamedAnswer): Answer => {
    const schema = name === undefined ? textSchema(answer.type, text) : schemas[name];
    if (name !== undefined && !(schema instanceof z.ZodType)) throw new Error(`there is no schema ${name}`);
    return { ...answer, ...(schema instanceof z.ZodType && { schema }) };
  };
  const errorOf = (status: number): Answer => {
    const answer = errors[status];
    if (!answer) throw new Error(`the answer ${status} is not described`);
    return answer;
  };
  return endpoints.map(({ handle, allow, parsed, errors: failures = [], answers, ...endpoint }) => ({
    ...endpoint,
    answers: Object.fromEntries([
      ...Object.entries(answers).map(([status, answer]) => [
        status,
        isList(answer) ? answer.map(answerOf) : answerOf(answer),
      ]),
      ...failures.map((status) => [status, errorOf(status)]),
    ]),
  }));
}

const isList = <Item>(value: Item | readonly Item[]): value is readonly Item[] => Array.isArray(value);

/** Answers of other types than JSON are texts. */
const textSchema = (type: string | undefined, text: string | undefined): z.ZodType | undefined => {
  if (type === undefined) return undefined;
  return text === undefined ? z.string() : z.string().describe(text);
};
