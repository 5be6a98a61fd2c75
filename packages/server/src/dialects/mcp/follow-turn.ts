/** Answers a call with the outcome of a turn: its result, a form for the user, or its state on timeout. */
import { type ApprovalId, Fault } from '@parlance/protocol';
import type { PendingApproval } from '../../core/index.ts';
import { notificationMessage, requestMessage } from '../kit/json-rpc.ts';
import { formId, formOf } from './approval-form.ts';
import type { Context } from './context.ts';
import { encodeState } from './follow-state.ts';
import { CALL_CANCELLED, type ToolCall } from './tool-call.ts';
import { turnResult } from './turn-result.ts';
import { type FollowedTurn, TurnWatch } from './turn-watch.ts';

/** Lets a loop wait for any of several changes. */
class WakeUp {
  #changed = Promise.withResolvers<void>();

  readonly wake = (): void => this.#changed.resolve();

  async wait(): Promise<void> {
    await this.#changed.promise;
    this.#changed = Promise.withResolvers();
  }
}

export async function followTurn(ctx: Context, call: ToolCall, followed: FollowedTurn): Promise<object> {
  const { engine, now, settings } = ctx;
  const { signal, until, stream, peer } = call;
  const wakeUp = new WakeUp();
  const turn = new TurnWatch(followed, { textChanged: () => progress.update(), changed: wakeUp.wake });
  const progress = new Progress(call, {
    text: () => turn.text,
    elapsed: () => now() - until + settings.toolCallWithin,
  });
  const forms = new ApprovalForms(ctx, call, wakeUp.wake);
  let isLate = false;
  const late = () => {
    isLate = true;
    wakeUp.wake();
  };
  const timer = setTimeout(late, Math.max(0, until - now()));
  signal.addEventListener('abort', wakeUp.wake);
  try {
    if (peer.era === 'legacy' && peer.version >= '2025-11-25')
      stream?.prime(encodeState(followed, { request: call.id, progress: call.progressToken, until }));
    await turn.open(engine);
    for (;;) {
      if (signal.aborted) return await takenBack(ctx, call, turn);
      if (turn.end || isLate) return turnResult(turn);
      if (turn.approvals.length > 0 && !mayAsk(call)) return turnResult(turn);
      if (turn.approvals.length > 0 && peer.era === 'modern') return inputRequired(turn);
      forms.show(turn.approvals);
      if (forms.isRefused) return turnResult(turn);
      await wakeUp.wait();
    }
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', wakeUp.wake);
    forms.close();
    progress.stop();
    turn.stop();
  }
}

/** Whether the user of the client can be asked, and has the permission to decide. */
const mayAsk = ({ peer, stream, principal }: ToolCall): boolean =>
  peer.hasForms &&
  (peer.era === 'modern' || stream !== null) &&
  principal.permissions.includes('tool:approve');

const inputRequired = ({ followed, approvals }: TurnWatch) => ({
  resultType: 'input_required' as const,
  inputRequests: Object.fromEntries(
    approvals.map((pending) => [
      pending.approval,
      { method: 'elicitation/create', params: formOf(pending, '2026-07-28') },
    ]),
  ),
  requestState: encodeState(followed),
});

async function takenBack(ctx: Context, { signal, principal }: ToolCall, turn: TurnWatch): Promise<object> {
  // Streams also close when the server shuts down; its turns continue after the next start.
  if (signal.reason !== CALL_CANCELLED || ctx.engine.draining) return turnResult(turn);
  const { followed, text } = turn;
  try {
    const command = { type: 'turn.cancel', turn: followed.turn } as const;
    await ctx.engine.send(followed.ref, command, { principal, dialect: 'mcp' });
  } catch (thrown) {
    // The turn has already ended.
    if (!(thrown instanceof Fault && thrown.code === 'no_turn')) throw thrown;
  }
  return turnResult({ followed, text, end: { status: 'cancelled' }, approvals: [] });
}

// Before 2026-07-28 a client receives approval requests on the stream of the call.

type OpenForm = { readonly id: string; isAnswered: boolean; readonly remove: () => void };

class ApprovalForms {
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

// `notifications/progress` while an agent writes. Each has the whole text so far, so they are sent at
// intervals.

const INTERVAL_MS = 100;
/** Also sent without new text, for clients that extend their timeout on progress. */
const SILENCE_MS = 10_000;

class Progress {
  #last = 0;
  #isDue = false;
  #isRunning = false;
  #isOver = false;
  readonly #heartbeat: ReturnType<typeof setInterval> | undefined;

  constructor(
    private readonly call: Pick<ToolCall, 'stream' | 'progressToken'>,
    private readonly source: { text(): string; elapsed(): number },
  ) {
    if (this.#isWanted) this.#heartbeat = setInterval(() => this.#send(), SILENCE_MS);
  }

  /** The text has changed. */
  update(): void {
    if (!this.#isWanted || this.#isOver) return;
    this.#isDue = true;
    if (!this.#isRunning) void this.#run();
  }

  /** Sends the pending notification, and stops. */
  stop(): void {
    clearInterval(this.#heartbeat);
    this.#isOver = true;
    if (this.#isDue) this.#send();
  }

  get #isWanted(): boolean {
    return this.call.progressToken !== undefined && this.call.stream !== null;
  }

  /** A slow reader gets the next notification after it has read the last one. */
  async #run(): Promise<void> {
    this.#isRunning = true;
    while (this.#isDue && !this.#isOver) {
      this.#send();
      await this.call.stream?.ready();
      await Bun.sleep(INTERVAL_MS);
    }
    this.#isRunning = false;
  }

  #send(): void {
    this.#isDue = false;
    // Milliseconds since the call started, so that they also increase if the stream is resumed after a restart.
    this.#last = Math.max(this.#last + 1, this.source.elapsed());
    const message = this.source.text();
    const params = {
      progressToken: this.call.progressToken,
      progress: this.#last,
      ...(message !== '' && { message }),
    };
    this.call.stream?.send(notificationMessage('notifications/progress', params));
  }
}
