/** Answers approvals by key, or according to `--approve`. */
import type { ApprovalView } from '@parlance/sdk';
import type { Approve } from '../approve.ts';
import type { Conversation } from './conversation.ts';

export class Approvals {
  /** the approval for which a reason to deny is being typed */
  #denying: string | null = null;
  /** the approval whose answer is being sent */
  #answered: string | null = null;
  #explaining = false;

  constructor(
    private readonly conversation: Conversation,
    private readonly approve: Approve,
    /** Runs a server command and shows its error. */
    private readonly attempt: (act: () => Promise<unknown>) => void,
  ) {}

  get isDenying(): boolean {
    return this.#denying !== null;
  }

  get isExplaining(): boolean {
    return this.#explaining;
  }

  get #pending(): ApprovalView | null {
    return this.conversation.view.pending;
  }

  /**
   * Call after a change: a typed reason belongs to one approval, and `--approve all` and `never` answer
   * automatically.
   */
  follow(): void {
    const pending = this.#pending;
    if (pending?.approval !== this.#denying) this.#denying = null;
    if (pending && this.approve !== 'ask') this.#answer(pending, this.approve === 'all' ? 'once' : 'deny');
  }

  /** True if the letter is an answer. */
  letter(letter: string): boolean {
    const pending = this.#pending;
    if (!pending || this.isDenying) return false;
    if (letter === 'y') this.#answer(pending, 'once');
    else if (letter === 'a' && pending.ask.grant !== undefined) this.#answer(pending, 'always');
    else if (letter === 'n') this.#denying = pending.approval;
    else if (letter === 'e') this.#explain(pending);
    else return false;
    return true;
  }

  /** An empty reason counts as none. */
  deny(reason: string): void {
    const pending = this.#pending;
    if (pending && this.isDenying) this.#answer(pending, 'deny', reason);
    this.#denying = null;
  }

  keep(): void {
    this.#denying = null;
  }

  #answer(pending: ApprovalView, answer: 'once' | 'always' | 'deny', reason = ''): void {
    if (this.#answered === pending.approval) return;
    this.#answered = pending.approval;
    this.attempt(async () => {
      try {
        await this.conversation.answer(pending, answer, reason);
      } catch (error) {
        // It can be answered again, but not automatically, which would be refused again.
        if (this.approve === 'ask') this.#answered = null;
        throw error;
      }
    });
  }

  #explain(pending: ApprovalView): void {
    if (this.#explaining) return;
    this.#explaining = true;
    this.attempt(async () => {
      try {
        await this.conversation.explain(pending);
      } finally {
        this.#explaining = false;
      }
    });
  }
}
