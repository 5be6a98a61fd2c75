/** In: the REST endpoints. Errors are `{detail}`. */
import { type DurableEvent, Fault, type Principal } from '@parlance/protocol';
import { type Context, Hono } from 'hono';
import { type Engine, requirePermission, type SessionRecord } from '../../core/index.ts';
import { principalOf } from '../../http/request-identity.ts';
import { type DialectContext, reported, requestIds } from '../kit/dialect.ts';
import { nthId } from '../kit/ids.ts';
import { latest } from '../kit/latest-items.ts';
import { replay } from '../kit/replay.ts';
import { requestLimit } from '../kit/request-limit.ts';
import { retryText, setRetryAfter } from '../kit/retry.ts';
import { authRoutes } from './auth-routes.ts';
import type { Body } from './bodies.ts';
import { catalogRoutes } from './catalog-routes.ts';
import { STATUSES } from './faults.ts';
import { latestMessages } from './messages.ts';
import { conversationObject, healthObject } from './objects.ts';
import { startOf, step } from './projection.ts';
import { body, parseAs } from './request-body.ts';
import {
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

export function routes(app: Hono, ctx: RouteContext): void {
  const { engine, authenticator, readBody } = ctx;
  const api = new Hono();
  for (const path of LIMITED) api.use(path, requestLimit(ctx));
  const caller = (c: Context) => principalOf(authenticator, c.req.raw);

  api.onError((thrown, c) => {
    const fault = reported(thrown, ctx, requestIds(c.req.raw));
    if (fault.code === 'unauthenticated') c.header('WWW-Authenticate', 'Bearer');
    setRetryAfter(c, fault);
    return c.json({ detail: retryText(fault) }, STATUSES[fault.code]);
  });

  authRoutes(api, ctx);
  catalogRoutes(api, ctx);

  api.get('/conversations', async (c) => {
    const principal = await caller(c);
    const { limit, cursor, domain_id: domain } = parseAs(ListQuery, c.req.query());
    const page = await engine.list(principal, { limit, cursor, domain });
    if (page.next !== null) c.header('x-next-cursor', page.next);
    return c.json(page.sessions.map((record) => conversationObject(record, principal, [])));
  });

  api.post('/conversations', async (c) => {
    const principal = await caller(c);
    const { domain_id: domain, agent_id: agent } = await body(
      readBody(c.req.raw, 'identified'),
      NewConversation,
    );
    const ref = await engine.resolve(principal, ctx.newId());
    const command = { type: 'session.create', domain, agent: agent ?? undefined } as const;
    await engine.send(ref, command, { principal, dialect: 'conversations' });
    return c.json(conversationObject(await record(principal, ref.id), principal, []), 201);
  });

  api.get('/conversations/:id', async (c) => {
    const principal = await caller(c);
    const found = await record(principal, c.req.param('id'));
    const messages = await latestMessages(engine, found, MAX_MESSAGES);
    return c.json(conversationObject(found, principal, messages));
  });

  api.get('/conversations/:id/messages', async (c) => {
    const principal = await caller(c);
    const found = await record(principal, c.req.param('id'));
    const { limit } = parseAs(MessagesQuery, c.req.query());
    return c.json(await latestMessages(engine, found, limit));
  });

  api.get('/conversations/:id/workflow-logs', async (c) => {
    const principal = await caller(c);
    const found = await record(principal, c.req.param('id'));
    const { limit } = parseAs(WorkflowLogsQuery, c.req.query());
    return c.json(await latestWorkflow(engine, found, limit));
  });

  api.get('/tool-runs', async (c) => {
    const principal = await caller(c);
    requirePermission(principal, 'tool:read');
    const { limit } = parseAs(ToolRunsQuery, c.req.query());
    return c.json(await latestRuns(engine, principal, limit));
  });

  api.get('/tool-runs/:id', async (c) => {
    const principal = await caller(c);
    requirePermission(principal, 'tool:read');
    const found = await findRun(engine, principal, c.req.param('id'));
    if (!found) throw new Fault('not_found', 'Unknown tool run');
    return c.json(found);
  });

  api.get('/health', async (c) => {
    await caller(c);
    const { status, timestamp } = await healthObject(ctx);
    return c.json({ status, timestamp });
  });

  api.get('/health/details', async (c) => {
    requirePermission(await caller(c), 'health:read');
    return c.json(await healthObject(ctx));
  });

  api.get('/metrics', async (c) => {
    requirePermission(await caller(c), 'metrics:read');
    return c.json(await ctx.figures());
  });

  /** Throws `not_found`, also for a conversation of another user. */
  async function record(principal: Principal, id: string): Promise<SessionRecord> {
    requirePermission(principal, 'chat:read');
    const ref = await engine.find(principal, id);
    const found = ref && (await engine.record(ref));
    if (!found) throw new Fault('not_found', 'Unknown conversation');
    return found;
  }

  app.route('/v1', api);
}

/** Paths with a rate limit per caller. */
const LIMITED = [
  '/auth/*',
  '/domains/*',
  '/agents/*',
  '/tools',
  '/conversations/*',
  '/tool-runs/*',
  '/health/*',
  '/metrics',
];

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
