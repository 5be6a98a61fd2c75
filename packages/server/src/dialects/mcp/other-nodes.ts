/**
 * Subscriptions, cancellations and answers of a client reach one node; its calls and streams may be on another.
 * No external effect depends on these messages: answers to approvals are in the store.
 */
import { PrincipalId } from '@parlance/protocol';
import { z } from 'zod';
import type { Transport } from '../../cluster/transport.ts';
import { RequestId } from '../kit/json-rpc.ts';
import type { ClientSessions } from './client-sessions.ts';
import type { OpenCalls } from './open-calls.ts';
import type { OpenForms } from './open-forms.ts';

const KIND = 'mcp';

const OF_SESSION = { principal: PrincipalId, session: z.string() };

const Notice = z.discriminatedUnion('type', [
  z.object({ type: z.literal('begun'), ...OF_SESSION }),
  z.object({ type: z.literal('subscribed'), ...OF_SESSION, uri: z.string() }),
  z.object({ type: z.literal('unsubscribed'), ...OF_SESSION, uri: z.string() }),
  z.object({ type: z.literal('ended'), ...OF_SESSION }),
  /** the node that answers the call stops it */
  z.object({ type: z.literal('cancel'), ...OF_SESSION, request: RequestId }),
  /** the call was open and was cancelled: its stream cannot be resumed on any node */
  z.object({ type: z.literal('cancelled'), ...OF_SESSION, request: RequestId }),
  z.object({
    type: z.literal('form'),
    principal: PrincipalId,
    id: z.string(),
    outcome: z.enum(['answered', 'refused']),
  }),
]);
export type Notice = z.output<typeof Notice>;

export type LocalState = {
  readonly sessions: ClientSessions;
  readonly calls: OpenCalls;
  readonly forms: OpenForms;
};

export class OtherNodes {
  constructor(
    private readonly transport: Transport | null,
    private readonly local: LocalState,
  ) {
    transport?.on(KIND, (body) => this.#apply(Notice.parse(body)));
    // Subscriptions may have been missed: sessions without known subscriptions receive everything.
    transport?.onDown(() => local.sessions.forget());
    transport?.onLost(() => local.sessions.forget());
  }

  notify(notice: Notice): void {
    this.transport?.broadcast({ kind: KIND, body: notice });
  }

  /** Stops the call on whichever node answers it. */
  cancel(key: Extract<Notice, { type: 'cancel' }>): void {
    if (!this.#cancelHere(key)) this.notify(key);
  }

  #cancelHere({ principal, session, request }: Extract<Notice, { type: 'cancel' }>): boolean {
    if (!this.local.calls.cancel({ principal, session, request })) return false;
    this.notify({ type: 'cancelled', principal, session, request });
    return true;
  }

  #apply(notice: Notice): void {
    const { sessions, calls, forms } = this.local;
    switch (notice.type) {
      case 'begun':
        sessions.begin(notice.principal, notice.session);
        break;
      case 'subscribed':
        sessions.subscribe(notice.principal, notice.session, notice.uri);
        break;
      case 'unsubscribed':
        sessions.unsubscribe(notice.principal, notice.session, notice.uri);
        break;
      case 'ended':
        sessions.end(notice.principal, notice.session);
        break;
      case 'cancel':
        this.#cancelHere(notice);
        break;
      case 'cancelled':
        calls.remember(notice);
        break;
      case 'form':
        forms.settle(notice.principal, notice.id, notice.outcome);
    }
  }
}
