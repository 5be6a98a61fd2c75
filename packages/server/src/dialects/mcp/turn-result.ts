/** The outcome of a turn as the result of a tool. */
import { type JsonObject, visibleJson } from '@parlance/protocol';
import { z } from 'zod';
import type { PendingApproval } from '../../core/index.ts';
import { wholeText } from '../kit/approval-text.ts';
import type { FollowedTurn, TurnEnd } from './turn-watch.ts';

export const ApprovalView = z.object({
  id: z.string(),
  tool: z.string(),
  input: z.record(z.string(), z.unknown()),
  description: z.string(),
});

export const approvalView = ({
  approval,
  tool,
  input,
  ask,
}: PendingApproval): z.output<typeof ApprovalView> => ({
  id: approval,
  tool,
  input: visibleJson(input) as JsonObject,
  description: ask.description,
});

export const TurnView = z.object({
  session: z.string().describe('id of the session; pass it to continue the conversation'),
  turn: z.string(),
  status: z
    .enum(['done', 'running', 'waiting', 'cancelled', 'failed'])
    .describe('running: the turn continues, read it later with read_session; waiting: for an approval'),
  text: z.string().describe('the text of the agent'),
  approval: ApprovalView.optional().describe('what waits for an answer with answer_approval'),
});

export type TurnNow = {
  readonly followed: FollowedTurn;
  readonly text: string;
  readonly end: TurnEnd | null;
  readonly approvals: readonly PendingApproval[];
};

export function turnResult({ followed: { ref, turn }, text: answer, end, approvals: [pending] }: TurnNow) {
  const status = end?.status ?? (pending ? 'waiting' : 'running');
  const text = [answer, note(end, pending)].filter((part) => part !== '').join('\n\n');
  return {
    content: [{ type: 'text' as const, text }],
    structuredContent: {
      session: ref.id,
      turn,
      status,
      text,
      ...(status === 'waiting' && pending && { approval: approvalView(pending) }),
    },
    ...(status === 'failed' && { isError: true }),
  };
}

/** The line after the agent's text, unless the turn has succeeded. */
function note(end: TurnEnd | null, pending: PendingApproval | undefined): string {
  if (end?.status === 'failed') return end.message;
  if (end) return end.status === 'done' ? '' : 'The turn was cancelled.';
  if (!pending) return 'The agent is still working. Read the session later with read_session.';
  const { approval, tool, ask } = pending;
  return `Waiting for approval of ${tool}: ${wholeText(ask)} Answer with answer_approval (approval: ${approval}).`;
}
