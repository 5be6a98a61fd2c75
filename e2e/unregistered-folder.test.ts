/**
 * A default data folder is used only if a server of this user created it, because turns in its database would
 * be resumed.
 */
import { afterAll, describe, expect, test } from 'bun:test';
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runParlance } from '../packages/cli/src/testing/run-parlance.ts';
import { until } from '../packages/server/src/testing/until.ts';
import { scriptedModel } from './scripted-model.ts';
import { followed, type ServerProcess, startProcess, submit } from './server-process.ts';

const folder = mkdtempSync(join(tmpdir(), 'parlance-unregistered-'));
afterAll(() => rmSync(folder, { recursive: true }));

const NAMED = { PARLANCE_DATA: '.parlance' };

/** `XDG_STATE_HOME` of the user is the same for every server here. */
const startIn = (path: string, settings: Record<string, string> = {}): Promise<ServerProcess> =>
  startProcess(path, {
    PARLANCE_DATA: '',
    XDG_STATE_HOME: join(folder, 'state'),
    LOG_LEVEL: 'info',
    ...settings,
  });

/** Starts and stops; resolves with the log. */
async function ranIn(path: string, settings?: Record<string, string>): Promise<string> {
  await using server = await startIn(path, settings);
  await server.terminate();
  return server.stderr();
}

function newFolder(name: string): string {
  const path = join(folder, name);
  mkdirSync(path);
  return path;
}

/** The single line of a default start. */
async function refusalIn(path: string, args: readonly string[] = []): Promise<string> {
  const env = { XDG_STATE_HOME: join(folder, 'state') };
  const { code, stderr, stdout } = await runParlance(['serve', '--port', '0', ...args], { cwd: path, env });
  expect([code, stdout]).toEqual([2, '']);
  expect(stderr.trimEnd().split('\n')).toHaveLength(1);
  return stderr;
}

describe('an archive with a database and an unfinished call', () => {
  test('is refused in one line and runs nothing; after a start with --data it is used', async () => {
    const model = scriptedModel(({ messages }) =>
      messages.at(-1)?.role === 'tool' ? { say: 'Done.' } : { call: 'echo', input: { value: 'x' } },
    );
    const gate = Promise.withResolvers<void>();
    const held = Bun.serve({ port: 0, fetch: () => gate.promise.then(() => new Response('')) });
    try {
      const settings = { PROVIDER: 'openai', MODEL: 'fake', OPENAI_API_KEY: 'key' };
      const origin = newFolder('origin');
      await using server = await startIn(origin, { ...settings, OPENAI_BASE_URL: held.url.href });
      await submit(server, 'one', 'Go on.');
      await server.kill();

      const archive = newFolder('archive');
      rmSync(join(origin, '.parlance/parlance.sock'));
      cpSync(join(origin, '.parlance'), join(archive, '.parlance'), { recursive: true });
      expect(await refusalIn(archive)).toContain('start once with --data .parlance if you trust it');
      expect(await refusalIn(archive, ['--config', '.parlance/config.json'])).toContain('does not exist');

      const usable = { ...settings, OPENAI_BASE_URL: model.url };
      await using trusted = await startIn(archive, { ...usable, ...NAMED });
      const events = await followed(trusted, 'one', (all) => all.some(({ type }) => type === 'turn.ended'));
      expect(events.some(({ type }) => type === 'tool.ended')).toBe(true);
      await trusted.terminate();
      expect(await ranIn(archive, usable)).not.toContain('not registered');
    } finally {
      gate.resolve();
      held.stop(true);
      model.stop();
    }
  });
});

test('a manually created config.json is refused until the folder is named', async () => {
  const path = newFolder('by-hand');
  mkdirSync(join(path, '.parlance'));
  const own = { command: 'sh', args: ['-c', 'echo run > started'] };
  writeFileSync(join(path, '.parlance/config.json'), JSON.stringify({ mcpServers: { own } }));
  expect(await refusalIn(path)).toContain('made by an earlier version, by hand, or by somebody else');
  expect(existsSync(join(path, '.parlance/started'))).toBe(false);
  for (const settings of [NAMED, {}]) {
    await using server = await startIn(path, settings);
    await until(() => existsSync(join(path, '.parlance/started')));
    await server.terminate();
    rmSync(join(path, '.parlance/started'));
  }
});

test('a folder of an earlier version is refused once', async () => {
  const path = newFolder('earlier');
  await ranIn(path);
  rmSync(join(path, '.parlance/id'));
  expect(await refusalIn(path)).toContain('start once with --data .parlance');
  await ranIn(path, NAMED);
  await ranIn(path);
});

test('a folder that the server creates, or finds empty, is used again', async () => {
  const path = newFolder('own');
  mkdirSync(join(path, '.parlance'));
  expect(await ranIn(path)).not.toContain('not registered');
  await ranIn(path);
});

test('a folder that a command creates is used by the server', async () => {
  const env = { XDG_STATE_HOME: join(folder, 'state') };
  const path = newFolder('command');
  const added = ['user', 'add', 'ann', '--password', 'ann-password'];
  expect((await runParlance(added, { cwd: path, env })).code).toBe(0);
  await ranIn(path);

  const exported = join(folder, 'one.jsonl');
  await using server = await startIn(path);
  await submit(server, 'one', 'echo hi');
  await server.terminate();
  expect((await runParlance(['export', 'one', '--out', exported], { cwd: path, env })).code).toBe(0);
  const other = newFolder('import');
  expect((await runParlance(['import', exported], { cwd: other, env })).code).toBe(0);
  await ranIn(other);
});

test('a command does not register a foreign folder', async () => {
  const env = { XDG_STATE_HOME: join(folder, 'state') };
  const path = newFolder('visited');
  await ranIn(path);
  rmSync(join(path, '.parlance/id'));
  for (const data of [[], ['--data', '.parlance']]) {
    const { code } = await runParlance(['user', 'list', ...data], { cwd: path, env });
    expect(code).toBe(0);
    expect(await refusalIn(path)).toContain('is not known to be yours');
  }
});

describe('without a registry', () => {
  test.each([
    ['HOME is not set', { HOME: '', XDG_STATE_HOME: '' }],
    ['HOME cannot be written', { HOME: '/dev/null', XDG_STATE_HOME: '' }],
  ])('a named folder works: %s', async (why, home) => {
    const path = newFolder(`named, ${why}`);
    for (let start = 0; start < 2; start++)
      expect(await ranIn(path, { ...NAMED, ...home })).not.toContain('registered');
  });

  test('a default folder is created, and the log recommends to name it', async () => {
    const path = newFolder('homeless');
    expect(await ranIn(path, { HOME: '', XDG_STATE_HOME: '' })).toContain(
      'data folder not registered: name it with --data at the next start',
    );
    expect(await refusalIn(path)).toContain('--data .parlance');
  });
});
