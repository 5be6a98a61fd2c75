import { Fault } from '@parlance/protocol';
import { z } from 'zod';
import { dataResult, defineTool } from './tool.ts';

export const cancelTurn = defineTool({
  name: 'cancel_turn',
  title: 'Cancel a turn',
  description: 'Stops the agent in a session. Text that it has already written is kept.',
  input: z.object({ session: z.string().describe('id of the session') }),
  output: z.object({ session: z.string(), status: z.literal('cancelled') }),
  async run({ engine }, { principal }, { session }) {
    const ref = await engine.find(principal, session);
    if (!ref) throw new Fault('not_found', 'There is no such session.');
    await engine.send(ref, { type: 'turn.cancel' }, { principal, dialect: 'mcp' });
    return dataResult({ session: ref.id, status: 'cancelled' }, 'The turn was cancelled.');
  },
});
