/** Sub-agents that write at the same time, on a server with its sandbox, which is killed while a person is asked. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect } from '@parlance/sdk';
import { textOf } from '../packages/protocol/src/index.ts';
import { freePort } from '../packages/server/src/testing/free-port.ts';
import { until } from '../packages/server/src/testing/until.ts';
import { scriptedConversations, spawn } from './conversations.ts';
import type { ChatRequest, ScriptedModel } from './scripted-model.ts';
import { durableOf, type ServerProcess, startProcess } from './server-process.ts';

const results = ({ messages }: ChatRequest): string =>
  messages.flatMap(({ role, content }) => (role === 'tool' ? [String(content)] : [])).join(' | ');

describe('two sub-agents with worktrees', () => {
  const folder = mkdtempSync(join(tmpdir(), 'parlance-worktrees-'));
  const settings = { PORT: String(freePort()), TOOL_USE_APPROVAL_MODE: 'auto-edit' };
  let model: ScriptedModel;
  let server: ServerProcess;

  const git = (...argv: string[]) =>
    Bun.spawnSync(['git', '-c', 'user.name=S', '-c', 'user.email=s@localhost', ...argv], { cwd: folder });
  const read = (path: string) => readFileSync(join(folder, path), 'utf8');
  const start = async () => {
    server = await startProcess(folder, { ...settings, ...model.settings });
  };

  beforeAll(async () => {
    model = scriptedConversations({
      'Write both': [
        {
          calls: [
            spawn('first', 'Write the first', { worktree: true }),
            spawn('second', 'Write the second', { worktree: true }),
          ],
        },
        (request) => ({ say: `Outcomes: ${results(request)}` }),
      ],
      'Write the first': [
        { call: 'save_file', input: { path: 'first.txt', content: 'first\n' } },
        { call: 'shell', input: { command: ['ls'] } },
        (request) => ({ say: `It has ${results(request).replaceAll('\n', ' ')}` }),
      ],
      'Write the second': [
        { call: 'save_file', input: { path: 'shared.txt', content: 'second\n' } },
        { call: 'shell', input: { command: ['git', 'status', '--short'] } },
        { call: 'shell', input: { command: ['sh', '-c', 'ls ../../../..; echo by a command > made.txt'] } },
        (request) => ({ say: `It has ${results(request).replaceAll('\n', ' ')}` }),
      ],
    });
    git('init', '--quiet');
    writeFileSync(join(folder, 'shared.txt'), 'one\n');
    writeFileSync(join(folder, '.gitignore'), 'data\n');
    git('add', '.');
    git('commit', '--quiet', '-m', 'First');
    writeFileSync(join(folder, 'shared.txt'), 'not committed\n');
    await start();
  });
  afterAll(async () => {
    await server?.kill();
    model?.stop();
    rmSync(folder, { recursive: true });
  });

  test('change the folder when a person says so, one of them after a kill', async () => {
    const session = connect({ url: server.http }).session();
    await session.submit('Write both');
    const { id } = session;
    const pending = async () => {
      const questions = await connect({ url: server.http }).questions.list();
      return questions.filter(({ purpose }) => purpose === 'merge');
    };
    const approve = async () => {
      const approvals = await connect({ url: server.http }).approvals.list();
      for (const { id: approval } of approvals)
        await connect({ url: server.http })
          .approvals.answer(approval, { answer: 'once' })
          .catch(() => undefined);
    };
    await until(async () => {
      await approve();
      return (await pending()).length === 2;
    });
    expect(existsSync(join(folder, 'first.txt'))).toBe(false);
    expect(read('shared.txt')).toBe('not committed\n');

    await server.kill();
    await start();
    // Somebody else changes a file that one of them has changed as well.
    writeFileSync(join(folder, 'shared.txt'), 'by somebody else\n');
    for (const { id: question } of await pending())
      await connect({ url: server.http }).questions.answer(question, { merge: ['Apply'] });
    await until(async () => (await durableOf(server, id)).some(({ type }) => type === 'turn.ended'));

    expect([read('first.txt'), read('shared.txt'), read('made.txt')]).toEqual([
      'first\n',
      'by somebody else\n',
      'by a command\n',
    ]);
    const answers = (await durableOf(server, id))
      .flatMap((event) => (event.type === 'tool.ended' ? textOf(event.parts) : []))
      .sort((one, other) => Number(one.includes('shared.txt:')) - Number(other.includes('shared.txt:')));
    expect(answers[0]).toMatch(/It has .*first\.txt .*shared\.txt/);
    expect(answers[0]).toContain('Applied to the working folder: first.txt (added).');
    // Its git compares with the copied folder, and its command sees nothing else of the data folder.
    expect(answers[1]).toContain(' M shared.txt');
    expect(answers[1]).toContain('made.txt (added)');
    expect(answers[1]).toContain('Not applied, kept in the worktree: shared.txt');
    expect(answers[1]).not.toMatch(/parlance\.(sqlite|db)|secret/);
    expect(git('diff', '--cached', '--name-only').stdout.toString()).toBe('');
    expect(git('log', '--format=%s').stdout.toString()).toBe('First\n');
  });
});
