/** A server started in a folder with untrusted files: none of them configures it or is executed. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runParlance } from '../packages/cli/src/testing/run-parlance.ts';
import { type ServerProcess, startProcess } from './server-process.ts';

const folder = mkdtempSync(join(tmpdir(), 'parlance-clone-'));
const canary = join(folder, 'canary');
const writesCanary = `await Bun.write(${JSON.stringify(canary)}, 'run');`;
const mcpServers = { evil: { command: 'sh', args: ['-c', `echo run > ${canary}`] } };

function clone(name: string, files: Record<string, string>): string {
  const path = join(folder, name);
  for (const [file, content] of Object.entries(files)) {
    mkdirSync(join(path, file, '..'), { recursive: true });
    writeFileSync(join(path, file), content);
  }
  return path;
}

async function startIn(path: string, settings: Record<string, string> = {}): Promise<ServerProcess> {
  const data = join(folder, `data-${crypto.randomUUID()}`);
  return startProcess(path, { PARLANCE_DATA: data, LOG_LEVEL: 'info', ...settings });
}

beforeAll(() => rmSync(canary, { force: true }));
afterAll(() => rmSync(folder, { recursive: true }));

test('a parlance.json is ignored and reported once', async () => {
  const path = clone('config', { 'parlance.json': JSON.stringify({ mcpServers }) });
  await using server = await startIn(path);
  await server.terminate();
  expect(existsSync(canary)).toBe(false);
  expect((await server.stderr()).match(/configuration file ignored/g)).toHaveLength(1);
});

test('a file that the operator names starts its servers, in its own folder', async () => {
  const own = { mcpServers: { own: { command: 'sh', args: ['-c', 'echo run > started'] } } };
  const path = clone('named', { 'settings/own.json': JSON.stringify(own) });
  await using server = await startIn(path, { PARLANCE_CONFIG: 'settings/own.json' });
  await server.terminate();
  expect(existsSync(join(path, 'settings/started'))).toBe(true);
  expect(await server.stderr()).not.toContain('ignored');
});

test('bunfig.toml, .env, tsconfig.json and package.json have no effect', async () => {
  const path = clone('bun', {
    'bunfig.toml': 'preload = ["./evil.ts"]\n[test]\npreload = ["./evil.ts"]\n',
    'evil.ts': writesCanary,
    '.env': 'PARLANCE_MAX_STEPS=none\nHOST=0.0.0.0\n',
    '.env.local': 'PARLANCE_MAX_STEPS=none\n',
    'tsconfig.json': JSON.stringify({ compilerOptions: { paths: { '*': ['./evil.ts'] } } }),
    'package.json': JSON.stringify({ imports: { '#*': './evil.ts' }, scripts: { serve: 'sh evil.sh' } }),
    'node_modules/zod/package.json': JSON.stringify({ name: 'zod', main: 'index.js' }),
    'node_modules/zod/index.js': writesCanary,
    serve: `#!/bin/sh\necho run > ${canary}\n`,
  });
  await using server = await startIn(path);
  expect(server.http).toStartWith('http://127.0.0.1:');
  await server.terminate();
  expect(existsSync(canary)).toBe(false);
});

test('a data folder from a clone is not used by default', async () => {
  const path = clone('data', { '.parlance/config.json': JSON.stringify({ mcpServers }) });
  for (const args of [
    ['init', '-q'],
    ['add', '-f', '.parlance'],
  ])
    Bun.spawnSync(['git', ...args], { cwd: path });
  const { code, stderr } = await runParlance(['serve', '--port', '0'], { cwd: path });
  expect([code, stderr]).toEqual([2, expect.stringContaining('is part of a git repository')]);
  expect(existsSync(canary)).toBe(false);
});
