import { type ApprovalId, type DurableEvent, Fault } from '@parlance/protocol';
import { z } from 'zod';
import { followTurn } from '../follow-turn.ts';
import { TurnView } from '../turn-result.ts';
import { continued } from './continued.ts';
import { defineTool } from './tool.ts';

export const answerApproval = defineTool({
  name: 'answer_approval',
  title: 'Answer an approval',
  description:
    'Allows or denies a tool call that waits for approval, and returns the rest of the answer. Ask the user first: the call has effects on their machine.',
  input: z.object({
    approval: z.string().describe('id of the approval'),
    answer: z
      .enum(['once', 'always', 'deny'])
      .describe('always: allows such calls in this session from now on'),
    reason: z.string().max(10_000).optional().describe('why it is denied, for the agent'),
  }),
  output: TurnView,
  isLong: true,
  async run(ctx, call, { approval, answer, reason }) {
    const { engine } = ctx;
    const { principal } = call;
    const earlier = await continued(ctx, call);
    if (earlier) return followTurn(ctx, call, earlier);
    const id = approval as ApprovalId;
    const ref = await engine.lookup(principal, { kind: 'approval', id });
    if (!ref) throw new Fault('not_found', 'There is no such approval.');
    const caller = { principal, dialect: 'mcp' };
    const { events } = await engine.send(
      ref,
      { type: 'approval.answer', approval: id, answer, reason },
      caller,
    );
    const answered = events.find(
      (event): event is DurableEvent<'approval.answered'> => event.type === 'approval.answered',
    );
    if (!answered) throw new Error('an approval was answered without an event');
    return followTurn(ctx, call, { ref, turn: answered.turn, after: answered.seq });
  },
});
