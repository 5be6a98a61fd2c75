/** Tool calls in all conversations that the caller may see, read from their events. */
import type { ApprovalId, DurableEvent, JsonObject, Principal, TurnId } from '@parlance/protocol';
import { directCallId, type Engine, type SessionRef } from '../../core/index.ts';
import { type CallStatus, NO_CALLS, trackCalls } from '../kit/calls.ts';
import type { RUN_STATUSES } from './schemas.ts';
import { resultOf } from './tool-outcome.ts';

export type ToolRun = {
  /** the `requestId` of its frames if it is unique, otherwise turn and call */
  id: string;
  tool_id: string;
  status: (typeof RUN_STATUSES)[number];
  requested_by: string;
  parameters: JsonObject;
  /** null until the call has ended */
  result: JsonObject | null;
  created_at: string;
  conversation_id: string;
};

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
