import { describe, expect, test } from 'bun:test';
import { join } from 'node:path';
import { DIALECT_NAMES } from '../dialects/names.ts';
import { VENDOR_NAMES } from '../providers/vendors.ts';
import { configFolders } from '../testing/config.ts';
import { type Config, loadConfig } from './config.ts';

const { errorOf, folder } = configFolders();

const reads: [why: string, argv: string[], variables: Record<string, string>, expected: Partial<Config>][] = [
  [
    'repeated listeners',
    ['--listen', 'agentloop=8080', '--listen', 'native=0'],
    {},
    {
      listeners: [
        { dialect: 'agentloop', port: 8080 },
        { dialect: 'native', port: 0 },
      ],
    },
  ],
  [
    'a list of listeners',
    [],
    { PARLANCE_LISTEN: 'broadcast=8001, conversations=8000,' },
    {
      listeners: [
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
    'former names of the flag and the variable',
    ['--door', 'native=0'],
    { PARLANCE_DOORS: 'pusher=3005' },
    { listeners: [{ dialect: 'native', port: 0 }] },
  ],
  [
    'the former name of the variable',
    [],
    { PARLANCE_DOORS: 'pusher=3005' },
    { listeners: [{ dialect: 'pusher', port: 3005 }] },
  ],
  [
    'a listener for channels',
    [],
    { PARLANCE_LISTEN: 'pusher=3005' },
    { listeners: [{ dialect: 'pusher', port: 3005 }] },
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
  for (const [why, argv, variables, expected] of reads)
    test(why, () => {
      expect(loadConfig(argv, variables, folder)).toMatchObject(expected);
    });
});

const refusals: [argv: string[], variables: Record<string, string>, line: string][] = [
  [['--prot', '1'], {}, 'unknown flag --prot (did you mean --port?)'],
  [['--auth-secret=hunter2'], {}, 'unknown flag --auth-secret (--help all lists them)'],
  [['extra'], {}, 'unexpected argument "extra" (flags start with --)'],
  [['--port'], {}, '--port needs a value'],
  [['--port', '--host', 'x'], {}, '--port needs a value'],
  [['--port='], {}, '--port needs a value'],
  [['--port', 'many'], {}, '--port must be a whole number from 0 to 65535, not "many"'],
  [['--port', '-1'], {}, '--port must be a whole number from 0 to 65535, not "-1"'],
  [[], { PORT: '65536' }, 'PORT must be a whole number from 0 to 65535, not "65536"'],
  [[], { PORT: '80.5' }, 'PORT must be a whole number from 0 to 65535, not "80.5"'],
  [[], { HOST: 'a b' }, 'HOST must be a host name or an address, not "a b"'],
  [['--listen', 'agentloop'], {}, '--listen must hold NAME=PORT, not "agentloop"'],
  [
    ['--listen', 'telnet=23'],
    {},
    `--listen names "telnet", which is not a dialect (${DIALECT_NAMES.join(', ')})`,
  ],
  [['--channels', 'maybe'], {}, '--channels must be true or false, not "maybe"'],
  [[], { SOCKUDO_PORT: '0' }, 'SOCKUDO_PORT must be a whole number from 1 to 65535, not "0"'],
  [
    ['--listen', 'native=70000'],
    {},
    '--listen gives native the port "70000": it must be a whole number from 0 to 65535',
  ],
  [
    ['--listen', 'native=3000'],
    {},
    '--listen native=3000: another listener of this server has port 3000; choose another one',
  ],
  [
    [],
    { OPENAI_BASE_URL: 'http://user:hidden@host/v1' },
    'OPENAI_BASE_URL must not contain a user name or password: set the API key instead',
  ],
  [[], { DATABASE_URL: 'mysql://user:hidden@host/db' }, 'DATABASE_URL must be a postgres:// URL'],
  [[], { REDIS_URL: 'http://host' }, 'REDIS_URL must be a redis:// URL'],
  [
    [],
    { REDIS_URL: 'redis://host' },
    'REDIS_URL is the bus between nodes: it needs DATABASE_URL, the database they share',
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
    'openai needs an API key for gpt-4o-mini: set OPENAI_API_KEY, or start without PROVIDER and connect the model in the console',
  ],
  [[], { PROVIDER: 'oracle' }, `PROVIDER must be one of ${VENDOR_NAMES.join(', ')}, offline, not "oracle"`],
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
  for (const [argv, variables, line] of refusals)
    test(line, () => expect(errorOf(argv, variables)).toBe(line));

  test('a working directory that does not exist', () => {
    const path = join(folder, 'gone');
    expect(errorOf(['--cwd', 'gone'])).toBe(`--cwd must be an existing folder, not "${path}"`);
  });

  test('no line contains a secret or a line break', () => {
    for (const [argv, variables] of refusals) expect(errorOf(argv, variables)).not.toMatch(/hunter2|\n/);
  });
});
