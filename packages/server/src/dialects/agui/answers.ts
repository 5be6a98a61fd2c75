/** Answers that a turn waits for: results of front-end tools, and entries of `resume`. */
import { type ApprovalId, type CallId, type CallResult, Fault } from '@parlance/protocol';
import type { DeferredCall, SessionRef, SessionSnapshot } from '../../core/api/index.ts';
import type { DialectContext } from '../shared/dialect.ts';
import { optionalTerms, resultOf, type ToolMessage } from './conversation.ts';
import { type Answer, answerOf } from './interrupts.ts';
import { findTurn } from './log.ts';
import { callerOf, type FollowTarget, type RunRequest, turnTarget } from './run-request.ts';
import type { ResumeEntry } from './schemas.ts';

type Checked = { readonly approval: ApprovalId } & Answer;

export class Answers {
  readonly #results: readonly ToolMessage[];
  /** in order; other clients may have answered some of them */
  readonly #approvals: readonly Checked[];

  private constructor(
    private readonly engine: DialectContext['engine'],
    private readonly thread: {
      readonly ref: SessionRef;
      readonly request: RunRequest;
      readonly now: SessionSnapshot;
    },
    approvals: readonly Checked[],
  ) {
    const { request, now } = thread;
    this.#approvals = approvals;
    this.#results = lastResults(
      request.run.messages.filter((message) => message.role === 'tool'),
      now.deferred,
    );
  }

  /**
   * Validates without changes. Throws `not_found` for an unknown interrupt, `invalid` for an invalid payload.
   */
  static async check(
    engine: DialectContext['engine'],
    thread: { readonly ref: SessionRef; readonly request: RunRequest; readonly now: SessionSnapshot },
  ): Promise<Answers> {
    const approvals: Checked[] = [];
    for (const entry of thread.request.run.resume ?? []) approvals.push(await checked(engine, thread, entry));
    return new Answers(engine, thread, approvals);
  }

  get isEmpty(): boolean {
    return this.#results.length + this.#approvals.length === 0;
  }

  /** the calls of front-end tools without a result */
  get unanswered(): readonly DeferredCall[] {
    const { deferred } = this.thread.now;
    return deferred.filter(({ call }) => !this.#results.some(({ toolCallId }) => toolCallId === call));
  }

  /** For a message in the same request: its turn continues from the results, without another model call. */
  get results(): CallResult[] {
    return this.#results.map((message) => ({
      call: message.toolCallId as CallId,
      failed: false,
      ...resultOf(message),
    }));
  }

  /** whether there are results, and the turn waits only for results */
  get hasOnlyResults(): boolean {
    const { approvals } = this.thread.now;
    return this.#results.length > 0 && this.#approvals.length === 0 && approvals.length === 0;
  }

  /**
   * Sends the answers. Returns the turn that continues with them or, for an answer that comes too late, the
   * turn it was for.
   */
  async give(): Promise<{ readonly target: FollowTarget | null; readonly owns: boolean }> {
    const { now, ref } = this.thread;
    let given = 0;
    for (const message of this.#results) given += await this.#result(message);
    for (const approval of this.#approvals) given += await this.#approval(approval);
    if (given > 0 && now.turn && now.began) {
      const target = turnTarget({ turn: now.turn, began: now.began }, now.seq);
      return { target: { ...target, more: now.queued }, owns: true };
    }
    const ids = new Set(this.#approvals.map(({ approval }) => approval));
    const log = { engine: this.engine, ref, head: now.seq };
    const late = await findTurn(
      log,
      (event) => event.type === 'approval.requested' && ids.has(event.approval),
    );
    return { target: late && turnTarget(late, late.seq), owns: false };
  }

  async #result(message: ToolMessage): Promise<number> {
    const { ref, request, now } = this.thread;
    const open = now.deferred.find(({ call }) => call === message.toolCallId);
    if (!open) return 0;
    const command = {
      type: 'call.answer',
      call: open.call,
      ...resultOf(message),
      ...optionalTerms(request.run),
    } as const;
    return unlessLate(this.engine.send(ref, command, callerOf(request)));
  }

  #approval({ approval, answer, reason }: Checked): Promise<number> {
    const { ref, request } = this.thread;
    const command = {
      type: 'approval.answer',
      approval,
      answer,
      reason,
      ...optionalTerms(request.run),
    } as const;
    return unlessLate(this.engine.send(ref, command, callerOf(request)));
  }
}

/** 0 if another client answered first. */
async function unlessLate(sent: Promise<unknown>): Promise<number> {
  try {
    await sent;
    return 1;
  } catch (thrown) {
    if (thrown instanceof Fault && (thrown.code === 'no_approval' || thrown.code === 'not_found')) return 0;
    throw thrown;
  }
}

async function checked(
  engine: DialectContext['engine'],
  {
    ref,
    request,
    now,
  }: { readonly ref: SessionRef; readonly request: RunRequest; readonly now: SessionSnapshot },
  entry: ResumeEntry,
): Promise<Checked> {
  const approval = entry.interruptId as ApprovalId;
  if (!now.approvals.some((pending) => pending.approval === approval)) {
    const found = await engine.lookup(request.principal, { kind: 'approval', id: approval });
    if (found?.id !== ref.id || found.owner !== ref.owner)
      throw new Fault('not_found', `There is no interrupt ${entry.interruptId} in this thread.`);
  }
  return { approval, ...answerOf(entry) };
}

/** If a call has several results, the last one is used. */
const lastResults = (messages: readonly ToolMessage[], open: readonly DeferredCall[]): ToolMessage[] =>
  open.flatMap(({ call }) => messages.findLast(({ toolCallId }) => toolCallId === call) ?? []);
