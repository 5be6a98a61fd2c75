/** The workflow frames of a conversation as they were sent, reconstructed from its events. */
import type { DurableEvent } from '@parlance/protocol';
import type { Engine, SessionRecord } from '../../core/api/index.ts';
import { nthId } from '../shared/ids.ts';
import { latest } from '../shared/latest-items.ts';
import { replay } from '../shared/replay.ts';
import type { Body } from './bodies.ts';
import { startOf, step } from './projection.ts';

type WorkflowBody = Extract<Body, { type: `workflow_${string}` }>;

export type WorkflowLog = {
  id: string;
  conversation_id: string;
  type: WorkflowBody['type'];
  payload: WorkflowBody['payload'];
  created_at: string;
};

/** The latest `limit` frames, oldest first. */
export const latestWorkflow = (
  engine: Engine,
  record: SessionRecord,
  limit: number,
): Promise<WorkflowLog[]> =>
  latest(engine, record, { limit, itemsOf: (events, first) => workflowOf(record, events, first) });

const workflowOf = (record: SessionRecord, events: readonly DurableEvent[], first: number): WorkflowLog[] =>
  [...replay(step, startOf(record), events)]
    .slice(first)
    .flatMap(({ event, bodies }) =>
      bodies.filter(isWorkflow).map((body, count) => logOf(event, body, count)),
    );

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
