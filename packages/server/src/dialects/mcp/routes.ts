/** In: Streamable HTTP, all revisions at one path. */
import type { Principal } from '@parlance/protocol';
import type { Hono, Context as HonoContext } from 'hono';
import { requirePermission } from '../../core/api/index.ts';
import { principalOf } from '../../http/request-identity.ts';
import { reported, requestIds } from '../shared/dialect.ts';
import { parseBody } from '../shared/json-body.ts';
import { setRetryAfter } from '../shared/retry.ts';
import type { Context } from './context.ts';
import { CODES, errorOf, ProtocolFault, statusOf } from './faults.ts';
import { errorMessage, idOf, type RequestId } from './json-rpc.ts';
import { sessionNotifications } from './notifications.ts';
import { MODERN, peerOf } from './peer.ts';
import { answerBatch, answerMessage } from './post.ts';
import { resumed } from './resume.ts';

export const PATH = '/mcp';

export function routes(app: Hono, ctx: Context): void {
  app.post(PATH, (c) =>
    answered(ctx, c, async (principal, parsed) => {
      const body = await bodyOf(ctx, c.req.raw);
      if (Array.isArray(body)) return answerBatch(ctx, { principal, request: c.req.raw }, body);
      parsed.id = idOf(body);
      return answerMessage(ctx, { principal, request: c.req.raw }, body);
    }),
  );

  app.get(PATH, (c) =>
    answered(ctx, c, async (principal) => {
      const { headers } = c.req.raw;
      if (isModern(headers)) return postOnly(c);
      const { session } = peerOf(headers, {});
      if (!headers.get('accept')?.includes('text/event-stream'))
        return c.json(
          errorMessage(null, { code: CODES.refused, message: 'GET needs Accept: text/event-stream.' }),
          406,
        );
      requirePermission(principal, 'chat:read');
      const resume = await resumed(ctx, principal, c.req.raw);
      if (resume) return resume;
      const produce = sessionNotifications(ctx, principal, session);
      return ctx.stream(c.req.raw, { dialect: 'mcp', encode: JSON.stringify, produce });
    }),
  );

  app.delete(PATH, (c) =>
    answered(ctx, c, async (principal) => {
      if (isModern(c.req.raw.headers)) return postOnly(c);
      const session = c.req.header('mcp-session-id');
      if (session) {
        ctx.sessions.end(principal.id, session);
        ctx.otherNodes.notify({ type: 'ended', principal: principal.id, session });
      }
      return c.body(null, 204);
    }),
  );
}

const isModern = (headers: Headers): boolean => headers.get('mcp-protocol-version') === MODERN;

/** Since 2026-07-28 clients have no sessions, and subscribe with a request. */
function postOnly(c: HonoContext): Response {
  c.header('Allow', 'POST');
  return c.json(errorMessage(null, { code: CODES.refused, message: `${MODERN} has POST only.` }), 405);
}

/** The part of a failed request that could be read. */
type ParsedRequest = { id: RequestId | null };

type Work = (principal: Principal, parsed: ParsedRequest) => Promise<Response>;

async function answered(ctx: Context, c: HonoContext, work: Work): Promise<Response> {
  const parsed: ParsedRequest = { id: null };
  try {
    ctx.countRequest(c.req.raw);
    return await work(await principalOf(ctx.authenticator, c.req.raw), parsed);
  } catch (thrown) {
    const fault = reported(thrown, ctx, requestIds(c.req.raw));
    if (fault.code === 'unauthenticated') c.header('WWW-Authenticate', 'Bearer');
    setRetryAfter(c, fault);
    return c.json(errorMessage(parsed.id, errorOf(fault)), statusOf(fault));
  }
}

async function bodyOf({ readBody }: Context, request: Request): Promise<unknown> {
  const parsed = parseBody(await readBody(request, 'identified'));
  if ('problem' in parsed) throw new ProtocolFault('parse', `The body ${parsed.problem}.`);
  return parsed.value;
}
