/** What REST reads of conversations from their events: messages, workflow frames and tool calls. */
import {
  type ApprovalId,
  type DurableEvent,
  type Principal,
  type TurnId,
  textOf,
  wasStopped,
} from '@parlance/protocol';
import { directCallId, type Engine, type SessionRecord, type SessionRef } from '../../core/index.ts';
import { nthId } from '../kit/projection.ts';
import { latest, replay } from '../kit/replay.ts';
import { rewoundText } from '../kit/texts.ts';
import { type CallStatus, finalAnswer, NO_CALLS, trackCalls } from '../kit/tracking.ts';
import type { Body, Message, ToolRun, WorkflowLog } from './contract.ts';
import { BETWEEN_BLOCKS, resultOf, type State, startOf, step } from './outbound.ts';

// Messages

/** The latest `limit` messages, oldest first. */
export const latestMessages = (engine: Engine, record: SessionRecord, limit: number): Promise<Message[]> =>
  latest(engine, record, { limit, itemsOf: (events, first) => messagesOf(record, events, first) });

/**
 * One message per input, and one per turn that has text or is a direct call; id and content are those that the
 * projection sends. Events before `first` are folded but not shown.
 */
export function messagesOf(record: SessionRecord, events: readonly DurableEvent[], first = 0): Message[] {
  const messages: Message[] = [];
  let removed: Message[] = [];
  const answers = new Map<TurnId, Message>();
  for (const { event, state } of [...replay(step, startOf(record), events)].slice(first)) {
    switch (event.type) {
      case 'history.imported':
        messages.push(...importedMessages(event));
        break;
      case 'input.accepted':
        // An input without parts lets the model continue; there is no message to show.
        if (event.parts.length > 0 || event.call) {
          const { input, parts, dialect } = event;
          messages.push(message(event, input, 'user', textOf(parts), { dialect }));
        }
        break;
      case 'input.cancelled': {
        const cancelled = messages.findIndex(({ id }) => id === event.input);
        if (cancelled >= 0) messages.splice(cancelled, 1);
        break;
      }
      case 'session.rewound': {
        const replaced = messages.findIndex(({ id }) => id === event.input);
        removed = replaced < 0 ? [] : messages.splice(replaced);
        break;
      }
      case 'session.restored':
        messages.push(...removed);
        break;
      case 'files.rewound':
        messages.push(message(event, event.id, 'assistant', rewoundText(event), {}));
        break;
      case 'text.ended':
      case 'tool.ended': {
        if (event.type === 'tool.ended' && !isAnswer(event, state)) break;
        const known = answers.get(event.turn);
        const answer = known ?? message(event, event.turn, 'assistant', '', {});
        if (!known) messages.push(answer);
        answers.set(event.turn, Object.assign(answer, answered(state)));
        if (event.type === 'text.ended' && event.interrupted) answer.metadata.interrupted = true;
        break;
      }
      case 'turn.resumed':
      case 'step.restarted': {
        // The text of the step is discarded.
        const known = answers.get(event.turn);
        if (known && state.texts.length > 0) Object.assign(known, answered(state));
        else if (known) {
          answers.delete(event.turn);
          messages.splice(messages.indexOf(known), 1);
        }
        break;
      }
    }
  }
  return messages;
}

/** The outcome of a direct call, or of one that ends the turn. */
const isAnswer = (event: DurableEvent<'tool.ended'>, { direct }: State): boolean =>
  (direct && !wasStopped(event)) || finalAnswer(event) !== null;

/** The answer as the projection has it. */
const answered = ({ message, texts, agent }: State): Pick<Message, 'id' | 'content' | 'agent_id'> => ({
  id: message,
  content: texts.join(BETWEEN_BLOCKS),
  agent_id: agent.id,
});

/** The message of the user, and the reply to it as one message. */
function importedMessages(event: DurableEvent<'history.imported'>): Message[] {
  const { input, items, dialect } = event;
  const metadata = { dialect, imported: true };
  const [first] = items;
  const texts = items.flatMap((item) => (item.type === 'text' ? [item.text] : []));
  return [
    ...(input && first?.type === 'user'
      ? [message(event, input, 'user', textOf(first.parts), metadata)]
      : []),
    ...(texts.length > 0
      ? [message(event, event.id, 'assistant', texts.join(BETWEEN_BLOCKS), metadata)]
      : []),
  ];
}

const message = (
  { session, at }: DurableEvent,
  id: string,
  role: Message['role'],
  content: string,
  metadata: Message['metadata'],
): Message => ({
  id,
  conversation_id: session,
  role,
  content,
  created_at: new Date(at).toISOString(),
  metadata,
  agent_id: null,
});

// The workflow frames of a conversation as they were sent, reconstructed from its events.

type WorkflowBody = Extract<Body, { type: `workflow_${string}` }>;

const isWorkflow = (body: Body): body is WorkflowBody => body.type.startsWith('workflow_');

/** The latest `limit` frames, oldest first. */
export const latestWorkflow = (
  engine: Engine,
  record: SessionRecord,
  limit: number,
): Promise<WorkflowLog[]> => {
  const itemsOf = (events: readonly DurableEvent[], first: number): WorkflowLog[] =>
    [...replay(step, startOf(record), events)].slice(first).flatMap(({ event, bodies }) =>
      bodies.filter(isWorkflow).map(({ type, conversationId, payload }, count) => ({
        id: nthId(event.id, count),
        conversation_id: conversationId,
        type,
        payload,
        created_at: new Date(event.at).toISOString(),
      })),
    );
  return latest(engine, record, { limit, itemsOf });
};

// Tool calls in all conversations that the caller may see.

/** A list reads the last page of the conversations that changed last. */
const MAX_CONVERSATIONS = 50;
/** The most pages read for a single run, from the end of its conversation. */
const MAX_PAGES = 100;

/** The latest runs, newest first. */
export async function latestRuns(engine: Engine, principal: Principal, limit: number): Promise<ToolRun[]> {
  const page = { limit: MAX_CONVERSATIONS, archived: 'included' } as const;
  let runs: ToolRun[] = [];
  for (const record of (await engine.list(principal, page)).sessions) {
    const last = runs[limit - 1];
    // Conversations are sorted by last change: this one and those after it have nothing newer.
    if (last && record.updatedAt < Date.parse(last.created_at)) break;
    const { value: events } = await engine.eventsBackwards(record.ref, record.head).next();
    runs = [...runs, ...runsOf(record.ref, events ?? []).values()];
    runs = runs
      .sort((one, other) => Date.parse(other.created_at) - Date.parse(one.created_at))
      .slice(0, limit);
  }
  return runs;
}

/** Null if it is unknown or belongs to another user. */
export async function findRun(engine: Engine, principal: Principal, id: string): Promise<ToolRun | null> {
  const turn = turnIn(id);
  const key = turn
    ? ({ kind: 'turn', id: turn } as const)
    : ({ kind: 'approval', id: id as ApprovalId } as const);
  const ref = await engine.lookup(principal, key);
  const record = ref && (await engine.record(ref));
  if (!record) return null;
  let events: DurableEvent[] = [];
  let pages = 0;
  for await (const before of engine.eventsBackwards(record.ref, record.head)) {
    events = [...before.filter(isOfCall), ...events];
    const runs = runsOf(record.ref, events);
    const found = runs.get(id) ?? [...runs.values()].find((run) => run.id === id);
    if (found) return found;
    if (++pages === MAX_PAGES) return null;
  }
  return null;
}

const OF_CALLS = [
  'call.requested',
  'approval.requested',
  'approval.answered',
  'tool.started',
  'call.deferred',
  'tool.ended',
] as const;
type CallEvent = DurableEvent<(typeof OF_CALLS)[number]>;

const isOfCall = (event: DurableEvent): event is CallEvent => OF_CALLS.some((type) => type === event.type);

/** The runs that start within the events, in order, by turn and call. */
function runsOf({ owner }: SessionRef, events: readonly DurableEvent[]): Map<string, ToolRun> {
  const runs = new Map<string, ToolRun>();
  let calls = NO_CALLS;
  for (const event of events) {
    calls = trackCalls(calls, event);
    if (!isOfCall(event)) continue;
    const key = `${event.turn}.${event.call}`;
    if (event.type === 'call.requested') runs.set(key, requested(event, owner));
    const [run, call] = [runs.get(key), calls[event.call]];
    if (!run || !call) continue;
    run.id = call.approval ?? run.id;
    run.status = STATUSES[call.status];
    if (event.type === 'tool.ended') run.result = resultOf(event);
  }
  return runs;
}

const requested = (event: DurableEvent<'call.requested'>, owner: string): ToolRun => ({
  id: event.call === directCallId(event.turn) ? event.call : `${event.turn}.${event.call}`,
  tool_id: event.tool,
  status: 'pending',
  requested_by: owner,
  parameters: event.input,
  result: null,
  created_at: new Date(event.at).toISOString(),
  conversation_id: event.session,
});

const STATUSES: Record<CallStatus, ToolRun['status']> = {
  requested: 'pending',
  asked: 'pending_approval',
  approved: 'approved',
  rejected: 'rejected',
  running: 'running',
  ok: 'completed',
  failed: 'failed',
  denied: 'rejected',
  aborted: 'cancelled',
  unknown: 'unknown',
};

/** The turn in the id of a run; null if it is the id of an approval. */
function turnIn(id: string): TurnId | null {
  const [, direct, turn] = /^(?:call_(.+)|([^.]+)\..+)$/s.exec(id) ?? [];
  return ((direct ?? turn) as TurnId | undefined) ?? null;
}
