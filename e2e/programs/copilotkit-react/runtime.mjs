/** CopilotKit's runtime with Parlance as its agent. Prints its address. Runs in a folder with the packages installed. */
import { createServer } from 'node:http';
import { HttpAgent } from '@ag-ui/client';
import { CopilotRuntime } from '@copilotkit/runtime/v2';
import { createCopilotNodeListener } from '@copilotkit/runtime/v2/node';

const basePath = '/api/copilotkit';
const agent = new HttpAgent({ url: `${process.env.PARLANCE_URL}/agui` });
const runtime = new CopilotRuntime({ agents: { default: agent } });
const server = createServer(
  createCopilotNodeListener({ runtime, basePath, cors: true, activateChannels: false }),
);
server.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${server.address().port}${basePath}`));
