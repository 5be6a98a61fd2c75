/**
 * A program: a stdio MCP server for tests, whose only tool is defined by the file `definition.json` in its working
 * directory, and whose prompts are in `prompts.json`. Announces changed tools when the tool was called with `announce`,
 * and changed prompts when their file changes. Counts calls in the file `calls`, and answers none while there is a file `hang`.
 */
import { appendFileSync, existsSync, readFileSync, watch } from 'node:fs';

type Message = { id?: number; method?: string; params?: { arguments?: { announce?: boolean } } };

const send = (message: object) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);

function resultOf({ method }: Message): object {
  if (method === 'tools/list') return { tools: [JSON.parse(readFileSync('definition.json', 'utf8'))] };
  if (method === 'prompts/list')
    return { prompts: existsSync('prompts.json') ? JSON.parse(readFileSync('prompts.json', 'utf8')) : [] };
  if (method === 'tools/call') return { content: [{ type: 'text', text: 'done' }] };
  return {
    protocolVersion: '2025-06-18',
    capabilities: { tools: { listChanged: true }, prompts: { listChanged: true } },
    serverInfo: { name: 'changing', version: '1' },
  };
}

watch('.', (_, file) => {
  if (file === 'prompts.json') send({ method: 'notifications/prompts/list_changed' });
});
process.stdin.on('end', () => process.exit(0));
let rest = '';
for await (const chunk of Bun.stdin.stream().pipeThrough(new TextDecoderStream())) {
  const lines = (rest + chunk).split('\n');
  rest = lines.pop() ?? '';
  for (const line of lines) {
    const message = JSON.parse(line) as Message;
    if (message.method === 'tools/call') appendFileSync('calls', 'x');
    if (message.method === 'tools/call' && existsSync('hang')) continue;
    if (message.id !== undefined) send({ id: message.id, result: resultOf(message) });
    if (message.params?.arguments?.announce) send({ method: 'notifications/tools/list_changed' });
  }
}
