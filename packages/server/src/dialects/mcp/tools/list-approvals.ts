import { z } from 'zod';
import { ApprovalView, approvalView } from '../turn-result.ts';
import { dataResult, defineTool } from './tool.ts';

const MAX_APPROVALS = 100;

export const listApprovals = defineTool({
  name: 'list_approvals',
  title: 'List approvals',
  description: 'Lists the tool calls that wait for approval in all sessions of the user.',
  input: z.object({}),
  output: z.object({ approvals: z.array(ApprovalView.extend({ session: z.string() })) }),
  readOnly: true,
  async run({ engine }, { principal }) {
    const { waiting } = await engine.approvals(principal, { limit: MAX_APPROVALS });
    const approvals = waiting.flatMap(({ ref, approvals }) =>
      approvals.map((pending) => ({ ...approvalView(pending), session: ref.id })),
    );
    const lines = approvals.map(
      ({ id, session, tool, description }) => `${id} (session ${session}) ${tool}: ${description}`,
    );
    return dataResult({ approvals }, lines.join('\n') || 'No approvals are waiting.');
  },
});
