/** In: the REST endpoints. Errors are `{detail}`. */
import { type DurableEvent, Fault, type Principal } from '@parlance/protocol';
import { type Engine, requirePermission, type SessionRecord } from '../../core/index.ts';
import { principalOf, tokenOf } from '../../http/request-identity.ts';
import type { DialectContext } from '../kit/dialect.ts';
import { endpointOf, type RestApi } from '../kit/endpoint.ts';
import { nthId } from '../kit/ids.ts';
import { latest } from '../kit/latest-items.ts';
import { replay } from '../kit/replay.ts';
import { retryText } from '../kit/retry.ts';
import type { Body } from './contract.ts';
import type { schemas } from './describe.ts';
import { STATUSES } from './faults.ts';
import { latestMessages } from './messages.ts';
import { agentObject, conversationObject, domainObject, healthObject, toolObject } from './objects.ts';
import { startOf, step } from './projection.ts';
import {
  AgentsQuery,
  Credentials,
  ListQuery,
  MAX_MESSAGES,
  MessagesQuery,
  NewConversation,
  ToolRunsQuery,
  WorkflowLogsQuery,
} from './schemas.ts';
import { findRun, latestRuns } from './tool-runs.ts';

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

type RouteContext = Pick<
  DialectContext,
  | 'about'
  | 'addressOf'
  | 'countRequest'
  | 'authenticator'
  | 'engine'
  | 'figures'
  | 'log'
  | 'newId'
  | 'now'
  | 'problem'
  | 'readBody'
>;

const endpoint = endpointOf<RouteContext, typeof schemas>();

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
    handle: (_, { engine }) => engine.toolSpecs().map(toolObject),
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

export const rest: RestApi<RouteContext> = {
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
async function recordOf({ engine }: RouteContext, principal: Principal, id: string): Promise<SessionRecord> {
  requirePermission(principal, 'chat:read');
  const ref = await engine.find(principal, id);
  const found = ref && (await engine.record(ref));
  if (!found) throw new Fault('not_found', 'Unknown conversation');
  return found;
}

// The workflow frames of a conversation as they were sent, reconstructed from its events.

type WorkflowBody = Extract<Body, { type: `workflow_${string}` }>;

type WorkflowLog = {
  id: string;
  conversation_id: string;
  type: WorkflowBody['type'];
  payload: WorkflowBody['payload'];
  created_at: string;
};

/** The latest `limit` frames, oldest first. */
const latestWorkflow = (engine: Engine, record: SessionRecord, limit: number): Promise<WorkflowLog[]> =>
  latest(engine, record, { limit, itemsOf: (events, first) => workflowOf(record, events, first) });

const workflowOf = (record: SessionRecord, events: readonly DurableEvent[], first: number): WorkflowLog[] =>
  [...replay(step, startOf(record), events)]
    .slice(first)
    .flatMap(({ event, bodies }) =>
      bodies.filter(isWorkflow).map((body, count) => logOf(event, body, count)),
    );

const isWorkflow = (body: Body): body is WorkflowBody => body.type.startsWith('workflow_');

const logOf = (
  event: DurableEvent,
  { type, conversationId, payload }: WorkflowBody,
  count: number,
): WorkflowLog => ({
  id: nthId(event.id, count),
  conversation_id: conversationId,
  type,
  payload,
  created_at: new Date(event.at).toISOString(),
});
