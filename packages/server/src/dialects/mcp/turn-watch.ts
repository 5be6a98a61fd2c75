/** Follows a turn that a call started or continued: its text, its pending approvals and its end. */
import type { FaultData, TurnId } from '@parlance/protocol';
import type { Engine, PendingApproval, SessionRef } from '../../core/index.ts';
import { Answer } from '../kit/request-turn.ts';
import { readUpdates, type TurnUpdate, type UpdateReader } from '../kit/turn-updates.ts';

/** A turn, or the rest of one. Sufficient to find it again after a restart. */
export type FollowedTurn = {
  readonly ref: SessionRef;
  readonly turn: TurnId;
  /** follows the events after this number */
  readonly after: number;
};

export type TurnEnd =
  | { readonly status: 'done' | 'cancelled' }
  | { readonly status: 'failed'; readonly message: string };

export type TurnListener = {
  /** the text was extended or replaced */
  textChanged(): void;
  /** the turn has ended, or waits for something else */
  changed(): void;
};

export class TurnWatch {
  readonly #answer = new Answer(false, () => false);
  #end: TurnEnd | null = null;
  #approvals: readonly PendingApproval[] = [];
  #reader: UpdateReader | null = null;

  constructor(
    readonly followed: FollowedTurn,
    private readonly listener: TurnListener,
  ) {}

  /** Resolves when all past events have been read. */
  async open(engine: Engine): Promise<void> {
    const { ref, after, turn } = this.followed;
    this.#reader = await readUpdates(engine, ref, { after });
    this.#reader.follow(
      { input: null, turn },
      {
        update: (update) => this.#update(update),
        status: () => this.#waitFor(this.#reader?.now?.snapshot().approvals ?? []),
        ended: (fault) => this.#ended(fault ? endOf(fault) : { status: 'done' }),
      },
    );
  }

  get text(): string {
    return this.#answer.text;
  }

  get end(): TurnEnd | null {
    return this.#end;
  }

  /** The pending approvals of the session, including those of an earlier turn. */
  get approvals(): readonly PendingApproval[] {
    return this.#approvals;
  }

  stop(): void {
    this.#reader?.stop();
  }

  #update(update: TurnUpdate): void {
    if (this.#end) return;
    this.#answer.add(update);
    if (update.kind === 'text' || update.kind === 'restarted') this.listener.textChanged();
  }

  #waitFor(approvals: readonly PendingApproval[]): void {
    const idsOf = (list: readonly PendingApproval[]) => list.map(({ approval }) => approval).join();
    if (this.#end || idsOf(approvals) === idsOf(this.#approvals)) return;
    this.#approvals = approvals;
    this.listener.changed();
  }

  #ended(end: TurnEnd): void {
    this.#end ??= end;
    this.listener.changed();
  }
}

const endOf = ({ code, message }: FaultData): TurnEnd =>
  code === 'cancelled' ? { status: 'cancelled' } : { status: 'failed', message };
