/** The file for the answers that the A2A TCK asks for. */
import { defineTool, z } from '@parlance/sdk/tools';

export const attach = defineTool({
  name: 'attach',
  description: 'Attaches a file to the answer.',
  parameters: z.object({}),
  approval: 'never',
  run: () => ({ parts: [{ type: 'file', name: 'output.txt', mime: 'text/plain', data: btoa('Hello') }] }),
});
