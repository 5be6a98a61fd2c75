/** Administration: users, listeners, nodes, MCP servers and standing grants. */
import { Fault, type Principal } from '@parlance/protocol';
import {
  type ListenerList,
  type McpServer,
  type McpServerList,
  NewPassword,
  NewUser,
  type NodeList,
  PageQuery,
  type ServerNode,
  type StandingGrants,
  type Token,
  type User,
  UserChange,
  type UserList,
} from '@parlance/protocol/api';
import type { Hono } from 'hono';
import { requirePermission } from '../../core/index.ts';
import type { Account, Accounts } from '../../http/accounts.ts';
import { principalOf, requireLogin } from '../../http/request-identity.ts';
import type { McpServerView, NodeView } from '../kit/about.ts';
import { requestLimit } from '../kit/request-limit.ts';
import type { Context } from './context.ts';
import { body, checked, type Sent } from './requests.ts';
import { isLocal } from './setup.ts';

export function adminRoutes(api: Hono, ctx: Context): void {
  const { engine, authenticator } = ctx;
  for (const path of ['/v1/admin/*', '/v1/grants']) api.use(path, requestLimit(ctx));

  async function accounts(request: Request): Promise<Accounts> {
    requireAdmin(await principalOf(authenticator, request), 'manage users');
    if (request.method !== 'GET') await requireLogin(authenticator, request, 'manage users');
    return ctx.administration.accounts;
  }

  api.get('/v1/admin/users', async (c) => {
    const users = await (await accounts(c.req.raw)).list();
    return c.json({ users: users.map(userView) } satisfies UserList);
  });

  api.post('/v1/admin/users', async (c) => {
    const users = await accounts(c.req.raw);
    return c.json(userView(await users.add(checked(NewUser, await body(ctx, c.req.raw)))), 201);
  });

  api.patch('/v1/admin/users/:name', async (c) => {
    const users = await accounts(c.req.raw);
    const change = checked(UserChange, await body(ctx, c.req.raw));
    return c.json(userView(await users.change(c.req.param('name'), change)));
  });

  api.delete('/v1/admin/users/:name', async (c) => {
    await (await accounts(c.req.raw)).remove(c.req.param('name'));
    return c.body(null, 204);
  });

  /** Closes all connections that use a token of the user. */
  api.post('/v1/admin/users/:name/logout', async (c) => {
    await (await accounts(c.req.raw)).logOut(c.req.param('name'));
    return c.body(null, 204);
  });

  // Shares the rate limit of logins: it applies to all of `/v1/auth`.
  api.post('/v1/auth/password', async (c) => {
    const { id } = await principalOf(authenticator, c.req.raw);
    await requireLogin(authenticator, c.req.raw, 'change a password');
    const { old, new: password } = checked(NewPassword, await body(ctx, c.req.raw));
    const address = ctx.addressOf(c.req.raw);
    const login = await ctx.administration.accounts.changePassword(id, { old, password }, address);
    return c.json({
      access_token: login.token,
      token_type: 'bearer',
      role: login.principal.role,
    } satisfies Token);
  });

  api.get('/v1/admin/nodes', async (c) => {
    requireAdmin(await principalOf(authenticator, c.req.raw), 'see the nodes');
    return c.json({ nodes: (await ctx.administration.nodes()).map(nodeView) } satisfies Sent<NodeList>);
  });

  api.get('/v1/admin/listeners', async (c) => {
    requirePermission(await principalOf(authenticator, c.req.raw), 'metrics:read');
    return c.json({ listeners: ctx.administration.listeners() } satisfies Sent<ListenerList>);
  });

  api.get('/v1/admin/mcp', async (c) => {
    const principal = await principalOf(authenticator, c.req.raw);
    requirePermission(principal, 'metrics:read');
    const servers = ctx.administration.mcpServers();
    return c.json({
      servers: servers.map((server) => mcpView(server, principal)),
    } satisfies Sent<McpServerList>);
  });

  api.get('/v1/grants', async (c) => {
    const principal = await principalOf(authenticator, c.req.raw);
    const query = checked(PageQuery, c.req.query());
    const { standing, next } = await engine.grants(principal, { ...query, archived: 'included' });
    const grants = standing.flatMap(({ record: { ref, title }, grants }) =>
      grants.map((grant) => ({ session: ref.id, owner: ref.owner, title, grant })),
    );
    return c.json({ grants, next } satisfies Sent<StandingGrants>);
  });
}

function requireAdmin({ role }: Principal, what: string): void {
  if (role !== 'admin') throw new Fault('forbidden', `Only an admin may ${what}.`);
}

const userView = ({ createdAt, ...account }: Account): User => ({
  ...account,
  createdAt: new Date(createdAt).toISOString(),
});

const nodeView = ({ release, startedAt, leaseAge, ...node }: NodeView): Sent<ServerNode> => ({
  ...node,
  version: release,
  startedAt: new Date(startedAt).toISOString(),
  leaseAgeMs: leaseAge,
});

function mcpView({ error, output, ...server }: McpServerView, principal: Principal): Sent<McpServer> {
  const lastError = error && { ...error, at: new Date(error.at).toISOString() };
  return {
    ...server,
    output: principal.role === 'admin' || isLocal(principal) ? output : [],
    error: lastError,
  };
}
