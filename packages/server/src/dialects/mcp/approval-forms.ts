/** Before 2026-07-28 a client receives approval requests on the stream of the call. */
import type { ApprovalId } from '@parlance/protocol';
import type { PendingApproval } from '../../core/api/index.ts';
import { formId, formOf } from './approval-form.ts';
import type { Context } from './context.ts';
import { notificationMessage, requestMessage } from './json-rpc.ts';
import type { ToolCall } from './tool-call.ts';

type OpenForm = { readonly id: string; isAnswered: boolean; readonly remove: () => void };

export class ApprovalForms {
  readonly #forms = new Map<ApprovalId, OpenForm>();
  /** the client cannot show forms */
  isRefused = false;

  constructor(
    private readonly ctx: Pick<Context, 'forms' | 'newId'>,
    private readonly call: ToolCall,
    private readonly changed: () => void,
  ) {}

  /** Requests the pending approvals, and withdraws those that were answered elsewhere. */
  show(pending: readonly PendingApproval[]): void {
    for (const approval of pending) if (!this.#forms.has(approval.approval)) this.#request(approval);
    for (const [approval, { id, isAnswered, remove }] of this.#forms) {
      if (pending.some((one) => one.approval === approval)) continue;
      remove();
      this.#forms.delete(approval);
      if (isAnswered) continue;
      const params = { requestId: id, reason: 'It was answered elsewhere.' };
      this.call.stream?.send(notificationMessage('notifications/cancelled', params));
    }
  }

  /** The client may still answer open forms. */
  close(): void {
    for (const { remove } of this.#forms.values()) remove();
  }

  #request(pending: PendingApproval): void {
    const { principal, peer, stream } = this.call;
    const id = formId(pending.approval, this.ctx.newId());
    const form: OpenForm = {
      id,
      isAnswered: false,
      remove: this.ctx.forms.add(principal.id, id, (outcome) => {
        form.isAnswered = true;
        if (outcome === 'refused') this.isRefused = true;
        this.changed();
      }),
    };
    this.#forms.set(pending.approval, form);
    stream?.send(requestMessage(id, 'elicitation/create', formOf(pending, peer.version)));
  }
}
