/**
 * `native`: the core's own words over HTTP, for the console, the SDK and scripts. Everything is sayable here: events
 * go out as they are, commands come in as they are. It has no sockets: events are read page by page or as
 * server-sent events.
 */
import {
  type ApprovalId,
  Command,
  Fault,
  type FaultCode,
  type Principal,
  type SessionEvent,
} from '@parlance/protocol';
import { Hono } from 'hono';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import {
  requirePermission,
  type SessionRecord,
  type SessionRef,
  type SessionSnapshot,
} from '../../core/api/index.ts';
import type { Reader } from '../../http/connection.ts';
import { principalOf } from '../../http/request-identity.ts';
import type { ConnectionRegistry } from '../shared/connection-registry.ts';
import { type DialectContext, defineDialect, reported, requestIds } from '../shared/dialect.ts';
import { HTTP_STATUS } from '../shared/http-status.ts';
import type { Stepped } from '../shared/projection.ts';
import { requestLimit } from '../shared/request-limit.ts';
import { retryWords, sayRetryAfter } from '../shared/retry.ts';
import { aboutView } from './about.ts';
import { passActivity } from './activity.ts';
import { adminRoutes } from './admin.ts';
import { encode, follow } from './event-stream.ts';
import { exportAnswer } from './export.ts';
import { passFrames } from './frames.ts';
import { body, checked } from './requests.ts';
import { Answer, CommandHeaders, EventsQuery, PageQuery, SessionsQuery } from './schemas.ts';

export const native = defineDialect<null>({ name: 'native', projection: { start, step, attach }, routes });

// In

function routes(app: Hono, ctx: DialectContext): void {
  const { engine, authenticator } = ctx;
  const api = new Hono();
  // A path with a star is also the path without it.
  for (const path of ['/v1/sessions/*', '/v1/approvals/*', '/v1/activity']) api.use(path, requestLimit(ctx));

  async function found(request: Request, id: string): Promise<{ principal: Principal; ref: SessionRef }> {
    const principal = await principalOf(authenticator, request);
    requirePermission(principal, 'chat:read');
    const ref = await engine.find(principal, id);
    if (!ref) throw new Fault('not_found', 'There is no such session.');
    return { principal, ref };
  }

  api.get('/v1/sessions', async (c) => {
    const principal = await principalOf(authenticator, c.req.raw);
    const { q: title, status, ...query } = checked(SessionsQuery, c.req.query());
    const page = await engine.list(principal, { ...query, title, status: status && [status] });
    return c.json({ sessions: page.sessions.map(sessionView(ctx.connections)), next: page.next });
  });

  api.get('/v1/sessions/:id', async (c) => {
    const { ref } = await found(c.req.raw, c.req.param('id'));
    const record = await engine.record(ref);
    if (!record) throw new Fault('not_found', 'There is no such session.');
    return c.json({ ...sessionView(ctx.connections)(record), now: nowView(await engine.snapshot(ref)) });
  });

  api.delete('/v1/sessions/:id', async (c) => {
    const { principal, ref } = await found(c.req.raw, c.req.param('id'));
    await engine.erase(ref, { principal, dialect: 'native' });
    return c.body(null, 204);
  });

  api.get('/v1/sessions/:id/export', async (c) => {
    const { ref } = await found(c.req.raw, c.req.param('id'));
    const record = await engine.record(ref);
    if (!record) throw new Fault('not_found', 'There is no such session.');
    return exportAnswer(engine, record);
  });

  api.get('/v1/sessions/:id/events', async (c) => {
    const { ref } = await found(c.req.raw, c.req.param('id'));
    const { after, limit } = checked(EventsQuery, {
      ...c.req.query(),
      ...(c.req.header('last-event-id') ? { after: c.req.header('last-event-id') } : {}),
    });
    const { seq: head } = await engine.snapshot(ref);
    const reset = after > head; // a position that is not ours: another database, or a restored one
    const from = reset ? 0 : after;
    if (c.req.header('accept')?.includes('text/event-stream')) {
      return ctx.stream(c.req.raw, {
        dialect: 'native',
        encode: encodeEvent,
        tell: eventsOf(ref, ctx, from, reset),
      });
    }
    const events = await engine.events(ref, from, limit);
    const last = events.at(-1)?.seq ?? from;
    return c.json({ events, head, next: last < head ? last : null, reset });
  });

  api.get('/v1/sessions/:id/frames', async (c) => {
    const { principal, ref } = await found(c.req.raw, c.req.param('id'));
    const tell = framesOf(ref, ctx, principal);
    return ctx.stream(c.req.raw, { dialect: 'native', encode: String, tell });
  });

  api.get('/v1/server', async (c) => {
    const principal = await principalOf(authenticator, c.req.raw);
    return c.json(aboutView(ctx.about, engine, principal));
  });

  api.get('/v1/activity', async (c) => {
    const principal = await principalOf(authenticator, c.req.raw);
    requirePermission(principal, 'chat:read');
    const tell = activityOf(principal, ctx);
    return ctx.stream(c.req.raw, { dialect: 'native', encode: String, tell });
  });

  api.post('/v1/sessions/:id/commands', async (c) => {
    const principal = await principalOf(authenticator, c.req.raw);
    const { 'idempotency-key': key } = checked(CommandHeaders, c.req.header());
    const command = checked(Command, await body(ctx, c.req.raw));
    const ref = await engine.resolve(principal, c.req.param('id'));
    const creates = command.type === 'session.create' || command.type === 'input.submit';
    if (!creates && !(await engine.record(ref))) throw new Fault('not_found', 'There is no such session.');
    const { seq, events } = await engine.send(ref, command, { principal, dialect: 'native', key });
    return c.json({ session: ref.id, seq, facts: events });
  });

  api.get('/v1/sessions/:id/grants', async (c) => {
    const { ref } = await found(c.req.raw, c.req.param('id'));
    return c.json({ grants: (await engine.snapshot(ref)).grants });
  });

  api.delete('/v1/sessions/:id/grants/:grant', async (c) => {
    const { principal, ref } = await found(c.req.raw, c.req.param('id'));
    const grant = c.req.param('grant');
    const { seq } = await engine.send(ref, { type: 'grant.revoke', grant }, { principal, dialect: 'native' });
    return c.json({ grant, seq });
  });

  api.get('/v1/approvals', async (c) => {
    const principal = await principalOf(authenticator, c.req.raw);
    const { waiting, next } = await engine.approvals(principal, checked(PageQuery, c.req.query()));
    const approvals = waiting.flatMap((now) => (now.approval ? [approvalView(now, now.approval)] : []));
    return c.json({ approvals, next });
  });

  api.post('/v1/approvals/:id', async (c) => {
    const principal = await principalOf(authenticator, c.req.raw);
    const answer = checked(Answer, await body(ctx, c.req.raw));
    const approval = c.req.param('id') as ApprovalId;
    const { seq } = await engine.answer(approval, answer, { principal, dialect: 'native' });
    return c.json({ approval, answer: answer.answer, seq });
  });

  adminRoutes(api, ctx);

  api.onError((thrown, c) => {
    const fault = reported(thrown, ctx, requestIds(c.req.raw));
    sayRetryAfter(c, fault);
    return c.json({ error: fault.data(), detail: retryWords(fault) }, FAULTS[fault.code]);
  });
  app.route('/', api);
}

// Out

/*
 * What a stream tells is made apart from the request that asked for it: the request and all that was made for it would
 * otherwise stay in memory until the stream ends.
 */

const encodeEvent = (event: object): string => encode(event as SessionEvent);

const eventsOf =
  (ref: SessionRef, { engine, connections, newId }: DialectContext, after: number, reset: boolean) =>
  async (reader: Reader): Promise<void> => {
    const leave = connections.attachReader(ref, 'native', newId());
    await follow(reader, engine, ref, after, reset).finally(leave);
  };

const framesOf =
  (ref: SessionRef, { connections }: DialectContext, principal: Principal) =>
  (reader: Reader): Promise<void> =>
    passFrames(reader, connections, ref, principal);

const activityOf =
  (principal: Principal, { engine, connections }: DialectContext) =>
  (reader: Reader): Promise<void> =>
    passActivity(reader, engine, connections, principal);

function start(_now: SessionSnapshot): null {
  return null;
}

function step(state: null, event: SessionEvent): Stepped<null, SessionEvent> {
  return [state, [{ body: event }]];
}

function attach(): never[] {
  return [];
}

const sessionView =
  (connections: ConnectionRegistry) =>
  ({
    ref,
    dialect,
    domain,
    agent,
    title,
    status,
    archived,
    messageCount,
    createdAt,
    updatedAt,
    head,
  }: SessionRecord) => ({
    id: ref.id,
    owner: ref.owner,
    dialect,
    domain,
    agent,
    title,
    status,
    createdAt: new Date(createdAt).toISOString(),
    updatedAt: new Date(updatedAt).toISOString(),
    head,
    archived,
    said: messageCount,
    attached: connections.of(ref),
    metadata: { dialect },
  });

const nowView = ({ seq, turn, queued, approval, open, agent, model, approvalMode }: SessionSnapshot) => ({
  seq,
  turn,
  queued,
  approval,
  open,
  agent,
  model,
  approvalMode,
});

const approvalView = ({ ref }: SessionSnapshot, pending: NonNullable<SessionSnapshot['approval']>) => ({
  id: pending.approval,
  session: ref.id,
  owner: ref.owner,
  turn: pending.turn,
  call: pending.call,
  tool: pending.tool,
  input: pending.input,
  ask: pending.ask,
  hash: pending.hash,
});

// Faults

const FAULTS: Record<FaultCode, ContentfulStatusCode> = HTTP_STATUS;
