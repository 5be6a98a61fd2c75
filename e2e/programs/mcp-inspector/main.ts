/**
 * The MCP Inspector without its page, with the exact configurations of the guide, in both eras of the protocol.
 */
import { match, strictEqual } from 'node:assert';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startTestServer } from '../../../packages/server/src/testing/server.ts';
import { pathWithParlance } from '../../guide.ts';
import { configured } from '../../mcp/configurations.ts';
import { type Answer, type ChatRequest, scriptedModel } from '../../scripted-model.ts';
import { installed } from '../install.ts';

const VERSION = '2.12.0';

function answerTo({ messages }: ChatRequest): Answer {
  const last = messages.at(-1);
  if (last?.role === 'tool') return { say: 'Made it.' };
  const [, file] = /touch (\w+)/.exec(String(last?.content)) ?? [];
  return file
    ? { call: 'shell', input: { command: ['touch', `${file}.txt`] } }
    : { say: `You said ${last?.content}.` };
}

const folder = mkdtempSync(join(tmpdir(), 'parlance-inspector-'));
const program = join(
  await installed('mcp-inspector', [`@modelcontextprotocol/inspector@${VERSION}`]),
  'node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js',
);
const model = scriptedModel(answerTo);
const server = await startTestServer({
  OPENAI_BASE_URL: model.url,
  OPENAI_API_KEY: 'key',
  MODEL: 'fake',
  PARLANCE_AUTH: 'required',
});

type Output = { readonly code: number; readonly text: string };

async function inspector(...args: string[]): Promise<Output> {
  const child = Bun.spawn(['node', program, '--cli', '--format', 'json', '-q', ...args], {
    cwd: folder,
    env: { PATH: pathWithParlance(folder), HOME: folder },
    stdin: 'ignore',
    stderr: 'pipe',
    timeout: 120_000,
  });
  const [text, errors] = await Promise.all([child.stdout.text(), child.stderr.text()]);
  return { code: await child.exited, text: text + errors };
}

try {
  const token = await server.login('dev', 'dev-password');
  for (const client of ['Claude Desktop', 'VS Code', 'Cursor'] as const)
    for (const era of ['legacy', 'modern'] as const) {
      const file = join(folder, 'mcp.json');
      const { parlance } = await configured(server.http, client, token);
      // Cursor derives the type from the field; the inspector needs it.
      const typed = parlance && 'url' in parlance ? { type: 'http', ...parlance } : parlance;
      writeFileSync(file, JSON.stringify({ mcpServers: { parlance: typed } }));
      const ask = async (...args: string[]): Promise<string> => {
        const from = ['--config', file, '--server', 'parlance', '--protocol-era', era];
        const { code, text } = await inspector(...from, ...args);
        strictEqual(code, 0, `${client}, ${era}: ${args.join(' ')}: ${text}`);
        return text;
      };
      const call = (tool: string, args: object) =>
        ask('--method', 'tools/call', '--tool-name', tool, '--tool-args-json', JSON.stringify(args));
      // With --strict it fails if some client would not accept the schema of a tool.
      match(await ask('--method', 'tools/list', '--strict'), /send_message/);
      const session = `${client.replace(' ', '_')}_${era}`;
      match(await call('send_message', { text: 'hello', session }), /You said hello\./);
      const waiting = await call('send_message', { text: `touch ${session}`, session });
      const [, approval] = /"id":\s*"([^"]+)"/.exec(waiting) ?? [];
      match(await call('answer_approval', { approval, answer: 'once' }), /Made it\./);
      strictEqual(existsSync(join(server.root, `${session}.txt`)), true);
      match(
        await ask('--method', 'resources/read', '--uri', `parlance://sessions/${session}`),
        /You said hello/,
      );
    }
  console.log('tools, a turn, an approval and a resource with three configurations in two eras');
} finally {
  await server.stop();
  model.stop();
  rmSync(folder, { recursive: true, force: true });
}
