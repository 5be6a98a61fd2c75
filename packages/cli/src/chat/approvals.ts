/** Answers approvals by key, or according to `--approve`. */
import type { ApprovalView } from '@parlance/sdk';
import { afterPause } from '@parlance/ui/components/approval/approval.ts';
import { CommandError } from '../command.ts';
import type { Conversation } from './conversation.ts';

const LETTERS = ['y', 'a', 'n', 'e'] as const;
export type Letter = (typeof LETTERS)[number];

/** A letter that may be the beginning of a message: it answers if nothing follows it. */
type Held = { readonly letter: Letter; readonly approval: string; readonly stop: () => void };

export class Approvals {
  #held: Held | null = null;
  /** the approval for which a reason to deny is being typed */
  #denying: string | null = null;
  /** the approval whose answer is being sent */
  #answered: string | null = null;
  #explaining = false;
  #selected: { readonly letter: Letter; readonly approval: string } | null = null;

  constructor(
    private readonly conversation: Conversation,
    private readonly approve: Approve,
    /** Runs a server command and shows its error. */
    private readonly attempt: (act: () => Promise<unknown>) => void,
  ) {}

  /** the letter that answers in a moment */
  get held(): Letter | null {
    return this.#held?.letter ?? null;
  }

  /** the letter that the arrow keys have moved to */
  get selected(): Letter | null {
    return this.#selected?.letter ?? null;
  }

  /** No answer is selected until an arrow key was pressed: Enter may have been meant for a message. False if none can be. */
  select(direction: 'up' | 'down'): boolean {
    const pending = this.#pending;
    const offered = pending ? LETTERS.filter((letter) => this.#offers(letter, pending)) : [];
    if (!pending || offered.length === 0) return false;
    const at = offered.findIndex((letter) => letter === this.selected);
    const next = direction === 'down' ? (at + 1) % offered.length : at <= 0 ? -1 : at - 1;
    const letter = offered.at(next);
    if (letter) this.#selected = { letter, approval: pending.approval };
    return true;
  }

  unselect(): void {
    this.#selected = null;
  }

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
    if (pending?.approval !== this.#held?.approval) this.release();
    if (pending?.approval !== this.#selected?.approval) this.unselect();
    if (pending && this.approve !== 'ask') this.#answer(pending, this.approve === 'all' ? 'once' : 'deny');
  }

  /** Call it for the first text in an empty field. Calls `confirmed` if it is an answer and nothing follows for a second. */
  hold(text: string, confirmed: () => void): void {
    const pending = this.#pending;
    const letter = LETTERS.find((each) => each === text);
    if (!pending || letter === undefined || !this.#offers(letter, pending)) return;
    this.#held = { letter, approval: pending.approval, stop: afterPause(confirmed) };
  }

  /** Stops waiting for what follows the letter, which is text then, unless it is chosen. */
  release(): Letter | null {
    const { held } = this;
    this.#held?.stop();
    this.#held = null;
    return held;
  }

  choose(letter: Letter): void {
    const pending = this.#pending;
    this.unselect();
    if (!pending) return;
    if (letter === 'y') this.#answer(pending, 'once');
    else if (letter === 'a') this.#answer(pending, 'always');
    else if (letter === 'n') this.#denying = pending.approval;
    else this.#explain(pending);
  }

  #offers(letter: Letter, { approval, ask }: ApprovalView): boolean {
    if (this.isDenying || this.#answered === approval) return false;
    return (letter !== 'a' || ask.grant !== undefined) && (letter !== 'e' || !this.#explaining);
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

// `--approve`: how to answer calls that need approval.

const APPROVE = ['ask', 'all', 'never'] as const;

export type Approve = (typeof APPROVE)[number];

export function approveFrom(text: string | undefined): Approve {
  const found = APPROVE.find((one) => one === (text ?? 'ask'));
  if (found) return found;
  throw new CommandError(`--approve must be one of ${APPROVE.join(', ')}, not "${text}"`, 2);
}
