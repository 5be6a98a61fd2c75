/**
 * Codex CLI with Parlance as its model provider: a task with a command that Codex runs, and a second task in
 * the same conversation, over HTTP and over a WebSocket. Both are one session.
 */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Answer, type ChatRequest, scriptedModel } from '../../scripted-model.ts';
import { durableOf, getJson, startProcess } from '../../server-process.ts';
import { installed } from '../install.ts';

const CODEX = '@openai/codex@0.166.0';
const WORD = 'heliotrope';

const program = await installed('codex', [CODEX]);
const folder = mkdtempSync(join(tmpdir(), 'parlance-codex-'));

/** Requests the content of a file with the command tool of Codex, then repeats the result. */
function answerTo({ messages, tools = [] }: ChatRequest): Answer {
  const last = messages.at(-1);
  const text = JSON.stringify(last?.content ?? '');
  if (last?.role === 'tool') return { say: `The file says ${text.includes(WORD) ? WORD : 'nothing'}.` };
  if (!text.includes('What does the file say')) return { say: 'You asked about a file before.' };
  const names = tools.map((tool) => tool.function.name);
  if (names.includes('exec_command')) return { call: 'exec_command', input: { cmd: 'cat note.txt' } };
  return {
    call: names.find((name) => name.includes('shell')) ?? 'shell',
    input: { command: ['cat', 'note.txt'] },
  };
}

const model = scriptedModel(answerTo);
const server = await startProcess(folder, {
  OPENAI_BASE_URL: model.url,
  OPENAI_API_KEY: 'key',
  MODEL: 'fake',
});

async function codex(...args: string[]): Promise<string> {
  const child = Bun.spawn([join(program, 'node_modules/.bin/codex'), 'exec', ...args], {
    cwd: folder,
    env: {
      PATH: process.env.PATH ?? '',
      HOME: folder,
      CODEX_HOME: join(folder, '.codex'),
      PARLANCE_TOKEN: 'none',
    },
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  });
  const [code, out, err] = await Promise.all([child.exited, child.stdout.text(), child.stderr.text()]);
  assert.equal(code, 0, `codex ${args.join(' ')}\n${out}\n${err}`);
  return out + err;
}

const config = (supportsWebSockets: boolean) => `
model = "fake"
model_provider = "parlance"
approval_policy = "never"
sandbox_mode = "danger-full-access"

[model_providers.parlance]
name = "Parlance"
base_url = "${server.http}/openai/v1"
env_key = "PARLANCE_TOKEN"
wire_api = "responses"
supports_websockets = ${supportsWebSockets}
`;

try {
  writeFileSync(join(folder, 'note.txt'), `${WORD}\n`);
  for (const [index, supportsWebSockets] of [false, true].entries()) {
    await Bun.write(join(folder, '.codex/config.toml'), config(supportsWebSockets));
    const first = await codex('--skip-git-repo-check', 'What does the file say?');
    assert.match(first, new RegExp(`The file says ${WORD}`));
    // It would use HTTP after a failure.
    assert.doesNotMatch(first, /reconnecting|fall(?:ing)? ?back/i);
    const second = await codex('resume', '--last', '--skip-git-repo-check', 'What did I ask?');
    assert.match(second, /You asked about a file before/);

    const { sessions } = await getJson<{ sessions: { id: string }[] }>(`${server.http}/v1/sessions`);
    assert.equal(sessions.length, index + 1, 'both tasks are one session');
    const events = await durableOf(server, sessions[0]?.id ?? '');
    const count = (type: string) => events.filter((event) => event.type === type).length;
    assert.equal(count('turn.started'), 2);
    assert.equal(count('call.deferred'), 1);
    assert.equal(count('history.imported'), 0);
  }
} finally {
  await server.kill();
  model.stop();
  rmSync(folder, { recursive: true, force: true });
}
