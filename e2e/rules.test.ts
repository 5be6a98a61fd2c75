/** Rules of the operator against a model that tries to bypass them. */
import { afterAll, describe, expect, test } from 'bun:test';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DurableEvent } from '../packages/protocol/src/index.ts';
import { startTestServer, type TestServer } from '../packages/server/src/testing/server.ts';
import { findSandbox } from '../packages/server/src/tools/shell/sandbox.ts';
import { type ScriptedModel, scriptedModel } from './scripted-model.ts';
import { followed, submit } from './server-process.ts';

const folder = mkdtempSync(join(tmpdir(), 'parlance-rules-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

type Rules = { readonly tool: string; readonly pattern: string; readonly decision: string }[];

/** A server with these rules whose model makes the call and then ends. */
async function ruled(
  rules: Rules,
  call: { readonly tool?: string; readonly input: object },
  mode = 'suggest',
): Promise<{ server: TestServer; model: ScriptedModel }> {
  const config = join(mkdtempSync(join(folder, 'case-')), 'config.json');
  writeFileSync(config, JSON.stringify({ rules }));
  const model = scriptedModel(({ messages }) =>
    messages.at(-1)?.role === 'tool' ? { say: 'Done.' } : { call: call.tool ?? 'shell', input: call.input },
  );
  const server = await startTestServer({
    PARLANCE_CONFIG: config,
    OPENAI_BASE_URL: model.url,
    OPENAI_API_KEY: 'key',
    MODEL: 'fake',
    TOOL_USE_APPROVAL_MODE: mode,
  });
  return { server, model };
}

const settled = ({ type }: DurableEvent): boolean => type === 'approval.requested' || type === 'tool.ended';

/** The result of the call: `ask`, or its outcome. */
async function verdict(rules: Rules, call: { tool?: string; input: object }, mode?: string): Promise<string> {
  const { server, model } = await ruled(rules, call, mode);
  try {
    await submit(server, 'one', 'Do it.');
    const events = await followed(server, 'one', (so) => so.some(settled));
    const event = events.find(settled);
    return event?.type === 'tool.ended' ? event.outcome : 'ask';
  } finally {
    await server.stop();
    model.stop();
  }
}

const NO_PUSH: Rules = [{ tool: 'shell', pattern: 'git push*', decision: 'deny' }];

describe('git push*', () => {
  const commands = [
    ['git', 'push'],
    ['git', '-C', '.', 'push'],
    ['/usr/bin/git', 'push'],
    ['env', 'git', 'push'],
    ['bash', '-lc', `cd . && bash -c "timeout 5 nice git -c a.b=c push origin main > log 2>&1"`],
  ];
  test.each(commands.map((command) => [command]))('denies %j', async (command) => {
    expect(await verdict(NO_PUSH, { input: { command } })).toBe('denied');
  });

  test('denies the same command under the other name of the tool', async () => {
    const input = { command: ['git', 'push'] };
    expect(await verdict(NO_PUSH, { tool: 'local_shell', input })).toBe('denied');
  });

  test('does not affect commands that run without approval anyway', async () => {
    expect(await verdict(NO_PUSH, { input: { command: ['bash', '-lc', 'echo git push'] } })).toBe('ok');
  });
});

const sandbox = await findSandbox();

describe.skipIf(sandbox === null)('in full-auto', () => {
  test.each([
    [['bash', '-lc', 'VERB=push; git $VERB'], 'ask'],
    [['bash', 'run.sh'], 'ask'],
    [['bash', '-lc', 'echo "$HOME" > out && wc -l out | cat'], 'ok'],
    [['env', 'A=1', 'true'], 'ok'],
  ])('%j with a rule that denies git push*: %s', async (command, expected) => {
    expect(await verdict(NO_PUSH, { input: { command } }, 'full-auto')).toBe(expected);
  });
});

test('a rule that allows does not allow another program with that name', async () => {
  const rules: Rules = [{ tool: 'shell', pattern: 'true*', decision: 'allow' }];
  const allowed = (command: string[]) => verdict(rules, { input: { command, workdir: '.' } });
  expect(await allowed(['/tmp/evil/true', 'now'])).toBe('ask');
  expect(await allowed(['env', 'true', 'now'])).toBe('ask');
  expect(await allowed(['true', 'now'])).toBe('ok');
});

test('a rule with many stars judges a command of 40 KB without blocking the server', async () => {
  const rules: Rules = [{ tool: 'shell', pattern: '* push * main * --force', decision: 'deny' }];
  const command = ['echo', ' push main '.repeat(4_000)];
  expect(await verdict(rules, { input: { command } })).toBe('ok');
});
