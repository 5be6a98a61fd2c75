/**
 * Commands that run without approval: a user without the permission to approve stays in the working directory.
 */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { chmod, mkdir, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DurableEvent } from '../packages/protocol/src/index.ts';
import { startTestServer, type TestServer } from '../packages/server/src/testing/server.ts';
import { hostileSettings, repositoryIn } from '../packages/server/src/testing/tools/shell.ts';
import { scriptedModel } from './scripted-model.ts';
import { followed, postJson, submit, type Target } from './server-process.ts';

const SECRET = 'canary-91b2';
const home = mkdtempSync(join(tmpdir(), 'parlance-home-'));
const before = process.env.HOME;

beforeAll(async () => {
  process.env.HOME = home;
  await Bun.write(join(home, '.ssh/id_rsa'), SECRET);
});
afterAll(() => {
  process.env.HOME = before;
  rmSync(home, { recursive: true, force: true });
});

const settled = ({ type }: DurableEvent): boolean => type === 'approval.requested' || type === 'tool.ended';

/** The result of a call of the session, counted from 1: its output, or null if it needs approval. */
async function outcomeIn(where: Target, session: string, call = 1): Promise<string | null> {
  const events = await followed(where, session, (so) => so.filter(settled).length >= call);
  const event = events.filter(settled)[call - 1];
  return event?.type === 'tool.ended' ? JSON.stringify(event.parts) : null;
}

/** A direct call of a user, without a model. */
async function called(server: TestServer, token: string, command: string[]): Promise<string | null> {
  const session = crypto.randomUUID();
  const headers = { authorization: `Bearer ${token}` };
  const submitted = await postJson(
    `${server.http}/v1/sessions/${session}/commands`,
    { type: 'input.submit', parts: [], call: { tool: 'shell', input: { command } } },
    headers,
  );
  expect([submitted.status, submitted.body]).toEqual([200, expect.anything()]);
  return outcomeIn({ http: server.http, headers }, session);
}

test('direct calls of a user without the permission to approve read only inside the working directory', async () => {
  const server = await startTestServer();
  try {
    await Bun.write(join(server.root, 'sub/a.txt'), 'found inside');
    await symlink(join(home, '.ssh'), join(server.root, 'sub/link'));
    const token = await server.login('uma', 'uma-password');
    const scripts = [
      'cd && cat .ssh/id_rsa',
      'cd --; cat .ssh/id_rsa',
      'cd sub && cat link/id_rsa',
      'cat */l*/id*',
    ];
    for (const script of [...scripts, 'grep -R canary .', 'rg -L canary', 'find -L . -name "id*"', 'ls -LR'])
      expect([script, await called(server, token, ['bash', '-lc', script])]).toEqual([script, null]);
    for (const script of ['cd sub && cat a.txt', 'cat */*.txt', 'grep -r found .', 'rg found'])
      expect(await called(server, token, ['bash', '-lc', script])).toContain('found inside');
  } finally {
    await server.stop();
  }
});

test('with auto-edit, saved files cannot make git run programs, and a repository in the working directory needs approval', async () => {
  let calls: { call: string; input: object }[] = [];
  const model = scriptedModel((_, count) => calls[count - 1] ?? { say: 'Done.' });
  const server = await startTestServer({
    OPENAI_BASE_URL: model.url,
    OPENAI_API_KEY: 'key',
    MODEL: 'fake',
    TOOL_USE_APPROVAL_MODE: 'auto-edit',
  });
  try {
    await repositoryIn(server.root);
    const canary = join(server.root, 'canary.sh');
    await Bun.write(canary, `#!/bin/sh\necho sang > '${server.root}/mark'\n`);
    await chmod(canary, 0o755);
    const config = join(server.root, '.git/config');
    await Bun.write(config, `${await Bun.file(config).text()}[include]\npath = ../more\n`);
    const hostile = Object.values(hostileSettings(canary)).join('');
    for (const name of ['objects', 'refs'])
      await mkdir(join(server.root, 'vendor/lib', name), { recursive: true });
    await Bun.write(join(server.root, 'vendor/lib/.gitattributes'), '* diff=canary filter=canary\n');
    await Bun.write(join(server.root, 'vendor/lib/HEAD'), 'ref: refs/heads/main\n');
    await Bun.write(join(server.root, 'vendor/lib/config'), `[core]\nbare = false\nworktree = .\n${hostile}`);
    calls = [
      { call: 'save_file', input: { path: 'more', content: hostile } },
      { call: 'shell', input: { command: ['git', 'diff'] } },
      {
        call: 'shell',
        input: { command: ['bash', '-lc', 'cd vendor/lib && git diff --no-index HEAD config'] },
      },
    ];
    await submit(server, 'one', 'Look at it.');
    expect(await outcomeIn(server, 'one', calls.length - 1)).toContain('+two');
    expect(await outcomeIn(server, 'one', calls.length)).toBeNull();
    expect(await Bun.file(join(server.root, 'mark')).exists()).toBe(false);
  } finally {
    await server.stop();
    model.stop();
  }
});
