/** In: the REST endpoints. Errors are `{detail}`. */
import { Fault, type FaultCode, type Principal, ROLE_PERMISSIONS, Role } from '@parlance/protocol';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import { type Agent, type Domain, requirePermission, type SessionRecord } from '../../core/index.ts';
import { principalOf, tokenOf } from '../../http/request-identity.ts';
import type { DialectContext } from '../kit/dialect.ts';
import { endpointOf, type RestApi } from '../kit/endpoint.ts';
import { HTTP_STATUS, retryText } from '../kit/faults.ts';
import {
  AgentsQuery,
  Credentials,
  ListQuery,
  MAX_MESSAGES,
  type Message,
  MessagesQuery,
  NewConversation,
  type schemas,
  ToolRunsQuery,
  WorkflowLogsQuery,
} from './contract.ts';
import { findRun, latestMessages, latestRuns, latestWorkflow } from './history.ts';

/** paths below `/v1`; one that ends in `/*` also matches the path without it */
export const HTTP_PATHS = [
  '/auth/login',
  '/auth/logout',
  '/auth/me',
  '/domains/*',
  '/agents/*',
  '/tools',
  '/conversations/*',
  '/tool-runs/*',
  '/health/*',
  '/metrics',
] as const;

const endpoint = endpointOf<DialectContext, ReturnType<typeof schemas>>();

const authEndpoints = [
  endpoint({
    method: 'post',
    path: '/v1/auth/login',
    summary: 'A token for a name and a password; it works in every dialect',
    security: 'nobody',
    examples: ({ owner }) => [{ body: { username: owner, password: 'a guess' } }],
    body: Credentials,
    answers: { 200: { description: 'The token', schema: 'Token' } },
    errors: [401, 422, 429],
    async handle({ request, body: { username, password } }, { authenticator, addressOf }) {
      const { token, principal } = await authenticator.login(username, password, addressOf(request));
      return { access_token: token, token_type: 'bearer', role: principal.role };
    },
  }),
  endpoint({
    method: 'post',
    path: '/v1/auth/logout',
    summary: 'Revokes the token and closes its connections',
    security: 'token',
    identified: false,
    revokesToken: true,
    answers: { 204: { description: 'The token is revoked' } },
    errors: [401],
    handle: ({ request }, { authenticator }) => authenticator.revoke(shownToken(request)),
  }),
  endpoint({
    method: 'get',
    path: '/v1/auth/me',
    summary: 'The user of the token',
    security: 'token',
    answers: { 200: { description: 'The caller', schema: 'Me' } },
    errors: [401],
    handle: ({ principal: { id, role, permissions } }) => ({ sub: id, role, perms: permissions }),
  }),
];

const catalogEndpoints = [
  endpoint({
    method: 'get',
    path: '/v1/domains',
    summary: 'Lists the domains',
    security: 'caller',
    answers: { 200: { description: 'The list', schema: 'Domains' } },
    errors: [401],
    handle: (_, { engine }) => engine.catalog.listed.domains.map(domainObject),
  }),
  endpoint({
    method: 'get',
    path: '/v1/agents',
    summary: 'Lists the agents, optionally of one domain',
    security: 'caller',
    query: AgentsQuery,
    answers: { 200: { description: 'The list', schema: 'Agents' } },
    errors: [401],
    handle({ query: { domain_id: domain } }, ctx) {
      const { domains, agents } = ctx.engine.catalog.listed;
      const members = domains.find(({ id }) => id === domain)?.agents ?? [];
      const listed = domain === undefined ? agents : agents.filter(({ id }) => members.includes(id));
      return listed.map((agent) => agentObject(agent, ctx, domain));
    },
  }),
  endpoint({
    method: 'get',
    path: '/v1/agents/{agent}',
    summary: 'An agent',
    security: 'caller',
    examples: ({ session }) => [{ params: { agent: 'coder' } }, { params: { agent: session } }],
    answers: { 200: { description: 'The agent', schema: 'Agent' } },
    errors: [401, 404],
    handle({ params }, ctx) {
      const found = ctx.engine.catalog.listed.agents.find(({ id }) => id === params.agent);
      if (!found) throw new Fault('not_found', 'Unknown agent');
      return agentObject(found, ctx);
    },
  }),
  endpoint({
    method: 'get',
    path: '/v1/domains/{domain}',
    summary: 'A domain',
    security: 'caller',
    examples: ({ session }) => [{ params: { domain: 'brainstorming' } }, { params: { domain: session } }],
    answers: { 200: { description: 'The domain', schema: 'Domain' } },
    errors: [401, 404],
    handle({ params }, { engine }) {
      const found = engine.catalog.listed.domains.find(({ id }) => id === params.domain);
      if (!found) throw new Fault('not_found', 'Unknown domain');
      return domainObject(found);
    },
  }),
  endpoint({
    method: 'get',
    path: '/v1/tools',
    summary: 'Lists the tools',
    security: 'caller',
    answers: { 200: { description: 'The list', schema: 'Tools' } },
    errors: [401],
    handle: (_, { engine }) =>
      engine.toolSpecs().map(({ name, description, parameters, requiresApproval }) => ({
        id: name,
        name,
        description,
        parameters,
        requires_approval: requiresApproval,
        allowed_roles: Role.options.filter((role) => ROLE_PERMISSIONS[role].includes('tool:request')),
      })),
  }),
];

const conversationEndpoints = [
  endpoint({
    method: 'get',
    path: '/v1/conversations',
    summary: 'Lists conversations by last change, latest first, without messages',
    security: 'caller',
    examples: ({ session }) => [
      { title: 'List conversations', first: true },
      { query: { limit: '100' } },
      { query: { cursor: session } },
    ],
    query: ListQuery,
    answers: {
      200: {
        description: 'One page',
        schema: 'Conversations',
        headers: { 'x-next-cursor': 'the `cursor` of the next page, if there is one' },
      },
    },
    errors: [401, 403, 422],
    async handle({ c, principal, query: { limit, cursor, domain_id: domain } }, { engine }) {
      const page = await engine.list(principal, { limit, cursor, domain });
      if (page.next !== null) c.header('x-next-cursor', page.next);
      return page.sessions.map((record) => conversationObject(record, principal, []));
    },
  }),
  endpoint({
    method: 'post',
    path: '/v1/conversations',
    summary: 'Starts a conversation',
    security: 'caller',
    examples: ({ session }) => [
      { body: { domain_id: 'software_development' } },
      { body: { domain_id: session } },
      { body: { domain_id: 'general', agent_id: session } },
    ],
    body: NewConversation,
    answers: { 201: { description: 'The conversation', schema: 'Conversation' } },
    errors: [401, 403, 404, 422],
    async handle({ principal, body: { domain_id: domain, agent_id: agent } }, ctx) {
      const ref = await ctx.engine.resolve(principal, ctx.newId());
      const command = { type: 'session.create', domain, agent: agent ?? undefined } as const;
      await ctx.engine.send(ref, command, { principal, dialect: 'conversations' });
      return conversationObject(await recordOf(ctx, principal, ref.id), principal, []);
    },
  }),
  endpoint({
    method: 'get',
    path: '/v1/conversations/{id}',
    summary: 'A conversation with its latest 1,000 messages',
    security: 'caller',
    examples: ({ session }) => [{ params: { id: session } }],
    answers: { 200: { description: 'The conversation', schema: 'Conversation' } },
    errors: [401, 403, 404],
    async handle({ principal, params }, ctx) {
      const found = await recordOf(ctx, principal, params.id);
      return conversationObject(found, principal, await latestMessages(ctx.engine, found, MAX_MESSAGES));
    },
  }),
  endpoint({
    method: 'get',
    path: '/v1/conversations/{id}/messages',
    summary: 'The latest messages, oldest first',
    security: 'caller',
    examples: ({ session }) => [{ params: { id: session } }],
    query: MessagesQuery,
    answers: { 200: { description: 'The messages', schema: 'Messages' } },
    errors: [401, 403, 404, 422],
    handle: async ({ principal, params, query }, ctx) =>
      latestMessages(ctx.engine, await recordOf(ctx, principal, params.id), query.limit),
  }),
  endpoint({
    method: 'get',
    path: '/v1/conversations/{id}/workflow-logs',
    summary: 'The latest workflow frames, oldest first',
    security: 'caller',
    examples: ({ session }) => [{ params: { id: session } }],
    query: WorkflowLogsQuery,
    answers: { 200: { description: 'The frames', schema: 'WorkflowLogs' } },
    errors: [401, 403, 404, 422],
    handle: async ({ principal, params, query }, ctx) =>
      latestWorkflow(ctx.engine, await recordOf(ctx, principal, params.id), query.limit),
  }),
  endpoint({
    method: 'get',
    path: '/v1/tool-runs',
    summary: 'The latest tool calls in the last changed conversations, newest first',
    security: 'caller',
    examples: ({ owner, session }) => [{}, { query: { limit: '100', owner, conversation_id: session } }],
    query: ToolRunsQuery,
    answers: { 200: { description: 'The calls', schema: 'ToolRuns' } },
    errors: [401, 403, 422],
    allow: ({ principal }) => requirePermission(principal, 'tool:read'),
    handle: ({ principal, query }, { engine }) => latestRuns(engine, principal, query.limit),
  }),
  endpoint({
    method: 'get',
    path: '/v1/tool-runs/{id}',
    summary: 'A tool call',
    security: 'caller',
    examples: ({ approval, turn, call }) => [
      { params: { id: approval } },
      { params: { id: `${turn}.${call}` } },
    ],
    answers: { 200: { description: 'The call', schema: 'ToolRun' } },
    errors: [401, 403, 404],
    allow: ({ principal }) => requirePermission(principal, 'tool:read'),
    async handle({ principal, params }, { engine }) {
      const found = await findRun(engine, principal, params.id);
      if (!found) throw new Fault('not_found', 'Unknown tool run');
      return found;
    },
  }),
];

const stateEndpoints = [
  endpoint({
    method: 'get',
    path: '/v1/health',
    summary: 'Readiness',
    security: 'caller',
    answers: { 200: { description: 'The state', schema: 'ServerHealth' } },
    errors: [401],
    async handle(_, ctx) {
      const { status, timestamp } = await healthObject(ctx);
      return { status, timestamp };
    },
  }),
  endpoint({
    method: 'get',
    path: '/v1/health/details',
    summary: 'State and configuration of the server',
    security: 'caller',
    changing: true,
    answers: { 200: { description: 'The state', schema: 'HealthDetails' } },
    errors: [401, 403],
    allow: ({ principal }) => requirePermission(principal, 'health:read'),
    handle: (_, ctx) => healthObject(ctx),
  }),
  endpoint({
    method: 'get',
    path: '/v1/metrics',
    summary: 'The counters and gauges of /metrics as JSON, grouped by label if they have one',
    security: 'caller',
    changing: true,
    answers: { 200: { description: 'The metrics', schema: 'Figures' } },
    errors: [401, 403],
    allow: ({ principal }) => requirePermission(principal, 'metrics:read'),
    handle: (_, { figures }) => figures(),
  }),
];

/** Input that does not match its schema is answered with 422. */
const STATUSES: Record<FaultCode, ContentfulStatusCode> = {
  ...HTTP_STATUS,
  invalid: 422,
  empty: 422,
  no_turn: 404,
  provider_limited: 503,
};

export const rest: RestApi<DialectContext> = {
  endpoints: [...authEndpoints, ...catalogEndpoints, ...conversationEndpoints, ...stateEndpoints],
  identify(request, { authenticator }, security) {
    if (security === 'token') shownToken(request);
    return principalOf(authenticator, request);
  },
  fault: (fault, c) => c.json({ detail: retryText(fault) }, STATUSES[fault.code]),
};

/** Throws `unauthenticated` without a token, even in open mode: `local` has not logged in. */
function shownToken(request: Request): string {
  const token = tokenOf(request);
  if (token === null) throw new Fault('unauthenticated', 'A token is required.');
  return token;
}

/** Throws `not_found`, also for a conversation of another user. */
async function recordOf(
  { engine }: DialectContext,
  principal: Principal,
  id: string,
): Promise<SessionRecord> {
  requirePermission(principal, 'chat:read');
  const ref = await engine.find(principal, id);
  const found = ref && (await engine.record(ref));
  if (!found) throw new Fault('not_found', 'Unknown conversation');
  return found;
}

// Objects

const domainObject = ({ id, name, description, defaultAgent, agents }: Domain) => ({
  id,
  name,
  description,
  default_agent: defaultAgent,
  agents,
});

/** `domain` is the requested one. Agents have the start time of the server and are always ready. */
function agentObject(agent: Agent, { engine, about }: DialectContext, domain?: string) {
  const { id, name, description, tools } = agent;
  const domains = engine.catalog.listed.domains
    .filter(({ agents }) => agents.includes(id))
    .map((one) => one.id);
  const offered = engine.toolSpecs().map((tool) => tool.name);
  return {
    id,
    name,
    description,
    domain_id: domain ?? domains[0] ?? null,
    domain_ids: domains,
    tools: tools ? offered.filter((tool) => tools.includes(tool)) : offered,
    version: about.version,
    state: 'ready' as const,
  };
}

/** The role of another owner is not stored with the conversation, so it is null. */
const conversationObject = (
  { ref, domain, dialect, agent, title, status, createdAt, updatedAt }: SessionRecord,
  principal: Principal,
  messages: Message[],
) => ({
  id: ref.id,
  domain_id: domain,
  agent_id: agent,
  created_by_role: ref.owner === principal.id ? principal.role : null,
  created_by_sub: ref.owner,
  title,
  status,
  created_at: new Date(createdAt).toISOString(),
  updated_at: new Date(updatedAt).toISOString(),
  metadata: { dialect, active_agent: agent },
  messages,
});

/** `uptime_seconds` is that of the process. */
async function healthObject({ about, now, problem }: DialectContext) {
  const unready = await problem();
  return {
    status: unready === null ? ('ok' as const) : ('unavailable' as const),
    reason: unready?.reason ?? null,
    detail: unready?.detail ?? null,
    timestamp: new Date(now()).toISOString(),
    version: about.version,
    uptime_seconds: Math.floor(process.uptime()),
    provider: about.provider,
    model: about.model,
    sandbox: about.sandbox,
    listeners: about.listeners().map(({ dialect, port }) => ({ dialect, port })),
  };
}
