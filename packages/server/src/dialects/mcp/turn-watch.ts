/** Follows a turn that a call started or continued: its text, its pending approvals and its end. */
import type { FaultData, SessionEvent, TurnId } from '@parlance/protocol';
import type { Engine, PendingApproval, SessionRef, Watch } from '../../core/index.ts';
import { Answer } from '../kit/request-turn.ts';
import { IDLE, projection, type State, type TurnUpdate } from '../kit/turn-updates.ts';

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
  #state: State = IDLE;
  #end: TurnEnd | null = null;
  #approvals: readonly PendingApproval[] = [];
  #watch: Watch | null = null;

  constructor(
    readonly followed: FollowedTurn,
    private readonly listener: TurnListener,
  ) {}

  /** Resolves when all past events have been read. */
  async open(engine: Engine): Promise<void> {
    const { ref, after } = this.followed;
    await engine.watch(ref, (event, { snapshot }) => this.#take(event, snapshot), {
      after,
      begin: (watch) => this.#begin(watch),
    });
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
    this.#watch?.stop();
  }

  #begin(watch: Watch): void {
    this.#watch = watch;
    const now = watch.snapshot();
    this.#approvals = now.approvals;
    // Stored events have only complete blocks: the block being streamed comes from the snapshot.
    for (const update of projection.attach(this.#state, now)) this.#pass(update);
    this.#state = { ...this.#state, block: now.open?.block ?? null };
  }

  #take(event: SessionEvent, snapshot: Watch['snapshot']): void {
    if (this.#end) return;
    const [state, frames] = projection.step(this.#state, event);
    this.#state = state;
    for (const { body } of frames) this.#pass(body);
    switch (event.type) {
      case 'text.delta':
      case 'reasoning.delta':
      case 'call.arguments.delta':
        return;
      case 'session.erased':
        this.#ended({ status: 'failed', message: 'The session was deleted.' });
        return;
      case 'input.cancelled':
        if (event.turn === this.followed.turn) this.#ended({ status: 'cancelled' });
        return;
      default:
        this.#waitFor(snapshot().approvals);
    }
  }

  #waitFor(approvals: readonly PendingApproval[]): void {
    const idsOf = (list: readonly PendingApproval[]) => list.map(({ approval }) => approval).join();
    if (idsOf(approvals) === idsOf(this.#approvals)) return;
    this.#approvals = approvals;
    this.listener.changed();
  }

  #pass(update: TurnUpdate): void {
    if (update.turn !== this.followed.turn) return;
    this.#answer.add(update);
    if (update.kind === 'text' || update.kind === 'restarted') this.listener.textChanged();
    if (update.kind === 'ended') this.#ended({ status: 'done' });
    if (update.kind === 'failed') this.#ended(endOf(update.fault));
  }

  #ended(end: TurnEnd): void {
    this.#end = end;
    this.listener.changed();
  }
}

const endOf = ({ code, message }: FaultData): TurnEnd =>
  code === 'cancelled' ? { status: 'cancelled' } : { status: 'failed', message };
