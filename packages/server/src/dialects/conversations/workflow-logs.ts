/** The workflow frames of a conversation, as they were sent, read from its events. */
import type { DurableEvent } from '@parlance/protocol';
import type { Engine, SessionRecord } from '../../core/api/index.ts';
import { nthId } from '../shared/ids.ts';
import type { Body } from './bodies.ts';
import { latest } from './history.ts';
import { start, step } from './projection.ts';

type WorkflowBody = Extract<Body, { type: `workflow_${string}` }>;

export type WorkflowLog = {
  id: string;
  conversation_id: string;
  type: WorkflowBody['type'];
  payload: WorkflowBody['payload'];
  created_at: string;
};

/** The latest `limit`, oldest first. */
export const latestWorkflow = (
  engine: Engine,
  record: SessionRecord,
  limit: number,
): Promise<WorkflowLog[]> =>
  latest(engine, record, { limit, itemsOf: (events, whole) => workflowOf(record, events, whole) });

function workflowOf(
  { ref, agent }: SessionRecord,
  events: readonly DurableEvent[],
  whole: boolean,
): WorkflowLog[] {
  const first = whole ? 0 : firstWholeTurn(events);
  if (first < 0) return [];
  const logs: WorkflowLog[] = [];
  let state = start({ ref, agent: { id: agent, name: agent }, open: null });
  for (const [index, event] of events.entries()) {
    const [next, frames] = step(state, event);
    state = next;
    if (index < first) continue;
    const workflow = frames.map(({ body }) => body).filter(isWorkflow);
    logs.push(...workflow.map((body, count) => logOf(event, body, count)));
  }
  return logs;
}

/** What a turn is depends on its input, which comes before it. */
function firstWholeTurn(events: readonly DurableEvent[]): number {
  const inputs = new Set<string>();
  return events.findIndex((event) => {
    if (event.type === 'input.accepted') inputs.add(event.input);
    return event.type === 'turn.started' && inputs.has(event.input);
  });
}

const isWorkflow = (body: Body): body is WorkflowBody => body.type.startsWith('workflow_');

const logOf = (
  event: DurableEvent,
  { type, conversationId, payload }: WorkflowBody,
  count: number,
): WorkflowLog => ({
  id: nthId(event.id, count),
  conversation_id: conversationId,
  type,
  payload,
  created_at: new Date(event.at).toISOString(),
});
