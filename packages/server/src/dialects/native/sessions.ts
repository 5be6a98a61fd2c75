/** Sessions and their commands. */
import { Command, Fault } from '@parlance/protocol';
import {
  CommandHeaders,
  ExportQuery,
  type Receipt,
  type SessionDetails,
  type SessionPage,
  SessionsQuery,
  type TagList,
} from '@parlance/protocol/api';
import type { Hono } from 'hono';
import { principalOf } from '../../http/request-identity.ts';
import type { Context } from './context.ts';
import { exportAnswer } from './export.ts';
import { body, checked, type Sent, sessionOf } from './requests.ts';
import { driverView, nowView, sessionView } from './views.ts';

export function sessionRoutes(api: Hono, ctx: Context): void {
  const { engine, authenticator } = ctx;

  api.get('/v1/sessions', async (c) => {
    const principal = await principalOf(authenticator, c.req.raw);
    const { q: title, status, pinned, ...query } = checked(SessionsQuery, c.req.query());
    const page = await engine.list(principal, {
      ...query,
      title,
      status: status && [status],
      pinned: pinned && true,
    });
    return c.json({
      sessions: page.sessions.map((record) => sessionView(record, ctx.connections.of(record.ref))),
      next: page.next,
    } satisfies Sent<SessionPage>);
  });

  api.get('/v1/tags', async (c) => {
    const principal = await principalOf(authenticator, c.req.raw);
    return c.json({ tags: await engine.tags(principal) } satisfies Sent<TagList>);
  });

  api.get('/v1/sessions/:id', async (c) => {
    const { principal, ref } = await sessionOf(ctx, c.req.raw, c.req.param('id'));
    const record = await engine.record(ref);
    if (!record) throw new Fault('not_found', 'There is no such session.');
    return c.json({
      ...sessionView(record, ctx.connections.of(ref)),
      now: nowView(await engine.snapshot(ref)),
      ...(principal.role === 'admin' && { driver: driverView(await engine.driver(ref)) }),
    } satisfies Sent<SessionDetails>);
  });

  api.delete('/v1/sessions/:id', async (c) => {
    const { principal, ref } = await sessionOf(ctx, c.req.raw, c.req.param('id'));
    await engine.erase(ref, { principal, dialect: 'native' });
    return c.body(null, 204);
  });

  api.get('/v1/sessions/:id/export', async (c) => {
    const { ref } = await sessionOf(ctx, c.req.raw, c.req.param('id'));
    const record = await engine.record(ref);
    if (!record) throw new Fault('not_found', 'There is no such session.');
    return exportAnswer(engine, record, checked(ExportQuery, c.req.query()).format);
  });

  api.post('/v1/sessions/:id/commands', async (c) => {
    const principal = await principalOf(authenticator, c.req.raw);
    const { 'idempotency-key': key } = checked(CommandHeaders, c.req.header());
    const command = checked(Command, await body(ctx, c.req.raw));
    const ref = await engine.resolve(principal, c.req.param('id'));
    const creates = command.type === 'session.create' || command.type === 'input.submit';
    if (!creates && !(await engine.record(ref))) throw new Fault('not_found', 'There is no such session.');
    const { seq, events } = await engine.send(ref, command, {
      principal,
      dialect: 'native',
      key,
      keyOnce: true,
    });
    return c.json({ session: ref.id, seq, facts: events } satisfies Sent<Receipt>);
  });
}
