/** The calls of tools, over all conversations that the caller may see, read from their facts. */
import type { ApprovalId, Fact, JsonObject, Principal, TurnId } from '@parlance/protocol';
import { directCallId, type Engine, type SessionRecord, type SessionRef } from '../../core/engine.ts';
import type { RUN_STATUSES } from './schemas.ts';
import { resultOf } from './tool-outcome.ts';

export type ToolRun = {
  /** the `requestId` of its frames, if no other call can have the same one; else the turn and the call */
  id: string;
  tool_id: string;
  status: (typeof RUN_STATUSES)[number];
  requested_by: string;
  parameters: JsonObject;
  /** null until there is one */
  result: JsonObject | null;
  created_at: string;
  conversation_id: string;
};

/** How much a list reads: the ends of the conversations that changed last. */
const MOST_CONVERSATIONS = 50;
const MOST_FACTS = 500;
/** How much of its conversation is read for a single run, from the end. */
const MOST_PAGES = 100;

/** The latest runs, the newest first. */
export async function latestRuns(engine: Engine, principal: Principal, limit: number): Promise<ToolRun[]> {
  const page = { limit: MOST_CONVERSATIONS, archived: 'included' } as const;
  let runs: ToolRun[] = [];
  for (const record of (await engine.list(principal, page)).sessions) {
    const last = runs[limit - 1];
    // Conversations come by their last change: nothing in this one or those after it is newer.
    if (last && record.updatedAt < Date.parse(last.created_at)) break;
    runs = [...runs, ...runsOf(record.ref, await factsBefore(engine, record, record.head)).values()];
    runs = runs
      .sort((one, other) => Date.parse(other.created_at) - Date.parse(one.created_at))
      .slice(0, limit);
  }
  return runs;
}

/** Null for what is unknown or someone else's. */
export async function findRun(engine: Engine, principal: Principal, id: string): Promise<ToolRun | null> {
  const turn = turnIn(id);
  const key = turn
    ? ({ kind: 'turn', id: turn } as const)
    : ({ kind: 'approval', id: id as ApprovalId } as const);
  const ref = await engine.lookup(principal, key);
  const record = ref && (await engine.record(ref));
  if (!record) return null;
  let facts: Fact[] = [];
  for (let page = 0, end = record.head; page < MOST_PAGES && end > 0; page++, end -= MOST_FACTS) {
    facts = [...(await factsBefore(engine, record, end)).filter(isOfCall), ...facts];
    const runs = runsOf(record.ref, facts);
    const found = runs.get(id) ?? [...runs.values()].find((run) => run.id === id);
    if (found) return found;
  }
  return null;
}

const factsBefore = (engine: Engine, { ref }: SessionRecord, end: number): Promise<Fact[]> => {
  const after = Math.max(0, end - MOST_FACTS);
  return engine.facts(ref, after, end - after);
};

const OF_CALLS = [
  'call.requested',
  'approval.requested',
  'approval.answered',
  'tool.started',
  'call.deferred',
  'tool.ended',
] as const;
type CallFact = Fact<(typeof OF_CALLS)[number]>;

const isOfCall = (fact: Fact): fact is CallFact => OF_CALLS.some((type) => type === fact.type);

/** The runs whose beginning is among the facts, in order, by turn and call. */
function runsOf({ owner }: SessionRef, facts: readonly Fact[]): Map<string, ToolRun> {
  const runs = new Map<string, ToolRun>();
  for (const fact of facts.filter(isOfCall)) {
    const key = `${fact.turn}.${fact.call}`;
    if (fact.type === 'call.requested') runs.set(key, requested(fact, owner));
    const run = runs.get(key);
    if (run) Object.assign(run, changed(fact));
  }
  return runs;
}

const requested = (fact: Fact<'call.requested'>, owner: string): ToolRun => ({
  id: fact.call === directCallId(fact.turn) ? fact.call : `${fact.turn}.${fact.call}`,
  tool_id: fact.tool,
  status: 'pending',
  requested_by: owner,
  parameters: fact.input,
  result: null,
  created_at: new Date(fact.at).toISOString(),
  conversation_id: fact.session,
});

function changed(fact: CallFact): Partial<ToolRun> {
  switch (fact.type) {
    case 'call.requested':
      return {};
    case 'approval.requested':
      return { id: fact.approval, status: 'pending_approval' };
    case 'approval.answered':
      return { status: fact.answer === 'deny' ? 'rejected' : 'approved' };
    case 'tool.started':
    case 'call.deferred':
      return { status: 'running' };
    case 'tool.ended':
      return { status: ENDED[fact.outcome], result: resultOf(fact) };
  }
}

const ENDED = {
  ok: 'completed',
  failed: 'failed',
  denied: 'rejected',
  aborted: 'cancelled',
  unknown: 'unknown',
} satisfies Record<Fact<'tool.ended'>['outcome'], ToolRun['status']>;

/** The turn that the id of a run names; null if it is the id of an approval. */
function turnIn(id: string): TurnId | null {
  const [, direct, turn] = /^(?:call_(.+)|([^.]+)\..+)$/s.exec(id) ?? [];
  return ((direct ?? turn) as TurnId | undefined) ?? null;
}
