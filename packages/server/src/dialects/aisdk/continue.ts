/** A page sends the message of a turn again, with answers that the turn waits for. */
import {
  type ApprovalId,
  type CallId,
  type CallResult,
  Fault,
  type TurnId,
  textPart,
} from '@parlance/protocol';
import type { Caller, Engine, SessionRef, SessionSnapshot } from '../../core/api/index.ts';
import { replay } from '../shared/replay.ts';
import { type AcceptedInput, turnInput } from './log.ts';
import { answeredCalls, openCalls, outputText } from './messages.ts';
import { START, step } from './projection.ts';
import type { Message, ToolPart } from './schemas.ts';
import type { ClientPosition, FollowTarget } from './turn-follower.ts';

export type Target = { readonly engine: Engine; readonly ref: SessionRef; readonly caller: Caller };

/** The rest of the turn: the events after the answers or, if they came late, those that already happened. */
export async function continueTurn(target: Target, message: Message): Promise<FollowTarget> {
  const { engine, ref, caller } = target;
  const now = await engine.snapshot(ref);
  const { principal } = caller;
  const turn = message.id as TurnId;
  const input = await turnInput(engine, { ref, head: now.seq }, { turn, principal });
  if (!input) throw new Fault('not_found', 'There is no such answer in this chat.');
  const past = await pastOf(target, input, { message, head: now.seq });
  const accepted = await giveAnswers(target, now, [message]);
  if (!accepted && past.resolved === null) throw nothingNew(now, turn);
  return { ref, input, known: clientPosition(message, past.through) };
}

const nothingNew = ({ turn, approvals }: SessionSnapshot, named: TurnId): Fault =>
  turn === named && approvals.length > 0
    ? new Fault('busy', 'The chat waits for an approval that has not been answered.')
    : new Fault('busy', 'This has already been answered.');

/** Sends the answers of the page that the running turn waits for. False if there were none. */
export async function giveAnswers(
  target: Target,
  now: SessionSnapshot,
  messages: readonly Message[],
): Promise<boolean> {
  let isAccepted = false;
  if (now.approvals.length === 0 && now.deferred.length === 0) return isAccepted;
  for (const message of messages)
    for (const answer of answeredCalls(message)) if (await giveAnswer(target, now, answer)) isAccepted = true;
  return isAccepted;
}

async function giveAnswer(
  { engine, ref, caller }: Target,
  { approvals, deferred }: SessionSnapshot,
  answer: ToolPart,
): Promise<boolean> {
  const call = answer.toolCallId as CallId;
  if (answer.state === 'approval-responded') {
    const { id, approved, reason } = answer.approval;
    if (!approvals.some((pending) => pending.approval === id && pending.call === call)) return false;
    const verdict = approved ? ('once' as const) : ('deny' as const);
    const approval = id as ApprovalId;
    return inTime(engine.send(ref, { type: 'approval.answer', approval, answer: verdict, reason }, caller));
  }
  const result = resultOf(answer);
  if (!result || !deferred.some((pending) => pending.call === call)) return false;
  return inTime(engine.send(ref, { type: 'call.answer', ...result }, caller));
}

/** Null if it is not the result of a call that the page executed. */
function resultOf(answer: ToolPart): CallResult | null {
  if (answer.state === 'approval-responded' || answer.state === 'output-denied' || answer.providerExecuted)
    return null;
  const call = answer.toolCallId as CallId;
  if (answer.state === 'output-error') return { call, failed: true, parts: [textPart(answer.errorText)] };
  const data = { output: answer.output ?? null };
  return { call, failed: false, parts: [textPart(outputText(answer.output))], data };
}

/**
 * The results that a turn waits for, if the messages have all of them and it waits for nothing else; otherwise
 * null.
 */
export function allResults(now: SessionSnapshot, messages: readonly Message[]): CallResult[] | null {
  const given = messages.flatMap((message) =>
    answeredCalls(message).flatMap((answer) => resultOf(answer) ?? []),
  );
  const results = now.deferred.flatMap(({ call }) => given.findLast((result) => result.call === call) ?? []);
  const isComplete = results.length > 0 && results.length === now.deferred.length;
  return isComplete && now.approvals.length === 0 ? results : null;
}

/** False if another client answered first. */
async function inTime(sent: Promise<unknown>): Promise<boolean> {
  try {
    await sent;
    return true;
  } catch (thrown) {
    if (thrown instanceof Fault && (thrown.code === 'no_approval' || thrown.code === 'not_found'))
      return false;
    throw thrown;
  }
}

type Past = {
  /** the first event with an answer whose outcome the client does not have; null if there is none */
  readonly resolved: number | null;
  /** the stream that the client has read ended with this event */
  readonly through: number;
};

async function pastOf(
  { engine, ref }: Target,
  { seq: accepted }: AcceptedInput,
  { message, head }: { readonly message: Message; readonly head: number },
): Promise<Past> {
  const open = new Set(openCalls(message));
  const turn = message.id;
  let through: number | null = null;
  for (let after = accepted - 1, state = START; after < head; ) {
    const events = await engine.events(ref, after, Math.min(PAGE, head - after));
    for (const { event, state: next, bodies } of replay(step, state, events)) {
      state = next;
      const answers = event.type === 'approval.answered' || event.type === 'tool.ended';
      if (answers && event.turn === turn && open.has(event.call) && through !== null)
        return { resolved: event.seq, through };
      if (bodies.some((body) => body.turn === turn && 'waits' in body)) through = event.seq;
    }
    after = events.at(-1)?.seq ?? head;
  }
  return { resolved: null, through: through ?? head };
}

const PAGE = 200;

function clientPosition(message: Message, through: number): ClientPosition {
  const answers = answeredCalls(message);
  return {
    turn: message.id as TurnId,
    through,
    outcomes: new Set(
      answers.flatMap(({ state, toolCallId }) => (state === 'approval-responded' ? [] : [toolCallId])),
    ),
    approvals: new Map(
      answers.flatMap((answer) =>
        answer.state === 'approval-responded' ? [[answer.approval.id, answer.approval.approved]] : [],
      ),
    ),
  };
}
