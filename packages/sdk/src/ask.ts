/** Waits for the answer to a message, and handles approvals on the way. */
import type { ApprovalAnswer, ApprovalId, QuestionId, TurnId } from '@parlance/protocol';
import type { SessionStreamEvent } from './cursor.ts';
import { ParlanceError } from './error.ts';
import type { EventsOptions } from './event-stream.ts';
import {
  type ApprovalView,
  type BlockView,
  EMPTY,
  fold,
  type QuestionView,
  type SessionView,
  type TurnView,
} from './view.ts';

/** By id of the item: one answer, or several. */
export type GivenAnswers = Readonly<Record<string, string | readonly string[]>>;

/** Undefined leaves the approval to other clients, such as the console. */
export type ApprovalDecision =
  | ApprovalAnswer
  | { readonly answer: ApprovalAnswer; readonly reason?: string }
  | undefined;

export type FollowOptions = {
  /** Stops waiting. The turn continues; `cancel()` ends it. */
  readonly signal?: AbortSignal;
  /** Called with each part of the answer. After the event `step.restarted`, earlier parts are discarded. */
  readonly onText?: (text: string) => unknown;
  /**
   * Decides on a call that needs approval, one at a time. `signal` is aborted when another client has
   * answered. Without this function, the turn waits for another client.
   */
  readonly onApproval?: (
    approval: ApprovalView,
    options: { readonly signal: AbortSignal },
  ) => ApprovalDecision | Promise<ApprovalDecision>;
  /**
   * Answers a question of the agent, one at a time: by id of the item; null declines, and undefined leaves it to other
   * clients.
   */
  readonly onQuestion?: (
    question: QuestionView,
    options: { readonly signal: AbortSignal },
  ) => GivenAnswers | null | undefined | Promise<GivenAnswers | null | undefined>;
  /** Every event of the session. */
  readonly onEvent?: (event: SessionStreamEvent) => unknown;
};

export type Answer = {
  /** the last text of the model; empty if the turn ended without text */
  readonly text: string;
  /** the complete turn: texts, reasoning, calls with their results, usage */
  readonly turn: TurnView;
};

/** The part of a session that is used. */
export type FollowedSession = {
  events(options: EventsOptions): AsyncIterable<SessionStreamEvent>;
  answer(
    approval: ApprovalId,
    answer: ApprovalAnswer,
    options: { readonly reason?: string; readonly hash: string },
  ): Promise<unknown>;
  answerQuestion(question: QuestionId, answers: GivenAnswers | null): Promise<unknown>;
};

/** What to wait for: the turn of an input, by its key, or a turn. */
export type AwaitedTurn = { readonly after: number; readonly key?: string; readonly turn?: TurnId };

/** Throws a `ParlanceError` with the code of the failure, or `cancelled`. */
export async function answerTo(
  session: FollowedSession,
  target: AwaitedTurn,
  options: FollowOptions,
): Promise<Answer> {
  const stop = new AbortController();
  const signal = options.signal ? AbortSignal.any([options.signal, stop.signal]) : stop.signal;
  const approvals = new Answers(session, options, (error) => stop.abort(error));
  let view = EMPTY;
  let isLive = false;
  let input: string | null = null;
  try {
    for await (const event of session.events({ after: target.after, signal })) {
      view = fold(view, event);
      options.onEvent?.(event);
      if (event.type === 'session.erased') throw new ParlanceError('not_found', 'The session was erased.');
      if (event.type === 'input.accepted' && event.key === target.key) input = event.input;
      if (event.type === 'input.cancelled' && event.input === input) throw cancelled('cancelled');
      isLive ||= event.type === 'snapshot';
      const turn = turnIn(view, target);
      if (!turn) continue;
      if (event.type === 'text.delta' && event.turn === turn.turn) options.onText?.(event.text);
      const answer = answerOf(turn);
      if (answer) return answer;
      if (isLive) approvals.update(turn);
    }
    signal.throwIfAborted();
    throw new ParlanceError('unexpected', 'The event stream ended before the turn.');
  } finally {
    approvals.close();
    stop.abort();
  }
}

const turnIn = (view: SessionView, { key, turn }: AwaitedTurn): TurnView | undefined =>
  view.entries.findLast(
    (entry): entry is TurnView =>
      entry.kind === 'turn' && (turn === undefined ? hasInput(entry, key) : entry.turn === turn),
  );

/** Whether the input started the turn, or joined it. */
const hasInput = ({ input, items }: TurnView, key: string | undefined): boolean =>
  input?.key === key || items.some((item) => item.kind === 'input' && item.key === key);

/** Null while the turn runs. */
function answerOf(turn: TurnView): Answer | null {
  switch (turn.state.status) {
    case 'running':
      return null;
    case 'ended':
      return { text: lastText(turn), turn };
    case 'failed':
      throw new ParlanceError(turn.state.fault.code, turn.state.fault.message);
    case 'cancelled':
      throw cancelled(turn.state.reason);
  }
}

const CANCELLED = {
  cancelled: 'The turn was cancelled.',
  superseded: 'Another message interrupted the turn.',
  denied: 'The turn ended because a call was denied.',
};

const cancelled = (reason: keyof typeof CANCELLED): ParlanceError =>
  new ParlanceError('cancelled', CANCELLED[reason]);

/** The text of the last step that wrote one. */
function lastText({ items }: TurnView): string {
  const texts = items.filter((item): item is BlockView => item.kind === 'text');
  const last = texts.at(-1)?.step;
  return texts.flatMap(({ step, text }) => (step === last ? [text] : [])).join('\n\n');
}

/** Asks about each pending approval and question of a turn once. */
class Answers {
  readonly #asked = new Map<string, AbortController>();
  #queue: Promise<void> = Promise.resolve();

  constructor(
    private readonly session: FollowedSession,
    private readonly options: FollowOptions,
    private readonly failed: (error: unknown) => void,
  ) {}

  update(turn: TurnView): void {
    for (const item of turn.items) {
      if (item.kind === 'question')
        this.#follow(item.question, item.state, (signal) => this.#reply(item, signal));
      if (item.kind !== 'call' || !item.approval) continue;
      const { approval } = item;
      this.#follow(approval.approval, approval.state, (signal) => this.#decide(approval, signal));
    }
  }

  close(): void {
    for (const asked of this.#asked.values()) asked.abort();
  }

  #follow(
    id: string,
    { status }: { readonly status: string },
    decide: (signal: AbortSignal) => Promise<void>,
  ): void {
    const before = this.#asked.get(id);
    if (status !== 'pending') before?.abort();
    if (status !== 'pending' || before) return;
    const asked = new AbortController();
    this.#asked.set(id, asked);
    this.#queue = this.#queue
      .then(() => (asked.signal.aborted ? undefined : decide(asked.signal)))
      .catch((error: unknown) => {
        if (!asked.signal.aborted) this.failed(error);
      });
  }

  async #reply(question: QuestionView, signal: AbortSignal): Promise<void> {
    const answers = await this.options.onQuestion?.(question, { signal });
    if (answers === undefined || signal.aborted) return;
    await unlessLate(this.session.answerQuestion(question.question, answers));
  }

  async #decide(approval: ApprovalView, signal: AbortSignal): Promise<void> {
    const decision = await this.options.onApproval?.(approval, { signal });
    if (decision === undefined || signal.aborted) return;
    const { answer, reason } =
      typeof decision === 'string' ? { answer: decision, reason: undefined } : decision;
    await unlessLate(this.session.answer(approval.approval, answer, { reason, hash: approval.hash }));
  }
}

async function unlessLate(sent: Promise<unknown>): Promise<void> {
  try {
    await sent;
  } catch (error) {
    // Another client answered first.
    if (!(error instanceof ParlanceError && error.code === 'no_approval')) throw error;
  }
}
