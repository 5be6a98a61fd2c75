/** Streams of notifications: GET before 2026-07-28, and `subscriptions/listen` since then. */
import type { Principal } from '@parlance/protocol';
import { z } from 'zod';
import { requirePermission } from '../../core/index.ts';
import type { EventStream } from '../../http/connection.ts';
import { invalidParams, notificationMessage } from '../kit/json-rpc.ts';
import type { Context } from './context.ts';
import type { Request } from './methods.ts';
import { META } from './peer.ts';
import { LIST_CHANGED, projection, type ResourceNotification } from './projection.ts';
import { encodeMessage, OPEN } from './server-sent-events.ts';

type Source = {
  readonly principal: Principal;
  /** the message for a notification; null to send none */
  readonly shown: (notification: ResourceNotification) => object | null;
};

/** Sends notifications until the stream ends. A reader that is too slow is disconnected, and reconnects. */
async function sendNotifications(ctx: Context, stream: EventStream, source: Source): Promise<void> {
  const { engine, connections } = ctx;
  const { principal, shown } = source;
  const unwatch = engine.watchAll(principal, (event) => {
    for (const { body } of projection.step(null, event)[1]) {
      const message = shown(body);
      if (message) stream.send(encodeMessage(message));
    }
  });
  connections.attach(principal.id, 'mcp', stream);
  stream.send(OPEN);
  try {
    await stream.lost();
  } finally {
    unwatch();
    connections.leave(stream);
  }
}

/** The stream of a session. */
export const sessionNotifications =
  (ctx: Context, principal: Principal, session: string | null) =>
  async (stream: EventStream): Promise<void> => {
    const wants = (uri: string) => session === null || ctx.sessions.wants(principal.id, session, uri);
    const stop =
      session === null ? null : ctx.sessions.onEnd(principal.id, session, () => stream.close(1000, ''));
    const shown = (body: ResourceNotification) =>
      body.params?.uri === undefined || wants(body.params.uri) ? body : null;
    await sendNotifications(ctx, stream, { principal, shown }).finally(() => stop?.());
  };

const Filter = z.object({
  resourcesListChanged: z.boolean().optional(),
  resourceSubscriptions: z.array(z.string().max(2_000)).max(1_000).optional(),
});

/** Throws if the parameters are invalid. */
export function listening(ctx: Context, principal: Principal, { id, params }: Request) {
  requirePermission(principal, 'chat:read');
  const filter = Filter.safeParse(params.notifications);
  if (!filter.success) throw invalidParams('notifications must say what to listen to.');
  const { resourcesListChanged = false, resourceSubscriptions = [] } = filter.data;
  const uris = new Set(resourceSubscriptions);
  const _meta = { [META.subscription]: id };
  const honored = {
    ...(resourcesListChanged && { resourcesListChanged }),
    ...(uris.size > 0 && { resourceSubscriptions: [...uris] }),
  };
  const isWanted = ({ method, params: about }: ResourceNotification) =>
    method === LIST_CHANGED ? resourcesListChanged : uris.has(about?.uri ?? '');
  return async (stream: EventStream): Promise<void> => {
    const acknowledged = { notifications: honored, _meta };
    stream.send(encodeMessage(notificationMessage('notifications/subscriptions/acknowledged', acknowledged)));
    await sendNotifications(ctx, stream, {
      principal,
      shown: (body) => (isWanted(body) ? { ...body, params: { ...body.params, _meta } } : null),
    });
  };
}
