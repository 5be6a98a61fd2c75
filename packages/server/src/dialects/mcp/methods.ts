/** In: the methods. */
import type { Principal } from '@parlance/protocol';
import { requirePermission } from '../../core/index.ts';
import {
  invalidParams,
  methodNamed,
  type Params,
  type RequestId,
  RPC_CODES,
  RpcFault,
  type RpcRequest,
} from '../kit/json-rpc.ts';
import type { Context } from './context.ts';
import { agreedVersion, META, MODERN, type Peer } from './peer.ts';
import { listResources, readResource, resourceNamed, TEMPLATE } from './resources.ts';
import { TOOLS } from './tools/index.ts';
import { toolView } from './tools/tool.ts';

/** Ids of requests are not null. */
export type Request = RpcRequest & { readonly id: RequestId };

/** The caller and its client. */
export type RequestSource = { readonly principal: Principal; readonly peer: Peer };

type Method = (ctx: Context, from: RequestSource, params: Params) => object | Promise<object>;

const CAPABILITIES = { tools: {}, resources: { subscribe: true, listChanged: true } };

const INSTRUCTIONS =
  'Parlance runs agents in durable sessions. Start or continue one with send_message. Tool calls of an agent may need the approval of the user: the status is then `waiting`.';

const serverInfo = ({ about }: Context) => ({ name: 'parlance', title: 'Parlance', version: about.version });

const COMMON: Readonly<Record<string, Method>> = {
  'tools/list': () => ({ tools: TOOLS.map(toolView) }),
  'resources/list': ({ engine }, { principal }, params) => listResources(engine, principal, params),
  'resources/templates/list': () => ({ resourceTemplates: [TEMPLATE] }),
  'resources/read': ({ engine }, { principal }, params) => readResource(engine, principal, params),
};

const LEGACY: Readonly<Record<string, Method>> = {
  initialize: (ctx, _from, { protocolVersion }) => ({
    protocolVersion: agreedVersion(protocolVersion),
    capabilities: CAPABILITIES,
    serverInfo: serverInfo(ctx),
    instructions: INSTRUCTIONS,
  }),
  ping: () => ({}),
  'resources/subscribe': async ({ engine, sessions, otherNodes }, { principal, peer }, { uri }) => {
    requirePermission(principal, 'chat:read');
    await resourceNamed(engine, principal, uri);
    if (peer.session === null)
      throw new RpcFault(RPC_CODES.request, 'Subscriptions need the header Mcp-Session-Id.');
    if (!sessions.subscribe(principal.id, peer.session, String(uri)))
      throw invalidParams('Too many subscriptions.');
    const subscription = { principal: principal.id, session: peer.session, uri: String(uri) };
    otherNodes.notify({ type: 'subscribed', ...subscription });
    return {};
  },
  'resources/unsubscribe': ({ sessions, otherNodes }, { principal, peer }, { uri }) => {
    if (peer.session === null) return {};
    const subscription = { principal: principal.id, session: peer.session, uri: String(uri) };
    sessions.unsubscribe(subscription.principal, subscription.session, subscription.uri);
    otherNodes.notify({ type: 'unsubscribed', ...subscription });
    return {};
  },
};

const DAY_MS = 86_400_000;

const MODERN_METHODS: Readonly<Record<string, Method>> = {
  'server/discover': (ctx) => ({
    supportedVersions: [MODERN],
    capabilities: CAPABILITIES,
    instructions: INSTRUCTIONS,
    _meta: { [META.serverInfo]: serverInfo(ctx) },
  }),
};

/** How long clients may cache results; sessions change at any time. */
const KEPT_MS: Readonly<Record<string, number>> = {
  'server/discover': DAY_MS,
  'tools/list': DAY_MS,
  'resources/templates/list': DAY_MS,
  'resources/list': 0,
  'resources/read': 0,
};

/** The result of a method other than `tools/call`. Throws a `Fault` if there is none. */
export async function resultOf(
  ctx: Context,
  from: RequestSource,
  { method, params }: Request,
): Promise<object> {
  const own = from.peer.era === 'modern' ? MODERN_METHODS : LEGACY;
  const run = methodNamed(COMMON, method) ?? methodNamed(own, method);
  if (!run) throw new RpcFault(RPC_CODES.method, `Method not found: ${method}`);
  return complete(from.peer, method, await run(ctx, from, params));
}

/** Adds the fields that results have since 2026-07-28. */
export function complete({ era }: Peer, method: string, result: object): object {
  if (era === 'legacy' || 'resultType' in result) return result;
  const ttlMs = KEPT_MS[method];
  return { ...result, resultType: 'complete', ...(ttlMs !== undefined && { ttlMs, cacheScope: 'private' }) };
}
