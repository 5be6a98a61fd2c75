import {
  type CallId,
  type Command,
  type DurableEventBody,
  Fault,
  textOf,
  turnTermsOf,
} from '@parlance/protocol';
import { decideCallAnswer } from './decide-call.ts';
import { sessionCreated } from './decide-session.ts';
import type { DecisionContext } from './decision.ts';
import type { SessionState, Turn } from './session-state.ts';
import { interruption, turnStarted } from './turn-events.ts';

/** Retry hint if the queue of a session is full. */
const QUEUE_RETRY_MS = 2_000;

type SubmitInput = Extract<Command, { type: 'input.submit' }>;

export function decideInput(
  state: SessionState,
  command: SubmitInput,
  context: DecisionContext,
): DurableEventBody[] {
  const { key, ids } = context;
  if (!ids) throw new Error('input.submit needs ids');
  if (key !== undefined && state.keys.some((known) => known.key === key)) return [];
  if (
    !command.call &&
    !(command.continues && state.created && command.parts.length === 0) &&
    textOf(command.parts).trim() === '' &&
    command.parts.every((part) => part.type === 'text')
  ) {
    throw new Fault('empty', 'The message is empty.');
  }
  const events: DurableEventBody[] = state.created ? [] : [sessionCreated(command, context)];
  const superseded = supersedes(command) ? state.turn : null;
  if (state.turn && state.queue.length >= context.maxQueued) {
    const message = `This session already has ${context.maxQueued} queued messages.`;
    throw new Fault('limited', message, { retryAfterMs: QUEUE_RETRY_MS });
  }
  const { results = [] } = command;
  events.push(...results.flatMap((result) => decideCallAnswer(state, result)));
  if (superseded) events.push(...interruption(withoutCalls(superseded, results), 'superseded', context.open));
  if (command.replaces) events.push(rewinding(state, context));
  const { via, dialect } = context;
  const { input, turn } = ids;
  const starts = startsTurn(state, command);
  const [waiting] = state.queue;
  events.push({
    type: 'input.accepted',
    input,
    parts: command.parts,
    dialect,
    via,
    key,
    call: command.call,
    data: command.data,
    agent: context.answeredBy,
    system: command.system,
    ...(command.untrusted && { untrusted: true }),
    turn: starts && !waiting ? undefined : turn,
    ...turnTermsOf(command),
  });
  if (starts) {
    const next = waiting ?? { input, turn, via, call: command.call, agent: context.answeredBy };
    events.push(...turnStarted(next, state.created ? state.agent : context.agent));
  }
  return events;
}

/** The turn without the calls that these results answer. */
const withoutCalls = (turn: Turn, results: readonly { readonly call: CallId }[]): Turn => ({
  ...turn,
  calls: turn.calls.filter(({ call }) => !results.some((result) => result.call === call)),
});

const supersedes = ({ mode, replaces }: SubmitInput): boolean =>
  mode === 'supersede' || replaces !== undefined;

/** Whether the input starts a turn immediately instead of being queued. */
const startsTurn = (state: SessionState, command: SubmitInput): boolean => !state.turn || supersedes(command);

function rewinding(state: SessionState, { replaced, by }: DecisionContext): DurableEventBody {
  if (!replaced) throw new Fault('not_found', 'There is no such message in this session.');
  if (replaced.seq < state.cutAt)
    throw new Fault('invalid', 'That message is no longer part of the context: it cannot be replaced.');
  if (state.queue.some(({ input }) => input === replaced.input))
    throw new Fault('invalid', 'That message is still queued: it cannot be replaced.');
  return { type: 'session.rewound', input: replaced.input, from: replaced.seq, by };
}
