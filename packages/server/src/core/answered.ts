import type { ApprovalId } from '@parlance/protocol';
import type { SessionRef } from './ports/store.ts';

/** Where approvals that were answered lately belong, so that a late answer is told so. */
export class Answered {
  readonly #places = new Map<ApprovalId, SessionRef>();

  constructor(private readonly most: number) {}

  remember(approval: ApprovalId, ref: SessionRef): void {
    this.#places.set(approval, ref);
    for (const oldest of this.#places.keys()) {
      if (this.#places.size <= this.most) return;
      this.#places.delete(oldest);
    }
  }

  place(approval: ApprovalId): SessionRef | undefined {
    return this.#places.get(approval);
  }
}
