/** In: the REST endpoints. Errors are `{detail}`. */
import {
  type ApprovalId,
  type DurableEvent,
  Fault,
  type FaultCode,
  type Principal,
  ROLE_PERMISSIONS,
  Role,
  type TurnId,
  textOf,
  wasStopped,
} from '@parlance/protocol';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import {
  type Agent,
  type Domain,
  directCallId,
  type Engine,
  requirePermission,
  type SessionRecord,
  type SessionRef,
} from '../../core/index.ts';
import { principalOf, tokenOf } from '../../http/request-identity.ts';
import type { DialectContext } from '../kit/dialect.ts';
import { endpointOf, type RestApi } from '../kit/endpoint.ts';
import { HTTP_STATUS, retryText } from '../kit/faults.ts';
import { nthId } from '../kit/projection.ts';
import { latest, replay } from '../kit/replay.ts';
import { rewoundText } from '../kit/texts.ts';
import { type CallStatus, finalAnswer, NO_CALLS, trackCalls } from '../kit/tracking.ts';
import {
  AgentsQuery,
  type Body,
  Credentials,
  ListQuery,
  MAX_MESSAGES,
  type Message,
  MessagesQuery,
  NewConversation,
  type schemas,
  type ToolRun,
  ToolRunsQuery,
  type WorkflowLog,
  WorkflowLogsQuery,
} from './contract.ts';
import { BETWEEN_BLOCKS, resultOf, type State, startOf, step } from './outbound.ts';

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
    answers: { 200: { description: 'The list', schema: 'Domains' } },
    errors: [401],
    handle: (_, { engine }) => engine.catalog.listed.domains.map(domainObject),
  }),
  endpoint({
    method: 'get',
    path: '/v1/agents',
    summary: 'Lists the agents, optionally of one domain',
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

// What the endpoints read from the events of a conversation: messages, workflow frames and tool calls.

// Messages

/** The latest `limit` messages, oldest first. */
export const latestMessages = (engine: Engine, record: SessionRecord, limit: number): Promise<Message[]> =>
  latest(engine, record, { limit, itemsOf: (events, first) => messagesOf(record, events, first) });

/**
 * One message per input, and one per turn that has text or is a direct call; id and content are those that the
 * projection sends. Events before `first` are folded but not shown.
 */
export function messagesOf(record: SessionRecord, events: readonly DurableEvent[], first = 0): Message[] {
  const messages: Message[] = [];
  let removed: Message[] = [];
  const answers = new Map<TurnId, Message>();
  for (const { event, state } of [...replay(step, startOf(record), events)].slice(first)) {
    switch (event.type) {
      case 'history.imported':
        messages.push(...importedMessages(event));
        break;
      case 'input.accepted':
        // An input without parts lets the model continue; there is no message to show.
        if (event.parts.length > 0 || event.call) {
          const { input, parts, dialect } = event;
          messages.push(message(event, input, 'user', textOf(parts), { dialect }));
        }
        break;
      case 'input.cancelled': {
        const cancelled = messages.findIndex(({ id }) => id === event.input);
        if (cancelled >= 0) messages.splice(cancelled, 1);
        break;
      }
      case 'session.rewound': {
        const replaced = messages.findIndex(({ id }) => id === event.input);
        removed = replaced < 0 ? [] : messages.splice(replaced);
        break;
      }
      case 'session.restored':
        messages.push(...removed);
        break;
      case 'files.rewound':
        messages.push(message(event, event.id, 'assistant', rewoundText(event), {}));
        break;
      case 'text.ended':
      case 'tool.ended': {
        if (event.type === 'tool.ended' && !isAnswer(event, state)) break;
        const known = answers.get(event.turn);
        const answer = known ?? message(event, event.turn, 'assistant', '', {});
        if (!known) messages.push(answer);
        answers.set(event.turn, Object.assign(answer, answered(state)));
        if (event.type === 'text.ended' && event.interrupted) answer.metadata.interrupted = true;
        break;
      }
      case 'turn.resumed':
      case 'step.restarted': {
        // The text of the step is discarded.
        const known = answers.get(event.turn);
        if (known && state.texts.length > 0) Object.assign(known, answered(state));
        else if (known) {
          answers.delete(event.turn);
          messages.splice(messages.indexOf(known), 1);
        }
        break;
      }
    }
  }
  return messages;
}

/** The outcome of a direct call, or of one that ends the turn. */
const isAnswer = (event: DurableEvent<'tool.ended'>, { direct }: State): boolean =>
  (direct && !wasStopped(event)) || finalAnswer(event) !== null;

/** The answer as the projection has it. */
const answered = ({ message, texts, agent }: State): Pick<Message, 'id' | 'content' | 'agent_id'> => ({
  id: message,
  content: texts.join(BETWEEN_BLOCKS),
  agent_id: agent.id,
});

/** The message of the user, and the reply to it as one message. */
function importedMessages(event: DurableEvent<'history.imported'>): Message[] {
  const { input, items, dialect } = event;
  const metadata = { dialect, imported: true };
  const [first] = items;
  const texts = items.flatMap((item) => (item.type === 'text' ? [item.text] : []));
  return [
    ...(input && first?.type === 'user'
      ? [message(event, input, 'user', textOf(first.parts), metadata)]
      : []),
    ...(texts.length > 0
      ? [message(event, event.id, 'assistant', texts.join(BETWEEN_BLOCKS), metadata)]
      : []),
  ];
}

const message = (
  { session, at }: DurableEvent,
  id: string,
  role: Message['role'],
  content: string,
  metadata: Message['metadata'],
): Message => ({
  id,
  conversation_id: session,
  role,
  content,
  created_at: new Date(at).toISOString(),
  metadata,
  agent_id: null,
});

// The workflow frames of a conversation as they were sent, reconstructed from its events.

type WorkflowBody = Extract<Body, { type: `workflow_${string}` }>;

const isWorkflow = (body: Body): body is WorkflowBody => body.type.startsWith('workflow_');

/** The latest `limit` frames, oldest first. */
export const latestWorkflow = (
  engine: Engine,
  record: SessionRecord,
  limit: number,
): Promise<WorkflowLog[]> => {
  const itemsOf = (events: readonly DurableEvent[], first: number): WorkflowLog[] =>
    [...replay(step, startOf(record), events)].slice(first).flatMap(({ event, bodies }) =>
      bodies.filter(isWorkflow).map(({ type, conversationId, payload }, count) => ({
        id: nthId(event.id, count),
        conversation_id: conversationId,
        type,
        payload,
        created_at: new Date(event.at).toISOString(),
      })),
    );
  return latest(engine, record, { limit, itemsOf });
};

// Tool calls in all conversations that the caller may see.

/** A list reads the last page of the conversations that changed last. */
const MAX_CONVERSATIONS = 50;
/** The most pages read for a single run, from the end of its conversation. */
const MAX_PAGES = 100;

/** The latest runs, newest first. */
export async function latestRuns(engine: Engine, principal: Principal, limit: number): Promise<ToolRun[]> {
  const page = { limit: MAX_CONVERSATIONS, archived: 'included' } as const;
  let runs: ToolRun[] = [];
  for (const record of (await engine.list(principal, page)).sessions) {
    const last = runs[limit - 1];
    // Conversations are sorted by last change: this one and those after it have nothing newer.
    if (last && record.updatedAt < Date.parse(last.created_at)) break;
    const { value: events } = await engine.eventsBackwards(record.ref, record.head).next();
    runs = [...runs, ...runsOf(record.ref, events ?? []).values()];
    runs = runs
      .sort((one, other) => Date.parse(other.created_at) - Date.parse(one.created_at))
      .slice(0, limit);
  }
  return runs;
}

/** Null if it is unknown or belongs to another user. */
export async function findRun(engine: Engine, principal: Principal, id: string): Promise<ToolRun | null> {
  const turn = turnIn(id);
  const key = turn
    ? ({ kind: 'turn', id: turn } as const)
    : ({ kind: 'approval', id: id as ApprovalId } as const);
  const ref = await engine.lookup(principal, key);
  const record = ref && (await engine.record(ref));
  if (!record) return null;
  let events: DurableEvent[] = [];
  let pages = 0;
  for await (const before of engine.eventsBackwards(record.ref, record.head)) {
    events = [...before.filter(isOfCall), ...events];
    const runs = runsOf(record.ref, events);
    const found = runs.get(id) ?? [...runs.values()].find((run) => run.id === id);
    if (found) return found;
    if (++pages === MAX_PAGES) return null;
  }
  return null;
}

const OF_CALLS = [
  'call.requested',
  'approval.requested',
  'approval.answered',
  'tool.started',
  'call.deferred',
  'tool.ended',
] as const;
type CallEvent = DurableEvent<(typeof OF_CALLS)[number]>;

const isOfCall = (event: DurableEvent): event is CallEvent => OF_CALLS.some((type) => type === event.type);

/** The runs that start within the events, in order, by turn and call. */
function runsOf({ owner }: SessionRef, events: readonly DurableEvent[]): Map<string, ToolRun> {
  const runs = new Map<string, ToolRun>();
  let calls = NO_CALLS;
  for (const event of events) {
    calls = trackCalls(calls, event);
    if (!isOfCall(event)) continue;
    const key = `${event.turn}.${event.call}`;
    if (event.type === 'call.requested') runs.set(key, requested(event, owner));
    const [run, call] = [runs.get(key), calls[event.call]];
    if (!run || !call) continue;
    run.id = call.approval ?? run.id;
    run.status = RUN_STATUSES[call.status];
    if (event.type === 'tool.ended') run.result = resultOf(event);
  }
  return runs;
}

const requested = (event: DurableEvent<'call.requested'>, owner: string): ToolRun => ({
  id: event.call === directCallId(event.turn) ? event.call : `${event.turn}.${event.call}`,
  tool_id: event.tool,
  status: 'pending',
  requested_by: owner,
  parameters: event.input,
  result: null,
  created_at: new Date(event.at).toISOString(),
  conversation_id: event.session,
});

const RUN_STATUSES: Record<CallStatus, ToolRun['status']> = {
  requested: 'pending',
  asked: 'pending_approval',
  approved: 'approved',
  rejected: 'rejected',
  running: 'running',
  ok: 'completed',
  failed: 'failed',
  denied: 'rejected',
  aborted: 'cancelled',
  unknown: 'unknown',
};

/** The turn in the id of a run; null if it is the id of an approval. */
function turnIn(id: string): TurnId | null {
  const [, direct, turn] = /^(?:call_(.+)|([^.]+)\..+)$/s.exec(id) ?? [];
  return ((direct ?? turn) as TurnId | undefined) ?? null;
}
