/** Before 2026-07-28 a client receives approval requests on the stream of the call. */
import type { ApprovalId } from '@parlance/protocol';
import type { PendingApproval } from '../../core/api/index.ts';
import { formId, formOf } from './approval-form.ts';
import type { Context } from './context.ts';
import { notificationMessage, requestMessage } from './json-rpc.ts';
import type { ToolCall } from './tool-call.ts';

type OpenForm = { readonly id: string; isAnswered: boolean; readonly remove: () => void };

export class ApprovalForms {
  readonly #asked = new Map<ApprovalId, OpenForm>();
  /** the client cannot show forms */
  isRefused = false;

  constructor(
    private readonly ctx: Pick<Context, 'forms' | 'newId'>,
    private readonly call: ToolCall,
    private readonly changed: () => void,
  ) {}

  /** Requests the pending approvals, and withdraws those that were answered elsewhere. */
  show(pending: readonly PendingApproval[]): void {
    for (const approval of pending) if (!this.#asked.has(approval.approval)) this.#ask(approval);
    for (const [approval, { id, isAnswered, remove }] of this.#asked) {
      if (pending.some((one) => one.approval === approval)) continue;
      remove();
      this.#asked.delete(approval);
      if (isAnswered) continue;
      const params = { requestId: id, reason: 'It was answered elsewhere.' };
      this.call.stream?.send(notificationMessage('notifications/cancelled', params));
    }
  }

  /** The client may still answer open forms. */
  close(): void {
    for (const { remove } of this.#asked.values()) remove();
  }

  #ask(pending: PendingApproval): void {
    const { principal, peer, stream } = this.call;
    const id = formId(pending.approval, this.ctx.newId());
    const asked: OpenForm = {
      id,
      isAnswered: false,
      remove: this.ctx.forms.add(principal.id, id, (outcome) => {
        asked.isAnswered = true;
        if (outcome === 'refused') this.isRefused = true;
        this.changed();
      }),
    };
    this.#asked.set(pending.approval, asked);
    stream?.send(requestMessage(id, 'elicitation/create', formOf(pending, peer.version)));
  }
}
