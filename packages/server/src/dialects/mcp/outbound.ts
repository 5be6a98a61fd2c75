/**
 * Out: notifications about resources, and the streams that carry them: GET before 2026-07-28, and `subscriptions/listen`
 * since then. Answers of the agent are results of tools, and not sent to subscribers.
 */
import type {
  CallToolResult,
  ContentBlock,
  ResourceListChangedNotification,
  ResourceUpdatedNotification,
} from '@modelcontextprotocol/client';
import {
  isTurnEvent,
  type JsonObject,
  type Principal,
  type PromptPart,
  type SessionEvent,
} from '@parlance/protocol';
import { z } from 'zod';
import { type CustomChange, requirePermission } from '../../core/index.ts';
import type { EventStream } from '../../http/connection.ts';
import { invalidParams, notificationMessage, type Params, type RequestId } from '../kit/json-rpc.ts';
import { type Frame, NONE, type Projection } from '../kit/projection.ts';
import type { Context } from './clients.ts';
import { META, uriOf } from './contract.ts';

type ResourceNotification = { readonly jsonrpc: '2.0' } & (
  | ResourceListChangedNotification
  | ResourceUpdatedNotification
);

/** Notifications about what the operator's modules offer are sent to everybody. */
type Notification =
  | ResourceNotification
  | { readonly jsonrpc: '2.0'; readonly method: ListMethod; readonly params?: undefined };
type ListMethod = 'notifications/tools/list_changed' | 'notifications/prompts/list_changed';

const changed = (change: CustomChange): Notification =>
  typeof change === 'object'
    ? { jsonrpc: '2.0', method: 'notifications/resources/updated', params: { uri: change.resource } }
    : { jsonrpc: '2.0', method: `notifications/${change}/list_changed` };

export const projection: Projection<null, ResourceNotification> = {
  start: () => null,
  step: (state, event) => [state, framesOf(event)],
  attach: () => [],
};

const LIST: Frame<ResourceNotification> = {
  body: { jsonrpc: '2.0', method: 'notifications/resources/list_changed' },
};

const updated = ({ session }: SessionEvent): Frame<ResourceNotification> => ({
  body: { jsonrpc: '2.0', method: 'notifications/resources/updated', params: { uri: uriOf(session) } },
});

/** Null if the notification is about the list. */
const uriIn = (notification: Notification): string | null =>
  notification.method === 'notifications/resources/updated' ? notification.params.uri : null;

function framesOf(event: SessionEvent): readonly Frame<ResourceNotification>[] {
  if (!isTurnEvent(event)) {
    switch (event.type) {
      case 'session.created':
      case 'session.archived':
      case 'session.unarchived':
      case 'session.erased':
      // The title is part of the list and of the text.
      case 'session.renamed':
        return [LIST, updated(event)];
      case 'history.imported':
      case 'session.cleared':
      case 'session.rewound':
      case 'session.restored':
        return [updated(event)];
      default:
        return NONE;
    }
  }
  switch (event.type) {
    case 'input.accepted':
    case 'input.cancelled':
    case 'input.joined':
    case 'turn.started':
    case 'turn.resumed':
    case 'turn.ended':
    case 'turn.failed':
    case 'turn.cancelled':
    case 'text.ended':
    case 'step.restarted':
    case 'approval.requested':
    case 'approval.answered':
    case 'question.asked':
    case 'question.repeated':
    case 'question.answered':
    case 'tool.ended':
    case 'files.rewound':
      return [updated(event)];
    case 'agent.changed':
    case 'reasoning.ended':
    case 'step.ended':
    case 'call.requested':
    case 'approval.explained':
    case 'limit.approached':
    case 'instructions.changed':
    case 'tool.started':
    case 'call.deferred':
    case 'call.delegated':
    case 'reasoning.delta':
    case 'text.delta':
    case 'call.arguments.delta':
    case 'call.progress':
      return NONE;
  }
}

// Server-sent events

export const encodeMessage = (message: object): string =>
  `event: message\ndata: ${JSON.stringify(message)}\n\n`;

/** An event without data, from which an interrupted stream can be resumed. */
export const encodeMark = (id: string): string => `id: ${id}\ndata: \n\n`;

/** Opens a stream: the response headers are sent with the first bytes. */
export const OPEN = ': open\n\n';

// Streams of notifications

/**
 * Sends notifications until the stream ends. A reader that is too slow is disconnected, and reconnects. `shown` is the message
 * for a notification; null to send none.
 */
async function sendNotifications(
  { engine, connections, clients }: Context,
  stream: EventStream,
  principal: Principal,
  shown: (notification: Notification) => object | null,
): Promise<void> {
  const unwatch = engine.watchAll(principal, (event) => {
    for (const { body } of projection.step(null, event)[1]) {
      const message = shown(body);
      if (message) stream.send(encodeMessage(message));
    }
  });
  const unwatchOwn = clients.onChange.add((change) => {
    const message = shown(changed(change));
    if (message) stream.send(encodeMessage(message));
  });
  connections.attach(principal.id, 'mcp', stream);
  stream.send(OPEN);
  try {
    await stream.lost();
  } finally {
    unwatch();
    unwatchOwn();
    connections.leave(stream);
  }
}

/** The stream of a session. */
export const sessionNotifications =
  (ctx: Context, principal: Principal, session: string | null) =>
  async (stream: EventStream): Promise<void> => {
    const { clients } = ctx;
    const client = session === null ? null : { principal: principal.id, session };
    const stop = client && clients.onEnd(client, () => stream.close(1000, ''));
    const shown = (body: Notification) => {
      const uri = uriIn(body);
      return !client || uri === null || clients.wants(client, uri) ? body : null;
    };
    await sendNotifications(ctx, stream, principal, shown).finally(() => stop?.());
  };

const Filter = z.object({
  toolsListChanged: z.boolean().optional(),
  promptsListChanged: z.boolean().optional(),
  resourcesListChanged: z.boolean().optional(),
  resourceSubscriptions: z.array(z.string().max(2_000)).max(1_000).optional(),
});

/** Throws if the parameters are invalid. */
export function listening(ctx: Context, principal: Principal, id: RequestId, params: Params) {
  requirePermission(principal, 'chat:read');
  const filter = Filter.safeParse(params.notifications);
  if (!filter.success) throw invalidParams('notifications must say what to listen to.');
  const { resourceSubscriptions = [], ...lists } = filter.data;
  const uris = new Set(resourceSubscriptions);
  const _meta = { [META.subscription]: id };
  const honored = {
    ...Object.fromEntries(Object.entries(lists).filter(([, isWanted]) => isWanted)),
    ...(uris.size > 0 && { resourceSubscriptions: [...uris] }),
  };
  const isWanted = (body: Notification) => {
    switch (body.method) {
      case 'notifications/tools/list_changed':
        return lists.toolsListChanged;
      case 'notifications/prompts/list_changed':
        return lists.promptsListChanged;
      case 'notifications/resources/list_changed':
        return lists.resourcesListChanged;
      case 'notifications/resources/updated':
        return uris.has(body.params.uri);
    }
  };
  return async (stream: EventStream): Promise<void> => {
    const acknowledged = { notifications: honored, _meta };
    stream.send(encodeMessage(notificationMessage('notifications/subscriptions/acknowledged', acknowledged)));
    await sendNotifications(ctx, stream, principal, (body) =>
      isWanted(body) ? { ...body, params: { ...body.params, _meta } } : null,
    );
  };
}

// Parts of the core as content of MCP.

/** Audio and other files are parts of the core; a file's name is the address of a resource. */
export function contentOf(part: PromptPart): ContentBlock {
  switch (part.type) {
    case 'text':
      return { type: 'text', text: part.text };
    case 'image':
      return { type: 'image', data: part.data, mimeType: part.mime };
    case 'file': {
      const { name, mime, data } = part;
      if (mime.startsWith('audio/')) return { type: 'audio', data, mimeType: mime };
      const uri = /^[a-z][a-z0-9+.-]*:/i.test(name) ? name : `file:///${encodeURIComponent(name)}`;
      return isText(mime)
        ? {
            type: 'resource',
            resource: { uri, mimeType: mime, text: Buffer.from(data, 'base64').toString() },
          }
        : { type: 'resource', resource: { uri, mimeType: mime, blob: data } };
    }
  }
}

const isText = (mime: string): boolean => /^text\/|[/+]json\b|[/+]xml\b/.test(mime);

export const ownResult = (
  parts: readonly PromptPart[],
  data: JsonObject | undefined,
  isError: boolean,
): CallToolResult => ({
  content: parts.map(contentOf),
  ...(data && !isError && { structuredContent: data }),
  ...(isError && { isError }),
});
