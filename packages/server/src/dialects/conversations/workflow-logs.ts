/** The workflow frames of a conversation, as they were sent, read from its facts. */
import type { Fact } from '@parlance/protocol';
import type { Engine, SessionRecord } from '../../core/engine.ts';
import { nthId } from '../ids.ts';
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
  latest(engine, record, { limit, itemsOf: (facts, whole) => workflowOf(record, facts, whole) });

function workflowOf({ ref, agent }: SessionRecord, facts: readonly Fact[], whole: boolean): WorkflowLog[] {
  const first = whole ? 0 : firstWholeTurn(facts);
  if (first < 0) return [];
  const logs: WorkflowLog[] = [];
  let state = start({ ref, agent: { id: agent, name: agent }, open: null });
  for (const [index, fact] of facts.entries()) {
    const [next, frames] = step(state, fact);
    state = next;
    if (index < first) continue;
    const workflow = frames.map(({ body }) => body).filter(isWorkflow);
    logs.push(...workflow.map((body, count) => logOf(fact, body, count)));
  }
  return logs;
}

/** What a turn is depends on its input, which comes before it. */
function firstWholeTurn(facts: readonly Fact[]): number {
  const inputs = new Set<string>();
  return facts.findIndex((fact) => {
    if (fact.type === 'input.accepted') inputs.add(fact.input);
    return fact.type === 'turn.started' && inputs.has(fact.input);
  });
}

const isWorkflow = (body: Body): body is WorkflowBody => body.type.startsWith('workflow_');

const logOf = (fact: Fact, { type, conversationId, payload }: WorkflowBody, count: number): WorkflowLog => ({
  id: nthId(fact.id, count),
  conversation_id: conversationId,
  type,
  payload,
  created_at: new Date(fact.at).toISOString(),
});
