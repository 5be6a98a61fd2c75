/** Parses and validates requests. */
import type { Principal } from '@parlance/protocol';
import type { Context as HonoContext } from 'hono';
import type { z } from 'zod';
import { principalOfVendorClient } from '../../http/request-identity.ts';
import type { DialectContext } from './dialect.ts';
import { digestOf } from './digest.ts';
import type { InvalidRequest } from './endpoint.ts';
import { firstIssue } from './first-issue.ts';
import { parseBody } from './json-body.ts';
import { invalid, RequestFault } from './request-fault.ts';
import type { Progress } from './request-sessions.ts';

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

/** Call it only for authenticated callers: it accepts large bodies. */
export async function body<Schema extends z.ZodType>(
  { readBody }: Pick<DialectContext, 'readBody'>,
  request: Request,
  schema: Schema,
): Promise<z.output<Schema>> {
  const parsed = parseBody(await readBody(request, 'identified'));
  if ('problem' in parsed) throw invalidRequest({ body: parsed.problem });
  const result = schema.safeParse(parsed.value);
  if (result.success) return result.data;
  throw invalidRequest(result);
}

function invalidRequest(problem: InvalidRequest): RequestFault {
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
export const toHeader = (session: string): string =>
  /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/.test(session) ? session : encodeURIComponent(session);

function fromHeader(value: string): string {
  try {
    const decoded = decodeURIComponent(value);
    return toHeader(decoded) === value ? decoded : value;
  } catch {
    return value;
  }
}
