/**
 * `a2a`: clients of the Agent2Agent protocol 1.0 with its JSON-RPC binding. A context is a session and a task
 * is a turn, of this or any other dialect. A disconnect does not end a task: the client subscribes to it again,
 * or cancels it. Push notifications and the other bindings are not supported.
 */

import type { Fault } from '@parlance/protocol';
import type { Hono, Context as HonoContext } from 'hono';
import { principalOf } from '../../http/request-identity.ts';
import { defineDialect, reported, requestIds } from '../kit/dialect.ts';
import { parseBody } from '../kit/json-body.ts';
import { errorMessage, idOf, messageOf, RpcFault, type RpcId, type RpcRequest } from '../kit/json-rpc.ts';
import { setRetryAfter } from '../kit/retry.ts';
import { agentCard, CARD_PATH, PROTOCOL_VERSION, RPC_PATH } from './card.ts';
import type { Context } from './context.ts';
import { CODES, refusal, rpcError, statusOf } from './faults.ts';
import { execute } from './methods.ts';
import { projection } from './projection.ts';
import { Tasks } from './tasks.ts';

export const a2a = defineDialect({
  name: 'a2a',
  listen: [{ http: RPC_PATH }, { http: CARD_PATH }],
  inbound: (ctx, hub) => ({
    routes: (app) => routes(app, { ...ctx, hub, tasks: new Tasks({ engine: ctx.engine, hub }) }),
  }),
  projection,
  faults: { refusal },
  describe: async () => (await import('./describe.ts')).description,
});

// In: the agent card, and JSON-RPC at one path.

function routes(app: Hono, ctx: Context): void {
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
      const rpc = read(body);
      checkVersion(c.req.header('a2a-version'));
      return await execute(ctx, { request: c.req.raw, principal, rpc });
    } catch (thrown) {
      return failed(c, id, reported(thrown, ctx, requestIds(c.req.raw)));
    }
  });
}

async function readJson({ readBody }: Context, request: Request): Promise<unknown> {
  const parsed = parseBody(await readBody(request, 'identified'));
  if ('problem' in parsed) throw new RpcFault(CODES.parse, `The body ${parsed.problem}.`);
  return parsed.value;
}

/** A request without an id is answered as well, with `null`. */
function read(body: unknown): RpcRequest {
  const message = messageOf(body);
  if (message.kind === 'request') return message;
  if (message.kind === 'notification') return { ...message, id: null };
  const reason = message.kind === 'invalid' ? `: ${message.reason}` : '';
  throw new RpcFault(CODES.request, `Not a JSON-RPC 2.0 request${reason}.`);
}

/** A client without a version header is assumed to use this version. */
function checkVersion(version: string | undefined): void {
  if (!version || /^1(?:\.\d+)*$/.test(version.trim())) return;
  throw new RpcFault(
    CODES.VERSION_NOT_SUPPORTED,
    `The server speaks version ${PROTOCOL_VERSION} of the protocol.`,
  );
}

function failed(c: HonoContext, id: RpcId, fault: Fault): Response {
  if (fault.code === 'unauthenticated') c.header('WWW-Authenticate', 'Bearer');
  setRetryAfter(c, fault);
  return c.json(errorMessage(id, rpcError(fault)), statusOf(fault));
}
