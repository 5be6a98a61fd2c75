/** Administration: users, listeners, nodes, MCP servers, standing grants and prices. */
import { Fault, type Principal } from '@parlance/protocol';
import {
  type McpServer,
  NewPassword,
  NewPrice,
  NewUser,
  PageQuery,
  type ServerNode,
  type User,
  UserChange,
} from '@parlance/protocol/api';
import { requirePermission } from '../../core/index.ts';
import type { Account } from '../../http/accounts.ts';
import { requireLogin } from '../../http/request-identity.ts';
import type { McpServerView, NodeView } from '../kit/administration.ts';
import type { Sent } from '../kit/endpoint.ts';
import { type Call, endpoint, type NativeContext } from './context.ts';
import { isLocal } from './setup.ts';
import { timeView } from './views.ts';

const onlyAdmins =
  (what: string) =>
  ({ principal }: Call): void => {
    if (principal.role !== 'admin') throw new Fault('forbidden', `Only an admin may ${what}.`);
  };

export async function managesUsers(call: Call, { authenticator }: NativeContext): Promise<void> {
  onlyAdmins('manage users')(call);
  if (call.request.method === 'GET') return;
  await requireLogin(authenticator, call.request, 'manage users');
}

const USERS = { security: 'token', allow: managesUsers } as const;

const readsMetrics = ({ principal }: Call): void => requirePermission(principal, 'metrics:read');

export const adminEndpoints = [
  endpoint({
    ...USERS,
    method: 'get',
    path: '/v1/admin/users',
    summary: 'Lists the users; for admins',
    answers: { 200: { description: 'The users, by name', schema: 'UserList' } },
    errors: [401, 403],
    handle: async (_, { administration }) => ({
      users: (await administration.accounts.list()).map(userView),
    }),
  }),
  endpoint({
    ...USERS,
    method: 'post',
    path: '/v1/admin/users',
    summary: 'Adds a user; for admins',
    examples: ({ owner }) => [{ body: { name: owner, password: 'a password', role: 'admin' } }],
    body: NewUser,
    answers: { 201: { description: 'The user', schema: 'User' } },
    errors: [400, 401, 403],
    handle: async ({ body }, { administration }) => userView(await administration.accounts.add(body)),
  }),
  endpoint({
    ...USERS,
    method: 'patch',
    path: '/v1/admin/users/{name}',
    summary:
      'Changes the role or password of a user and revokes their tokens; for admins. The last admin cannot be demoted',
    examples: ({ owner: name }) => [
      { params: { name }, body: { password: 'a password' } },
      { params: { name }, body: { role: 'user' } },
    ],
    body: UserChange,
    answers: { 200: { description: 'The user', schema: 'User' } },
    errors: [400, 401, 403, 404],
    handle: async ({ params, body }, { administration }) =>
      userView(await administration.accounts.change(params.name, body)),
  }),
  endpoint({
    ...USERS,
    method: 'delete',
    path: '/v1/admin/users/{name}',
    summary: 'Removes a user and revokes their tokens; for admins. The last admin cannot be removed',
    examples: ({ owner: name }) => [{ params: { name } }],
    answers: { 204: { description: 'Removed' } },
    errors: [401, 403, 404],
    handle: ({ params }, { administration }) => administration.accounts.remove(params.name),
  }),
  endpoint({
    ...USERS,
    method: 'post',
    path: '/v1/admin/users/{name}/logout',
    summary: 'Revokes all tokens of a user and closes their connections; for admins',
    examples: ({ owner: name }) => [{ params: { name } }],
    answers: { 204: { description: 'The tokens are revoked' } },
    errors: [401, 403, 404],
    handle: ({ params }, { administration }) => administration.accounts.logOut(params.name),
  }),
  endpoint({
    method: 'post',
    path: '/v1/auth/password',
    summary: 'Changes the password of the caller and revokes earlier tokens',
    security: 'token',
    examples: ({ owner }) => [{ body: { old: `${owner}-password`, new: 'a password' } }],
    body: NewPassword,
    answers: { 200: { description: 'Changed; a new token', schema: 'Token' } },
    errors: [400, 401, 403, 429],
    allow: ({ request }, { authenticator }) => requireLogin(authenticator, request, 'change a password'),
    async handle({ principal, request, body }, { administration, addressOf }) {
      const change = { old: body.old, password: body.new };
      const login = await administration.accounts.changePassword(principal.id, change, addressOf(request));
      return { access_token: login.token, token_type: 'bearer', role: login.principal.role };
    },
  }),
  endpoint({
    method: 'get',
    path: '/v1/admin/nodes',
    summary: 'The nodes that serve together, with the sessions that each drives; for admins',
    security: 'token',
    changing: true,
    answers: {
      200: { description: 'In the order of their start; one without DATABASE_URL', schema: 'NodeList' },
    },
    errors: [401, 403],
    allow: onlyAdmins('see the nodes'),
    handle: async (_, { administration }) => ({ nodes: (await administration.nodes()).map(nodeView) }),
  }),
  endpoint({
    method: 'get',
    path: '/v1/admin/listeners',
    summary: 'The listeners with their socket counts',
    changing: true,
    answers: { 200: { description: 'The listeners, the default one first', schema: 'ListenerList' } },
    errors: [401, 403],
    allow: readsMetrics,
    handle: (_, { administration }) => ({ listeners: administration.listeners() }),
  }),
  endpoint({
    method: 'get',
    path: '/v1/admin/mcp',
    summary: 'The configured MCP servers and their state',
    answers: { 200: { description: 'The servers', schema: 'McpServerList' } },
    errors: [401, 403],
    allow: readsMetrics,
    handle: ({ principal }, { administration }) => ({
      servers: administration.mcpServers().map((server) => mcpView(server, principal)),
    }),
  }),
  endpoint({
    method: 'get',
    path: '/v1/grants',
    summary: 'The standing grants in all sessions of the caller',
    examples: ({ owner }) => [{}, { query: { owner, limit: '500' } }],
    query: PageQuery,
    answers: { 200: { description: 'The grants of one page of sessions', schema: 'StandingGrants' } },
    errors: [400, 401, 403],
    async handle({ principal, query }, { engine }) {
      const { standing, next } = await engine.grants(principal, { ...query, archived: 'included' });
      const grants = standing.flatMap(({ record: { ref, title }, grants }) =>
        grants.map((grant) => ({ session: ref.id, owner: ref.owner, title, grant })),
      );
      return { grants, next };
    },
  }),
];

export const priceEndpoints = [
  endpoint({
    method: 'get',
    path: '/v1/prices',
    summary:
      'Prices of models in US dollars per million tokens: as an admin has set them, else of the catalogue',
    answers: { 200: { description: 'By the name of the model', schema: 'Prices' } },
    errors: [401],
    handle: async (_, { administration }) => ({ prices: await administration.prices.list() }),
  }),
  endpoint({
    method: 'post',
    path: '/v1/admin/prices',
    summary: 'Sets or removes the price of a model; for admins',
    security: 'token',
    examples: () => [{ body: { model: 'gpt-5', price: { input: 1.25, output: 10, cached: 0.125 } } }],
    body: NewPrice,
    answers: { 200: { description: 'All prices', schema: 'Prices' } },
    errors: [400, 401, 403],
    allow: onlyAdmins('set prices'),
    async handle({ body: { model, price } }, { administration: { prices } }) {
      await prices.set(model, price);
      return { prices: await prices.list() };
    },
  }),
];

const userView = ({ createdAt, ...account }: Account): User => ({
  ...account,
  createdAt: timeView(createdAt),
});

const nodeView = ({ release, startedAt, leaseAge, ...node }: NodeView): Sent<ServerNode> => ({
  ...node,
  version: release,
  startedAt: timeView(startedAt),
  leaseAgeMs: leaseAge,
});

function mcpView({ error, output, ...server }: McpServerView, principal: Principal): Sent<McpServer> {
  const lastError = error && { ...error, at: timeView(error.at) };
  return {
    ...server,
    output: principal.role === 'admin' || isLocal(principal) ? output : [],
    error: lastError,
  };
}
