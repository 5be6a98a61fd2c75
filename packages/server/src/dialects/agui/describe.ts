import { z } from 'zod';
import { type Description, errorAnswers, named } from '../kit/description.ts';
import { RunAgentInput } from './contract.ts';

named('AguiRunAgentInput', RunAgentInput);

const ErrorAnswer = named(
  'AguiError',
  z.object({ message: z.string(), code: z.string().describe('the code of the fault, such as not_found') }),
);

const NODE_SCRIPT = {
  title: 'Node and Bun, with @ag-ui/client',
  language: 'ts',
  code: `import { HttpAgent } from '@ag-ui/client';

const token = process.env.PARLANCE_TOKEN;
const agent = new HttpAgent({
  url: '{{origin}}/agui',
  headers: token ? { Authorization: \`Bearer \${token}\` } : {},
});
agent.addMessage({ id: crypto.randomUUID(), role: 'user', content: 'count to 20' });
await agent.runAgent({}, {
  onTextMessageContentEvent: ({ event }) => void process.stdout.write(event.delta),
});`,
} as const;

const RUNTIME_SCRIPT = {
  title: 'CopilotKit, the runtime in a Node server',
  language: 'ts',
  code: `import { createServer } from 'node:http';
import { HttpAgent } from '@ag-ui/client';
import { CopilotRuntime } from '@copilotkit/runtime/v2';
import { createCopilotNodeListener } from '@copilotkit/runtime/v2/node';

const runtime = new CopilotRuntime({ agents: { default: new HttpAgent({ url: '{{origin}}/agui' }) } });
createServer(createCopilotNodeListener({ runtime, basePath: '/api/copilotkit', cors: true })).listen(4000);`,
} as const;

export const description: Description = {
  title: 'AG-UI front ends',
  summary:
    'HttpAgent of @ag-ui/client, CopilotKit and other AG-UI clients: set the URL to /agui or /agui/{agent}.',
  note: 'The thread is the session. Approvals are interrupts: answer them with resume in the next run.',
  scripts: [NODE_SCRIPT, RUNTIME_SCRIPT],
  errors: errorAnswers(
    {
      400: 'Missing or invalid field, or an empty message',
      401: 'Missing or invalid token',
      403: 'The role lacks the permission',
      404: 'Unknown agent, thread or interrupt',
      413: 'The body is too large',
      429: 'Too many requests',
      503: 'The server is overloaded or shutting down',
    },
    { schema: ErrorAnswer },
  ),
};
