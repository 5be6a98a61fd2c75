import type { Description } from '../shared/description.ts';
import { inbound } from './describe-inbound.ts';
import { outbound } from './describe-outbound.ts';

export const description: Description = {
  title: 'Editor',
  summary:
    'Editors that speak the Agent Client Protocol (Zed, JetBrains IDEs, …), version 1: JSON-RPC 2.0, one message per frame.',
  note: 'Editors start `parlance acp`, which connects their standard input and output with the server at PARLANCE_URL. Without that variable it runs its own agent, with the settings of `parlance serve`.',
  scripts: [
    {
      title: 'Zed: settings.json',
      language: 'json',
      code: `{
  "agent_servers": {
    "Parlance": {
      "type": "custom",
      "command": "parlance",
      "args": ["acp"],
      "env": { "PARLANCE_URL": "{{origin}}", "PARLANCE_TOKEN": "" }
    }
  }
}`,
    },
    {
      title: 'JetBrains IDEs: ~/.jetbrains/acp.json',
      language: 'json',
      code: `{
  "agent_servers": {
    "Parlance": {
      "command": "parlance",
      "args": ["acp"],
      "env": { "PARLANCE_URL": "{{origin}}", "PARLANCE_TOKEN": "" }
    }
  }
}`,
    },
    {
      title: 'The TypeScript SDK',
      language: 'ts',
      code: `import { spawn } from 'node:child_process';
import { Readable, Writable } from 'node:stream';
import { client, methods, ndJsonStream, PROTOCOL_VERSION } from '@agentclientprotocol/sdk';

const agent = spawn('parlance', ['acp'], {
  stdio: ['pipe', 'pipe', 'inherit'],
  env: { ...process.env, PARLANCE_URL: '{{origin}}' },
});
const stream = ndJsonStream(Writable.toWeb(agent.stdin), Readable.toWeb(agent.stdout));

await client({ name: 'example' })
  .onRequest(methods.client.session.requestPermission, () => ({ outcome: { outcome: 'cancelled' } }))
  .onNotification(methods.client.session.update, ({ params }) => console.log(params.update))
  .connectWith(stream, async (server) => {
    await server.request(methods.agent.initialize, { protocolVersion: PROTOCOL_VERSION, clientCapabilities: {} });
    const { sessionId } = await server.request(methods.agent.session.new, { cwd: process.cwd(), mcpServers: [] });
    const prompt = [{ type: 'text', text: 'count to 20' }];
    console.log(await server.request(methods.agent.session.prompt, { sessionId, prompt }));
  });`,
    },
  ],
  endpoints: [],
  socket: { nameField: 'method' },
  messages: { in: inbound, out: outbound },
};
