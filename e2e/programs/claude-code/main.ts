/** Claude Code in print mode: an answer, a tool that it runs itself, and a continued conversation. */
import { deepStrictEqual, match, strictEqual } from 'node:assert';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Answer, type ChatRequest, scriptedModel } from '../../scripted-model.ts';
import { durableOf, getJson, startProcess } from '../../server-process.ts';
import { installed } from '../install.ts';

const VERSION = '2.1.325';

const textOf = (content: unknown): string =>
  typeof content === 'string' ? content : JSON.stringify(content ?? '');

/** The answer depends on the last message. */
function answerTo({ messages, tools = [] }: ChatRequest): Answer {
  const last = messages.findLast(({ role }) => role !== 'system');
  const text = textOf(last?.content);
  if (last?.role === 'tool') return { say: `The command printed ${text.trim()}.` };
  if (text.includes('run it') && tools.some((tool) => tool.function.name === 'Bash'))
    return { call: 'Bash', input: { command: 'echo from-the-tool', description: 'Prints a word' } };
  return { say: text.includes('second') ? 'The second answer.' : 'The first answer.' };
}

const folder = mkdtempSync(join(tmpdir(), 'parlance-claude-code-'));
const work = mkdtempSync(join(tmpdir(), 'parlance-claude-code-work-'));
const model = scriptedModel(answerTo);
const server = await startProcess(folder, {
  OPENAI_BASE_URL: model.url,
  OPENAI_API_KEY: 'key',
  MODEL: 'fake',
  MODEL_ALIASES: 'claude-*=parlance',
});

type Printed = { readonly result: string; readonly session_id: string; readonly is_error: boolean };

async function claude(...args: string[]): Promise<Printed> {
  const program = join(
    await installed('claude-code', [`@anthropic-ai/claude-code@${VERSION}`]),
    `node_modules/@anthropic-ai/claude-code-${process.platform}-${process.arch}/claude`,
  );
  const child = Bun.spawn([program, '-p', '--output-format', 'json', ...args], {
    cwd: work,
    env: {
      PATH: process.env.PATH,
      HOME: work,
      ANTHROPIC_BASE_URL: server.http,
      ANTHROPIC_AUTH_TOKEN: 'any-word',
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      DISABLE_AUTOUPDATER: '1',
    },
    stdin: 'ignore',
    stderr: 'inherit',
    timeout: 120_000,
  });
  const text = await new Response(child.stdout).text();
  strictEqual(await child.exited, 0, text);
  return JSON.parse(text);
}

const sessions = async () =>
  (await getJson<{ sessions: { id: string }[] }>(`${server.http}/v1/sessions`)).sessions.map(({ id }) => id);

const countOf = async (session: string, type: string): Promise<number> =>
  (await durableOf(server, session)).filter((event) => event.type === type).length;

try {
  const first = await claude('say the first thing');
  strictEqual(first.result, 'The first answer.');
  const [session = ''] = await sessions();
  const second = await claude('--continue', 'say the second thing');
  strictEqual(second.result, 'The second answer.');
  const third = await claude('--resume', second.session_id, '--allowedTools', 'Bash', '--', 'run it');
  match(third.result, /^The command printed from-the-tool/);
  strictEqual(await countOf(session, 'turn.started'), 3, 'the conversation is one session');
  strictEqual(await countOf(session, 'tool.ended'), 1);
  deepStrictEqual(await sessions(), [session]);
  console.log('an answer, --continue, --resume with a tool: one session with three turns');
} finally {
  await server.kill();
  model.stop();
  rmSync(folder, { recursive: true, force: true });
  rmSync(work, { recursive: true, force: true });
}
