import { describe, expect, test } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { configFolders } from '../testing/config.ts';
import { loadConfig } from './config.ts';

const { env, errorOf, folder, folderWith, registered } = configFolders();

describe('sources', () => {
  const settings = { port: 1111, logLevel: 'warn', listeners: { agentloop: 8080 } };
  const cwd = registered(folderWith('', 'x'));
  writeFileSync(join(cwd, '.parlance/config.json'), JSON.stringify(settings));

  test('the file overrides the default', () => {
    const config = loadConfig([], env, cwd);
    expect([config.port, config.logLevel, config.listeners]).toEqual([
      1111,
      'warn',
      [{ dialect: 'agentloop', port: 8080 }],
    ]);
  });

  test('the environment overrides the file', () => {
    expect(loadConfig([], { ...env, PORT: '2222' }, cwd).port).toBe(2222);
  });

  test('a flag overrides the environment', () => {
    expect(loadConfig(['--port', '3333'], { ...env, PORT: '2222' }, cwd).port).toBe(3333);
    expect(loadConfig(['--port=0'], { ...env, PORT: '2222' }, cwd).port).toBe(0);
  });

  test('the last occurrence of a non-repeatable flag wins', () => {
    expect(loadConfig(['--port', '1', '--port', '2'], {}, folder).port).toBe(2);
  });

  test('PARLANCE_CONFIG names another file, and --config overrides it', () => {
    const elsewhere = folderWith({ port: 4444 }, 'other.json');
    const variables = { ...env, PARLANCE_CONFIG: join(elsewhere, 'other.json') };
    expect(loadConfig([], variables, cwd).port).toBe(4444);
    expect(loadConfig(['--config', '.parlance/config.json'], variables, cwd).port).toBe(1111);
  });

  test('the file in a named data folder is read', () => {
    expect(loadConfig([], env, cwd).configFile).toBe(join(cwd, '.parlance/config.json'));
    expect(loadConfig(['--data', join(cwd, '.parlance')], {}, folder).port).toBe(1111);
    expect(loadConfig([], { PARLANCE_DATA: join(cwd, '.parlance') }, folder).port).toBe(1111);
  });

  test('the file in the data folder cannot name another data folder', () => {
    const elsewhere = registered(folderWith('', 'x'));
    writeFileSync(join(elsewhere, '.parlance/config.json'), '{"data":"/srv/other"}');
    const file = join(elsewhere, '.parlance/config.json');
    expect(errorOf([], env, elsewhere)).toBe(`data in ${file} cannot name another data folder`);
  });

  test('a parlance.json in the current folder or the working directory is ignored and reported', () => {
    const clone = folderWith({ port: 6666 });
    const work = folderWith({ port: 7777 });
    const config = loadConfig(['--cwd', work], {}, clone);
    expect(config.port).toBe(3000);
    expect(config.ignoredFiles).toEqual([join(clone, 'parlance.json'), join(work, 'parlance.json')]);
    const named = loadConfig(['--cwd', work, '--config', 'parlance.json'], {}, clone);
    expect([named.port, named.ignoredFiles]).toEqual([6666, [join(work, 'parlance.json')]]);
  });

  test('MCP servers start in the folder of the file that names them, not in the current folder', () => {
    const elsewhere = folderWith({ mcpServers: { a: { command: 'x' }, b: { command: 'x', cwd: 'sub' } } });
    const { mcpServers } = loadConfig(['--config', join(elsewhere, 'parlance.json')], {}, folder);
    expect(mcpServers).toMatchObject({ a: { cwd: elsewhere }, b: { cwd: join(elsewhere, 'sub') } });
  });
});

const files: [why: string, file: string | object, line: string][] = [
  [
    'an unknown key',
    { prot: 1 },
    'parlance.json has an unknown setting "prot" (did you mean "port"?): line 1, column 2',
  ],
  [
    'an unknown key that is not similar to any',
    '{\n  "colour": "red"\n}',
    'parlance.json has an unknown setting "colour": line 2, column 3',
  ],
  ['text that is not JSON', '{"authSecret": "hunter2', 'parlance.json is not valid JSON: line 1, column 16'],
  ['JSON that is not an object', [], 'parlance.json must hold a JSON object'],
  [
    'a value of the wrong type',
    { port: true },
    'port in parlance.json must be a whole number from 0 to 65535: line 1, column 2',
  ],
  [
    'a wrong value inside of a list',
    '{\n  "port": 1,\n  "agents": [\n    { "id": "a b", "name": "A", "instructions": "x" }\n  ]\n}',
    'agents[0].id in parlance.json must have 1 to 64 letters, digits, - and _: line 4, column 7',
  ],
  [
    'a list entry that lacks a value',
    '{\n  "agents": [\n    { "id": "a", "instructions": "x" }\n  ]\n}',
    'agents[0].name in parlance.json is missing: line 3, column 5',
  ],
  [
    'a list entry with an unknown key',
    { agents: [{ id: 'a', name: 'A', instructions: 'x', tool: [] }] },
    'agents[0] in parlance.json has an unknown key "tool": line 1, column 12',
  ],
  [
    'values of the wrong type or size inside of a list',
    { agents: [{ id: 'a', name: 'A', instructions: 'x', parallelCalls: 101 }] },
    'agents[0].parallelCalls in parlance.json must be at most 100: line 1, column 52',
  ],
  [
    'an MCP server with an unknown key',
    { mcpServers: { files: { command: 'x', arguments: ['hunter2'] } } },
    'mcpServers.files in parlance.json has an unknown key "arguments": line 1, column 16',
  ],
  [
    'a choice that does not exist inside of a list',
    { rules: [{ tool: 'shell', decision: 'never' }] },
    'rules[0].decision in parlance.json must be one of allow, ask, deny: line 1, column 27',
  ],
  [
    'a user without a role',
    { authUsers: [{ name: 'ann', password: 'hunter2' }] },
    'authUsers in parlance.json entry 1 has a role that is not one of admin, developer, user: line 1, column 15',
  ],
];

describe('refuses a config file with', () => {
  for (const [why, file, line] of files)
    test(why, () => expect(errorOf(['--config', 'parlance.json'], {}, folderWith(file))).toBe(line));
});
