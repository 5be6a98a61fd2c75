import { afterAll, describe, expect, test } from 'bun:test';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import {
  type Config,
  ConfigError,
  helpText,
  loadConfig,
  loadDataFolder,
  SETTINGS,
  settingsMarkdown,
} from './config.ts';
import { register } from './data-folder.ts';

const folder = mkdtempSync(join(tmpdir(), 'parlance-config-'));
afterAll(() => rmSync(folder, { recursive: true }));

let count = 0;
function folderWith(file: string | object, name = 'parlance.json'): string {
  const path = join(folder, `case-${count++}`);
  mkdirSync(path);
  writeFileSync(join(path, name), typeof file === 'string' ? file : JSON.stringify(file));
  return path;
}

/** Registers `.parlance` in the folder, as a server with this environment would. */
const HOME = { XDG_STATE_HOME: join(folder, 'state') };
function madeHere(path: string): string {
  const { data, registration } = loadConfig(['--data', '.parlance'], HOME, path);
  mkdirSync(data, { recursive: true });
  if (!registration || !register(data, registration.registry)) throw new Error('not registered');
  return path;
}

function folderWithData(settings: object): string {
  const path = join(folder, `case-${count++}`);
  mkdirSync(join(path, '.parlance'), { recursive: true });
  writeFileSync(join(path, '.parlance/config.json'), JSON.stringify(settings));
  return path;
}

function errorOf(argv: string[], env: Record<string, string> = {}, cwd = folder): string {
  try {
    loadConfig(argv, env, cwd);
  } catch (error) {
    if (error instanceof ConfigError) return error.message;
    throw error;
  }
  return 'no error';
}

describe('defaults', () => {
  test('without settings the offline model is served on loopback in open mode', () => {
    expect(loadConfig([], {}, folder)).toEqual({
      host: '127.0.0.1',
      port: 3000,
      doors: [],
      data: join(folder, '.parlance'),
      auth: 'open',
      authSecret: undefined,
      authUsers: [],
      loginAttempts: 10,
      trustedProxies: 0,
      allowedOrigins: [],
      allowedToolOrigins: [],
      model: { provider: 'offline' },
      modelNamed: expect.any(Function),
      http: 'socket',
      providerIdle: 60_000,
      contextLimit: undefined,
      serperKey: undefined,
      serperBaseUrl: undefined,
      instructions: undefined,
      cwd: folder,
      configFile: null,
      ignoredFiles: [],
      registration: { registry: null, isNamed: false },
      approval: 'suggest',
      contextStrategy: 'threshold',
      contextThreshold: 0.8,
      logLevel: 'info',
      metricsToken: undefined,
      otlpEndpoint: undefined,
      serviceName: 'parlance',
      offlineDelay: 15,
      maxSteps: 50,
      grace: 5000,
      maxFrame: 1_048_576,
      maxFirstFrame: 65_536,
      framesPerMinute: 12_000,
      heldCharacters: 262_144,
      sockets: 100_000,
      socketsPerPrincipal: 10_000,
      socketsPerAddress: 10_000,
      unknownSockets: 1_024,
      unfinishedBytes: 67_108_864,
      identifyWithin: 10_000,
      maxBody: 11_534_336,
      maxLoginBody: 16_384,
      bodyWithin: 300_000,
      bodyRate: 1_024,
      bodyBytes: 268_435_456,
      anonymousBytes: 16_777_216,
      requestsPerMinute: 6_000,
      apiRequestsPerMinute: 60_000,
      sessionsPerPrincipal: 100_000,
      inputsQueued: 1_000,
      turnsAtOnce: 1_000,
      turnsWaiting: 1_000,
      storedBytes: 53_687_091_200,
      answerCharacters: 4_000_000,
      argumentCharacters: 8_000_000,
      answerCalls: 200,
      maxDom: 1_000_000,
      channels: true,
      channelsAppId: 'app-id',
      channelsKey: 'app-key',
      channelsSecret: 'app-secret',
      channelsHost: undefined,
      channelsPort: undefined,
      channelsUseTls: false,
      rules: [],
      agents: [],
      domains: [],
      mcpServers: {},
    });
  });

  test('an empty variable counts as unset', () => {
    expect(loadConfig([], { PORT: '', DATABASE_URL: '', AUTH_USERS: '' }, folder).port).toBe(3000);
  });
});

describe('sources', () => {
  const settings = { port: 1111, logLevel: 'warn', doors: { agentloop: 8080 } };
  const cwd = madeHere(folderWith('', 'x'));
  writeFileSync(join(cwd, '.parlance/config.json'), JSON.stringify(settings));

  test('the file overrides the default', () => {
    const config = loadConfig([], HOME, cwd);
    expect([config.port, config.logLevel, config.doors]).toEqual([
      1111,
      'warn',
      [{ dialect: 'agentloop', port: 8080 }],
    ]);
  });

  test('the environment overrides the file', () => {
    expect(loadConfig([], { ...HOME, PORT: '2222' }, cwd).port).toBe(2222);
  });

  test('a flag overrides the environment', () => {
    expect(loadConfig(['--port', '3333'], { ...HOME, PORT: '2222' }, cwd).port).toBe(3333);
    expect(loadConfig(['--port=0'], { ...HOME, PORT: '2222' }, cwd).port).toBe(0);
  });

  test('the last occurrence of a non-repeatable flag wins', () => {
    expect(loadConfig(['--port', '1', '--port', '2'], {}, folder).port).toBe(2);
  });

  test('PARLANCE_CONFIG names another file, and --config overrides it', () => {
    const elsewhere = folderWith({ port: 4444 }, 'other.json');
    const env = { ...HOME, PARLANCE_CONFIG: join(elsewhere, 'other.json') };
    expect(loadConfig([], env, cwd).port).toBe(4444);
    expect(loadConfig(['--config', '.parlance/config.json'], env, cwd).port).toBe(1111);
  });

  test('the file in a named data folder is read', () => {
    expect(loadConfig([], HOME, cwd).configFile).toBe(join(cwd, '.parlance/config.json'));
    expect(loadConfig(['--data', join(cwd, '.parlance')], {}, folder).port).toBe(1111);
    expect(loadConfig([], { PARLANCE_DATA: join(cwd, '.parlance') }, folder).port).toBe(1111);
  });

  test('the file in the data folder cannot name another data folder', () => {
    const elsewhere = madeHere(folderWith('', 'x'));
    writeFileSync(join(elsewhere, '.parlance/config.json'), '{"data":"/srv/other"}');
    const file = join(elsewhere, '.parlance/config.json');
    expect(errorOf([], HOME, elsewhere)).toBe(`data in ${file} cannot name another data folder`);
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

  test('a data folder tracked by a repository is refused unless it is named', () => {
    const clone = folderWithData({ port: 6666 });
    const git = (...args: string[]) => Bun.spawnSync(['git', ...args], { cwd: clone });
    git('init', '-q');
    expect(errorOf([], {}, clone)).toContain('is not known to be yours');
    writeFileSync(join(clone, '.git/index'), 'junk');
    expect(errorOf([], {}, clone)).toContain('is part of a git repository');
    rmSync(join(clone, '.git/index'));
    git('add', '-f', '.parlance/config.json');
    expect(errorOf([], {}, clone)).toBe(
      `the data folder ${join(clone, '.parlance')} is part of a git repository and may come from somebody else: name it with --data if you trust it`,
    );
    expect(loadConfig(['--data', '.parlance'], {}, clone).port).toBe(6666);
  });

  test('a default data folder that no server of this user created is refused, whatever it contains', () => {
    const archive = folderWithData({ port: 6666 });
    const data = join(archive, '.parlance');
    const origin = '(made by an earlier version, by hand, or by somebody else)';
    const line = (start: string) =>
      `the data folder ${data} is not known to be yours ${origin}: ${start} with --data .parlance if you trust it`;
    for (const argv of [[], ['--config', join(data, 'config.json')]]) {
      expect(errorOf(argv, HOME, archive)).toBe(line('start once'));
      expect(errorOf(argv, {}, archive)).toBe(line('start'));
    }
    expect(loadConfig(['--data', '.parlance'], {}, archive).port).toBe(6666);
    rmSync(join(data, 'config.json'));
    expect(loadConfig([], HOME, archive).registration).toMatchObject({ isNamed: false });
    writeFileSync(join(data, 'parlance.db'), '');
    expect(errorOf([], HOME, archive)).toBe(line('start once'));
  });

  test('a copied id or one that points outside of the registry does not register a folder', () => {
    const archive = folderWithData({ port: 6666 });
    const id = join(archive, '.parlance/id');
    copyFileSync(join(cwd, '.parlance/id'), id);
    expect(errorOf([], HOME, archive)).toContain('is not known to be yours');
    writeFileSync(join(archive, 'path'), join(archive, '.parlance'));
    writeFileSync(id, relative(join(folder, 'state/parlance/data-folders'), join(archive, 'path')));
    expect(errorOf([], HOME, archive)).toContain('is not known to be yours');
    const linked = folderWith('', 'x');
    symlinkSync(join(cwd, '.parlance'), join(linked, '.parlance'));
    expect(errorOf([], HOME, linked)).toContain('is a link: name it with --data .parlance');
  });

  test('a data folder is registered if the environment names a registry, whether the folder is named or not', () => {
    const registry = join(folder, 'state/parlance/data-folders');
    expect(loadConfig(['--data', 'new'], HOME, folder).registration).toEqual({ registry, isNamed: true });
    expect(loadConfig([], HOME, folder).registration).toEqual({ registry, isNamed: false });
    expect(loadConfig(['--data', 'new'], {}, folder).registration).toEqual({ registry: null, isNamed: true });
    expect(loadConfig([], HOME, cwd).registration).toBeNull();
  });

  test('a folder with the id of another folder gets a new id', () => {
    const copy = folderWithData({ port: 6666 });
    copyFileSync(join(cwd, '.parlance/id'), join(copy, '.parlance/id'));
    madeHere(copy);
    expect(loadConfig([], HOME, copy).port).toBe(6666);
    expect(loadConfig([], HOME, cwd).registration).toBeNull();
  });

  test('MCP servers start in the folder of the file that names them, not in the current folder', () => {
    const elsewhere = folderWith({ mcpServers: { a: { command: 'x' }, b: { command: 'x', cwd: 'sub' } } });
    const { mcpServers } = loadConfig(['--config', join(elsewhere, 'parlance.json')], {}, folder);
    expect(mcpServers).toMatchObject({ a: { cwd: elsewhere }, b: { cwd: join(elsewhere, 'sub') } });
  });
});

describe('the working directory', () => {
  const checkout = join(import.meta.dir, '../../../..');

  test('is the current folder, or ./workspace anywhere inside the checkout', () => {
    expect(loadConfig([], {}, folder).cwd).toBe(folder);
    for (const cwd of [checkout, import.meta.dir])
      expect(loadConfig(['--data', folder], {}, cwd).cwd).toBe(join(checkout, 'workspace'));
  });

  test('can be the checkout if it is named', () => {
    expect(loadConfig(['--cwd', '.', '--data', folder], {}, checkout).cwd).toBe(checkout);
  });

  test('is ignored by git in the checkout', () => {
    const { exitCode } = Bun.spawnSync(['git', 'check-ignore', '-q', 'workspace/x'], { cwd: checkout });
    expect(exitCode).toBe(0);
  });

  test('the data folder is resolved even if other settings are wrong', () => {
    expect(loadDataFolder(['--data', 'kept'], { PORT: 'x', HOST: '0.0.0.0' }, folder)).toBe(
      join(folder, 'kept'),
    );
  });
});

const reads: [why: string, argv: string[], env: Record<string, string>, expected: Partial<Config>][] = [
  [
    'repeated doors',
    ['--door', 'agentloop=8080', '--door', 'native=0'],
    {},
    {
      doors: [
        { dialect: 'agentloop', port: 8080 },
        { dialect: 'native', port: 0 },
      ],
    },
  ],
  [
    'a list of doors',
    [],
    { PARLANCE_DOORS: 'broadcast=8001, conversations=8000,' },
    {
      doors: [
        { dialect: 'broadcast', port: 8001 },
        { dialect: 'conversations', port: 8000 },
      ],
    },
  ],
  [
    'origins of pages and extensions',
    ['--origin', 'https://a.example', '--origin', 'chrome-extension://abcdefghijklmnop'],
    {},
    { allowedOrigins: ['https://a.example', 'chrome-extension://abcdefghijklmnop'] },
  ],
  [
    'origins for browser tools',
    [],
    { ALLOWED_TOOL_ORIGINS: 'https://a.example,https://b.example' },
    { allowedToolOrigins: ['https://a.example', 'https://b.example'] },
  ],
  [
    'a password with colons',
    [],
    { AUTH_USERS: 'ann:a:b:c:admin;bob@example.org:pass word:user;' },
    {
      authUsers: [
        { name: 'ann', password: 'a:b:c', role: 'admin' },
        { name: 'bob@example.org', password: 'pass word', role: 'user' },
      ],
    },
  ],
  ['IPv6 loopback in brackets', ['--host', '[::1]'], {}, { host: '::1', auth: 'open' }],
  ['a name for loopback', [], { HOST: 'localhost' }, { host: 'localhost', auth: 'open' }],
  ['loopback that asks for tokens', ['--auth', 'required'], {}, { auth: 'required' }],
  [
    'a public host that asks for tokens',
    [],
    { HOST: '0.0.0.0', PARLANCE_AUTH: 'required' },
    { host: '0.0.0.0', auth: 'required' },
  ],
  [
    'the whole context window as threshold',
    [],
    { CONTEXT_COMPACTION_THRESHOLD: '1' },
    { contextThreshold: 1 },
  ],
  ['a secret of 32 bytes', [], { AUTH_SECRET: 'é'.repeat(16) }, { authSecret: 'é'.repeat(16) }],
  [
    'a door for channels',
    [],
    { PARLANCE_DOORS: 'pusher=3005' },
    { doors: [{ dialect: 'pusher', port: 3005 }] },
  ],
  [
    'an external channel server',
    ['--channels', 'on'],
    { SOCKUDO_HOST: 'push.example', SOCKUDO_PORT: '6002', SOCKUDO_USE_TLS: 'TRUE' },
    { channels: true, channelsHost: 'push.example', channelsPort: 6002, channelsUseTls: true },
  ],
  ['text that starts with one dash', ['--instructions', '- be brief'], {}, { instructions: '- be brief' }],
];

describe('reads', () => {
  for (const [why, argv, env, expected] of reads)
    test(why, () => {
      expect(loadConfig(argv, env, folder)).toMatchObject(expected);
    });
});

const refusals: [argv: string[], env: Record<string, string>, line: string][] = [
  [['--prot', '1'], {}, 'unknown flag --prot (--help lists them)'],
  [['--auth-secret=hunter2'], {}, 'unknown flag --auth-secret (--help lists them)'],
  [['extra'], {}, 'unexpected argument "extra"'],
  [['--port'], {}, '--port needs a value'],
  [['--port', '--host', 'x'], {}, '--port needs a value'],
  [['--port='], {}, '--port needs a value'],
  [['--port', 'many'], {}, '--port must be a whole number from 0 to 65535, not "many"'],
  [['--port', '-1'], {}, '--port must be a whole number from 0 to 65535, not "-1"'],
  [[], { PORT: '65536' }, 'PORT must be a whole number from 0 to 65535, not "65536"'],
  [[], { PORT: '80.5' }, 'PORT must be a whole number from 0 to 65535, not "80.5"'],
  [[], { HOST: 'a b' }, 'HOST must be a host name or an address, not "a b"'],
  [['--door', 'agentloop'], {}, '--door must hold NAME=PORT, not "agentloop"'],
  [
    ['--door', 'telnet=23'],
    {},
    '--door names "telnet", which is not a dialect (extension, broadcast, agentloop, conversations, native, pusher)',
  ],
  [['--channels', 'maybe'], {}, '--channels must be true or false, not "maybe"'],
  [[], { SOCKUDO_PORT: '0' }, 'SOCKUDO_PORT must be a whole number from 1 to 65535, not "0"'],
  [
    ['--door', 'native=70000'],
    {},
    '--door gives native the port "70000": it must be a whole number from 0 to 65535',
  ],
  [['--door', 'native=3000'], {}, 'door native=3000 uses a port that is taken by another door'],
  [
    [],
    { DATABASE_URL: 'postgres://u:hunter2@db' },
    'DATABASE_URL is set, but Postgres is not available yet: unset it to use the embedded store',
  ],
  [
    ['--redis', 'redis://:hunter2@bus'],
    {},
    '--redis is set, but Redis is not available yet: unset it to run a single node',
  ],
  [
    [],
    { HOST: '0.0.0.0' },
    'host 0.0.0.0 is not loopback: PARLANCE_AUTH=required (or --auth required) is needed to listen there',
  ],
  [
    ['--host', '::', '--auth', 'open'],
    {},
    'host :: is not loopback: PARLANCE_AUTH=required (or --auth required) is needed to listen there',
  ],
  [[], { PARLANCE_AUTH: 'off' }, 'PARLANCE_AUTH must be one of open, required, not "off"'],
  [[], { AUTH_SECRET: 'hunter2' }, 'AUTH_SECRET must be at least 32 bytes long'],
  [[], { AUTH_USERS: 'ann:hunter2' }, 'AUTH_USERS entry 1 must be name:password:role'],
  [
    [],
    { AUTH_USERS: 'ann:x:user;bob:hunter2:root' },
    'AUTH_USERS entry 2 has a role that is not one of admin, developer, user',
  ],
  [
    [],
    { AUTH_USERS: 'a/b:hunter2:user' },
    'AUTH_USERS entry 1 has a name that is not 1 to 64 letters, digits or . _ @ -',
  ],
  [
    [],
    { AUTH_USERS: 'local:hunter2:user' },
    'AUTH_USERS entry 1 has the name local, which is kept for callers without a token',
  ],
  [[], { AUTH_USERS: 'ann::user' }, 'AUTH_USERS entry 1 has an empty password'],
  [[], { AUTH_USERS: 'ann:x:user;ann:y:user' }, 'AUTH_USERS names a user twice'],
  [[], { ALLOWED_ORIGINS: '*' }, 'ALLOWED_ORIGINS must name origins one by one: * is refused'],
  [
    ['--origin', 'https://good.example', '--origin', 'https://*.example.com'],
    {},
    '--origin must name origins one by one: * is refused',
  ],
  [['--origin', 'https://a.example/'], {}, '--origin must hold exact origins: write https://a.example'],
  [['--origin', 'example.com'], {}, '--origin must hold origins such as https://example.com'],
  [
    [],
    { PROVIDER: 'openai' },
    'OPENAI_API_KEY is needed for this provider or model; PROVIDER=offline needs none',
  ],
  [[], { PROVIDER: 'oracle' }, 'PROVIDER must be one of openai, anthropic, google, offline, not "oracle"'],
  [
    [],
    { TOOL_USE_APPROVAL_MODE: 'yolo' },
    'TOOL_USE_APPROVAL_MODE must be one of suggest, auto-edit, full-auto, not "yolo"',
  ],
  [
    [],
    { CONTEXT_COMPACTION_THRESHOLD: '0' },
    'CONTEXT_COMPACTION_THRESHOLD must be a number above 0 and at most 1, not "0"',
  ],
  [
    [],
    { LOG_LEVEL: 'loud' },
    'LOG_LEVEL must be one of fatal, error, warn, info, debug, trace, silent, not "loud"',
  ],
  [['--max-steps', '0'], {}, '--max-steps must be a whole number from 1 to 10000, not "0"'],
  [['--config', 'gone.json'], {}, '--config names gone.json, which does not exist'],
];

describe('refuses with one line that names the setting', () => {
  for (const [argv, env, line] of refusals) test(line, () => expect(errorOf(argv, env)).toBe(line));

  test('a working directory that does not exist', () => {
    const path = join(folder, 'gone');
    expect(errorOf(['--cwd', 'gone'])).toBe(`--cwd must be an existing folder, not "${path}"`);
  });

  test('no line contains a secret or a line break', () => {
    for (const [argv, env] of refusals) expect(errorOf(argv, env)).not.toMatch(/hunter2|\n/);
  });
});

const files: [why: string, file: string | object, line: string][] = [
  ['an unknown key', { prot: 1 }, 'parlance.json has an unknown setting "prot"'],
  ['text that is not JSON', '{"authSecret": "hunter2', 'parlance.json is not valid JSON'],
  ['JSON that is not an object', [], 'parlance.json must hold a JSON object'],
  [
    'a value of the wrong type',
    { port: true },
    'port in parlance.json must be a whole number from 0 to 65535',
  ],
  [
    'a user without a role',
    { authUsers: [{ name: 'ann', password: 'hunter2' }] },
    'authUsers in parlance.json entry 1 has a role that is not one of admin, developer, user',
  ],
];

describe('refuses a config file with', () => {
  for (const [why, file, line] of files)
    test(why, () => expect(errorOf(['--config', 'parlance.json'], {}, folderWith(file))).toBe(line));
});

describe('help', () => {
  test('lists every flag and variable', () => {
    for (const { flag, env } of Object.values(SETTINGS))
      for (const name of [...env, ...(flag === null ? [] : [flag])]) {
        expect(helpText()).toContain(name);
        expect(settingsMarkdown()).toContain(name);
      }
  });

  test('shows defaults', () => {
    expect(helpText()).toContain(
      '--port PORT\n      the port of the default door; 0 takes any free one\n      [PORT; default: 3000]',
    );
  });
});
