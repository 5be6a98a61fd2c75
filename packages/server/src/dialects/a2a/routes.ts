/** In: the agent card, and JSON-RPC at one path. */
import type { Fault } from '@parlance/protocol';
import type { Hono, Context as HonoContext } from 'hono';
import { principalOf } from '../../http/request-identity.ts';
import { reported, requestIds } from '../shared/dialect.ts';
import { parseBody } from '../shared/json-body.ts';
import { setRetryAfter } from '../shared/retry.ts';
import { agentCard, CARD_PATH, PROTOCOL_VERSION, RPC_PATH } from './card.ts';
import type { Context } from './context.ts';
import { RpcFault, rpcError, statusOf } from './faults.ts';
import { execute } from './methods.ts';
import { idOf, type RpcId, rpcRequest } from './rpc.ts';

export function routes(app: Hono, ctx: Context): void {
  app.get(CARD_PATH, (c) => {
    c.header('cache-control', 'no-cache');
    c.header('vary', 'Host');
    return c.json(agentCard(ctx, ctx.originOf(c.req.raw)));
  });

  app.post(RPC_PATH, async (c) => {
    let id: RpcId = null;
    try {
      ctx.countRequest(c.req.raw);
      const principal = await principalOf(ctx.authenticator, c.req.raw);
      const body = await readJson(ctx, c.req.raw);
      id = idOf(body);
      const rpc = rpcRequest(body);
      checkVersion(c.req.header('a2a-version'));
      return await execute(ctx, { request: c.req.raw, principal, rpc });
    } catch (thrown) {
      return failed(c, id, reported(thrown, ctx, requestIds(c.req.raw)));
    }
  });
}

async function readJson({ readBody }: Context, request: Request): Promise<unknown> {
  const parsed = parseBody(await readBody(request, 'identified'));
  if ('problem' in parsed) throw new RpcFault('PARSE_ERROR', `The body ${parsed.problem}.`);
  return parsed.value;
}

/** A client without a version header is assumed to use this version. */
function checkVersion(version: string | undefined): void {
  if (!version || /^1(?:\.\d+)*$/.test(version.trim())) return;
  throw new RpcFault(
    'VERSION_NOT_SUPPORTED',
    `The server speaks version ${PROTOCOL_VERSION} of the protocol.`,
  );
}

function failed(c: HonoContext, id: RpcId, fault: Fault): Response {
  if (fault.code === 'unauthenticated') c.header('WWW-Authenticate', 'Bearer');
  setRetryAfter(c, fault);
  return c.json({ jsonrpc: '2.0', id, error: rpcError(fault) }, statusOf(fault));
}
