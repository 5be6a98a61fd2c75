/** Answers to approvals: by keys, or by `--approve`. */
import type { ApprovalView } from '@parlance/sdk';
import type { Approve } from '../approve.ts';
import type { Conversation } from './conversation.ts';

export class Approvals {
  /** the approval whose denial is being typed */
  #denying: string | null = null;
  /** the answer is on its way */
  #answered: string | null = null;
  #explaining = false;

  constructor(
    private readonly conversation: Conversation,
    private readonly approve: Approve,
    /** Runs a command of the server, and shows its error. */
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

  /** After a change: a reason belongs to one approval, and `--approve all` and `never` answer by themselves. */
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

  /** An empty reason is none. */
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
        // It can be answered again; not by itself, which would be refused again.
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
