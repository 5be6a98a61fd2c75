/** The REST side of `conversations`: login, what there is, and the history. Errors are {detail}. */
import { Fault, type FaultCode, type Principal } from '@parlance/protocol';
import { type Context, Hono } from 'hono';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import type { z } from 'zod';
import { requirePermission, type SessionRecord } from '../../core/api/index.ts';
import { principalOf, tokenOf } from '../../http/request-identity.ts';
import { type DialectContext, reported, requestIds } from '../shared/dialect.ts';
import { HTTP_STATUS } from '../shared/http-status.ts';
import { parseBody } from '../shared/json-body.ts';
import { requestLimit } from '../shared/request-limit.ts';
import { retryWords, sayRetryAfter } from '../shared/retry.ts';
import { latestMessages } from './messages.ts';
import { agentObject, conversationObject, domainObject, healthObject, toolObject } from './objects.ts';
import {
  AgentsQuery,
  Credentials,
  ListQuery,
  MessagesQuery,
  MOST_MESSAGES,
  NewConversation,
  ToolRunsQuery,
  WorkflowLogsQuery,
} from './schemas.ts';
import { findRun, latestRuns } from './tool-runs.ts';
import { latestWorkflow } from './workflow-logs.ts';

export function routes(app: Hono, ctx: DialectContext): void {
  const { engine, authenticator, readBody } = ctx;
  const api = new Hono();
  for (const path of LIMITED) api.use(path, requestLimit(ctx));
  const caller = (c: Context) => principalOf(authenticator, c.req.raw);

  api.onError((thrown, c) => {
    const fault = reported(thrown, ctx, requestIds(c.req.raw));
    if (fault.code === 'unauthenticated') c.header('WWW-Authenticate', 'Bearer');
    sayRetryAfter(c, fault);
    return c.json({ detail: retryWords(fault) }, STATUSES[fault.code]);
  });

  api.post('/auth/login', async (c) => {
    const { username, password } = await body(readBody(c.req.raw, 'anonymous'), Credentials);
    const { token, principal } = await authenticator.login(username, password, ctx.addressOf(c.req.raw));
    return c.json({ access_token: token, token_type: 'bearer', role: principal.role });
  });

  /** The token is good for nothing from now on; whatever is connected with it is let go. */
  api.post('/auth/logout', async (c) => {
    await authenticator.revoke(shownToken(c));
    return c.body(null, 204);
  });

  api.get('/auth/me', async (c) => {
    shownToken(c);
    const { id, role, permissions } = await caller(c);
    return c.json({ sub: id, role, perms: permissions });
  });

  api.get('/domains', async (c) => {
    await caller(c);
    return c.json(engine.catalog.listed.domains.map(domainObject));
  });

  api.get('/domains/:domain', async (c) => {
    await caller(c);
    const found = engine.catalog.listed.domains.find(({ id }) => id === c.req.param('domain'));
    if (!found) throw new Fault('not_found', 'Unknown domain');
    return c.json(domainObject(found));
  });

  api.get('/agents', async (c) => {
    await caller(c);
    const { domain_id: domain } = fitting(AgentsQuery, c.req.query());
    const { domains, agents } = engine.catalog.listed;
    const members = domains.find(({ id }) => id === domain)?.agents ?? [];
    const wanted = domain === undefined ? agents : agents.filter(({ id }) => members.includes(id));
    return c.json(wanted.map((agent) => agentObject(agent, ctx, domain)));
  });

  api.get('/agents/:agent', async (c) => {
    await caller(c);
    const found = engine.catalog.listed.agents.find(({ id }) => id === c.req.param('agent'));
    if (!found) throw new Fault('not_found', 'Unknown agent');
    return c.json(agentObject(found, ctx));
  });

  api.get('/tools', async (c) => {
    await caller(c);
    return c.json(engine.toolSpecs().map(toolObject));
  });

  api.get('/conversations', async (c) => {
    const principal = await caller(c);
    const { limit, cursor, domain_id: domain } = fitting(ListQuery, c.req.query());
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
    const messages = await latestMessages(engine, found, MOST_MESSAGES);
    return c.json(conversationObject(found, principal, messages));
  });

  api.get('/conversations/:id/messages', async (c) => {
    const principal = await caller(c);
    const found = await record(principal, c.req.param('id'));
    const { limit } = fitting(MessagesQuery, c.req.query());
    return c.json(await latestMessages(engine, found, limit));
  });

  api.get('/conversations/:id/workflow-logs', async (c) => {
    const principal = await caller(c);
    const found = await record(principal, c.req.param('id'));
    const { limit } = fitting(WorkflowLogsQuery, c.req.query());
    return c.json(await latestWorkflow(engine, found, limit));
  });

  api.get('/tool-runs', async (c) => {
    const principal = await caller(c);
    requirePermission(principal, 'tool:read');
    const { limit } = fitting(ToolRunsQuery, c.req.query());
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

  /** What is not the principal's is answered as what is not there. */
  async function record(principal: Principal, id: string): Promise<SessionRecord> {
    requirePermission(principal, 'chat:read');
    const ref = await engine.find(principal, id);
    const found = ref && (await engine.record(ref));
    if (!found) throw new Fault('not_found', 'Unknown conversation');
    return found;
  }

  app.route('/v1', api);
}

/** How often one caller may ask for these is limited. */
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

// In

/** Needed in open mode, too: `local` is nobody who logged in. */
function shownToken(c: Context): string {
  const token = tokenOf(c.req.raw);
  if (token === null) throw new Fault('unauthenticated', 'A token is required.');
  return token;
}

/** Throws `invalid` where the body is not JSON or does not fit. */
async function body<Schema extends z.ZodType>(
  bytes: Promise<Uint8Array>,
  schema: Schema,
): Promise<z.output<Schema>> {
  const parsed = parseBody(await bytes);
  if ('problem' in parsed) throw new Fault('invalid', `The body ${parsed.problem}`, { cause: parsed.cause });
  return fitting(schema, parsed.value);
}

function fitting<Schema extends z.ZodType>(schema: Schema, value: unknown): z.output<Schema> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  throw new Fault('invalid', `${issue?.path.join('.') || 'body'}: ${issue?.message}`);
}

// Faults

/** The contract's servers answer what does not fit with 422. */
const STATUSES: Record<FaultCode, ContentfulStatusCode> = {
  ...HTTP_STATUS,
  invalid: 422,
  empty: 422,
  no_turn: 404,
  provider_limited: 503,
};
