/** Streams of notifications: GET before 2026-07-28, and `subscriptions/listen` since then. */
import type { Principal } from '@parlance/protocol';
import { z } from 'zod';
import { requirePermission } from '../../core/api/index.ts';
import type { EventStream } from '../../http/connection.ts';
import type { Context } from './context.ts';
import { invalidParams } from './faults.ts';
import { notificationMessage, type Params, type RequestId, resultMessage } from './json-rpc.ts';
import { META } from './peer.ts';
import { LIST_CHANGED, projection, type ResourceNotification } from './projection.ts';
import { encodeMessage } from './server-sent-events.ts';

type Source = {
  readonly principal: Principal;
  /** the message to send for a notification; null: none */
  readonly shown: (notification: ResourceNotification) => object | null;
  /** the last message, if the server ends the stream */
  readonly last?: object;
  /** ends the stream when it is called; returns what stops that */
  readonly onEnd?: (end: () => void) => () => void;
};

/** Sends notifications until the reader is gone. One that is too slow is disconnected: it connects again. */
async function sendNotifications(ctx: Context, stream: EventStream, source: Source): Promise<void> {
  const { engine, connections, streams } = ctx;
  const { principal, shown, last, onEnd } = source;
  const unwatch = engine.watchAll(principal, (event) => {
    for (const { body } of projection.step(null, event)[1]) {
      const message = shown(body);
      if (message) stream.send(encodeMessage(message));
    }
  });
  const ended = Promise.withResolvers<void>();
  const stops = [streams.add(ended.resolve), onEnd?.(ended.resolve)];
  connections.attach(principal.id, 'mcp', stream);
  try {
    const isEnded = await Promise.race([stream.lost().then(() => false), ended.promise.then(() => true)]);
    if (isEnded && last) stream.send(encodeMessage(last));
  } finally {
    unwatch();
    connections.leave(stream);
    for (const stop of stops) stop?.();
  }
}

/** The stream of a session. */
export const sessionNotifications =
  (ctx: Context, principal: Principal, session: string | null) =>
  (stream: EventStream): Promise<void> => {
    const wants = (uri: string) => session === null || ctx.sessions.wants(principal.id, session, uri);
    return sendNotifications(ctx, stream, {
      principal,
      shown: (body) => (body.params?.uri === undefined || wants(body.params.uri) ? body : null),
      ...(session !== null && {
        onEnd: (end: () => void) => ctx.sessions.onEnd(principal.id, session, end),
      }),
    });
  };

const Filter = z.object({
  resourcesListChanged: z.boolean().optional(),
  resourceSubscriptions: z.array(z.string().max(2_000)).max(1_000).optional(),
});

/** Throws if the parameters do not fit. */
export function listening(
  ctx: Context,
  principal: Principal,
  { id, params }: { id: RequestId; params: Params },
) {
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
      last: resultMessage(id, { resultType: 'complete', _meta }),
    });
  };
}
