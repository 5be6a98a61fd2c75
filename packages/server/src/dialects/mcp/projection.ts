/**
 * Out: converts events to notifications about resources. Answers of the agent are results of tools, and not
 * sent to subscribers.
 */
import { isTurnEvent, type SessionEvent } from '@parlance/protocol';
import { notificationMessage } from '../kit/json-rpc.ts';
import { type Frame, NONE, type Projection } from '../kit/projection.ts';
import { uriOf } from './resources.ts';

export const UPDATED = 'notifications/resources/updated';
export const LIST_CHANGED = 'notifications/resources/list_changed';

export type ResourceNotification = {
  readonly jsonrpc: '2.0';
  readonly method: string;
  readonly params?: { readonly uri?: string };
};

export const projection: Projection<null, ResourceNotification> = {
  start: () => null,
  step: (state, event) => [state, framesOf(event)],
  attach: () => [],
};

const LIST: Frame<ResourceNotification> = { body: notificationMessage(LIST_CHANGED) };

const updated = ({ session }: SessionEvent): Frame<ResourceNotification> => ({
  body: notificationMessage(UPDATED, { uri: uriOf(session) }),
});

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
        return [updated(event)];
      default:
        return NONE;
    }
  }
  switch (event.type) {
    case 'input.accepted':
    case 'input.cancelled':
    case 'turn.started':
    case 'turn.resumed':
    case 'turn.ended':
    case 'turn.failed':
    case 'turn.cancelled':
    case 'text.ended':
    case 'step.restarted':
    case 'approval.requested':
    case 'approval.answered':
    case 'tool.ended':
      return [updated(event)];
    case 'agent.changed':
    case 'reasoning.ended':
    case 'step.ended':
    case 'call.requested':
    case 'approval.explained':
    case 'tool.started':
    case 'call.deferred':
    case 'reasoning.delta':
    case 'text.delta':
    case 'call.arguments.delta':
    case 'call.progress':
      return NONE;
  }
}
