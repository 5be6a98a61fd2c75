/** The streams of server-sent events, and the events of a session in pages. */
import type { Principal, SessionEvent } from '@parlance/protocol';
import type { Hono } from 'hono';
import { requirePermission, type SessionRef } from '../../core/api/index.ts';
import type { EventStream } from '../../http/connection.ts';
import { principalOf } from '../../http/request-identity.ts';
import { streamActivity } from './activity.ts';
import type { Context } from './context.ts';
import { type EventSource, streamEvents } from './event-stream.ts';
import { streamFrames } from './frames.ts';
import { encode } from './projection.ts';
import { checked, sessionOf } from './requests.ts';
import { EventsQuery } from './schemas.ts';

export function streamRoutes(api: Hono, ctx: Context): void {
  const { engine, authenticator } = ctx;

  api.get('/v1/sessions/:id/events', async (c) => {
    const { ref } = await sessionOf(ctx, c.req.raw, c.req.param('id'));
    const { after, limit } = checked(EventsQuery, {
      ...c.req.query(),
      ...(c.req.header('last-event-id') ? { after: c.req.header('last-event-id') } : {}),
    });
    const { seq: head } = await engine.snapshot(ref);
    const reset = after > head; // a position of another or a restored database
    const from = reset ? 0 : after;
    if (c.req.header('accept')?.includes('text/event-stream')) {
      return ctx.stream(c.req.raw, {
        dialect: 'native',
        encode: encodeEvent,
        produce: eventsOf(ref, ctx, { after: from, reset }),
      });
    }
    const events = await engine.events(ref, from, limit);
    const last = events.at(-1)?.seq ?? from;
    return c.json({ events, head, next: last < head ? last : null, reset });
  });

  api.get('/v1/sessions/:id/frames', async (c) => {
    const { principal, ref } = await sessionOf(ctx, c.req.raw, c.req.param('id'));
    const produce = framesOf(ref, ctx, principal);
    return ctx.stream(c.req.raw, { dialect: 'native', encode: String, produce });
  });

  api.get('/v1/activity', async (c) => {
    const principal = await principalOf(authenticator, c.req.raw);
    requirePermission(principal, 'chat:read');
    const produce = activityOf(principal, ctx);
    return ctx.stream(c.req.raw, { dialect: 'native', encode: String, produce });
  });
}

/*
 * The producers are created outside of the request handlers: a closure in a handler would keep the request in
 * memory until the stream ends.
 */

const encodeEvent = (event: object): string => encode(event as SessionEvent);

const eventsOf =
  (ref: SessionRef, { engine, hub }: Context, from: Pick<EventSource, 'after' | 'reset'>) =>
  (stream: EventStream): Promise<void> =>
    streamEvents(stream, { ...from, engine, ref, hub });

const framesOf =
  (ref: SessionRef, { connections }: Context, principal: Principal) =>
  (stream: EventStream): Promise<void> =>
    streamFrames(stream, { connections, ref, principal });

const activityOf =
  (principal: Principal, { engine, connections, administration }: Context) =>
  (stream: EventStream): Promise<void> =>
    streamActivity(stream, { engine, connections, principal, setup: administration.setup });
