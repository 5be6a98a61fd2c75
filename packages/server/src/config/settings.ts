/** The table of settings: source of parsing, `--help` and the documentation. */

import { SpendLimit } from '@parlance/protocol';
import { z } from 'zod';
import { DIALECT_NAMES } from '../dialects/names.ts';
import {
  addressSetting,
  addressVariable,
  keySetting,
  VENDOR_NAMES,
  VENDORS,
  type Vendor,
} from '../providers/vendors.ts';
import { McpServers } from '../tools/mcp/servers.ts';
import { LIMITS } from './limits.ts';
import type { Setting } from './setting.ts';
import {
  aliases,
  flag,
  fraction,
  host,
  httpUrl,
  listeners,
  oneOf,
  origins,
  secret,
  serverUrl,
  text,
  textList,
  tokensByModel,
  users,
  webOrigin,
  wholeNumber,
} from './values.ts';

// Settings that are lists of objects, available only in the config file.

const Name = z.string().regex(/^[A-Za-z0-9_-]{1,64}$/, 'must have 1 to 64 letters, digits, - and _');
const Approval = z.enum(['suggest', 'auto-edit', 'full-auto']);

/** `pattern` may contain `*` for any text; the strictest matching rule wins. */
const rules = () =>
  z.array(
    z.strictObject({
      tool: z.string().min(1),
      pattern: z.string().default('*'),
      decision: z.enum(['allow', 'ask', 'deny']),
    }),
    'must be a list of {tool, pattern, decision}',
  );

const agents = () =>
  z.array(
    z.strictObject({
      id: Name,
      name: z.string().min(1),
      description: z.string().default(''),
      instructions: z.string(),
      model: z.string().min(1).optional(),
      approval: Approval.optional(),
      parallelCalls: z.int().min(1).max(100).optional(),
      tools: z.array(z.string()).optional(),
      skills: z.array(z.string()).optional(),
      starters: z.array(z.string().min(1).max(200)).max(6).optional(),
    }),
    'must be a list of agents',
  );

const domains = () =>
  z.array(
    z.strictObject({
      id: Name,
      name: z.string().min(1),
      description: z.string().default(''),
      defaultAgent: Name,
      agents: z.array(Name).min(1),
    }),
    'must be a list of domains',
  );

const spendLimits = () => z.array(SpendLimit, 'must be a list of limits').max(200);

/** A setting available only in the config file. */
const fileOnly = <Schema extends z.ZodType>(schema: () => Schema, fallback: object, description: string) => ({
  env: [],
  fallback,
  fallbackText: 'none',
  schema,
  secret: false,
  description,
});

const FILE_ONLY = {
  rules: fileOnly(
    rules,
    [],
    'rules for calls: [{tool, pattern, decision: allow | ask | deny}], the strictest match wins',
  ),
  agents: fileOnly(agents, [], 'additional agents, or replacements of built-in ones'),
  domains: fileOnly(domains, [], 'additional domains, or replacements of built-in ones'),
  spendLimits: fileOnly(
    spendLimits,
    [],
    'limits on money and tokens: [{per: turn | session | agent | key | user, of, in: day | month, dollars, tokens}]',
  ),
  mcpServers: {
    ...fileOnly(() => McpServers, {}, 'Model Context Protocol servers whose tools are offered'),
    secret: true,
  },
} as const satisfies Record<string, Setting>;

// Logs, metrics, traces and shutdown.

const OPERATION = {
  logLevel: {
    env: ['LOG_LEVEL'],
    flag: '--log-level',
    argument: 'LEVEL',
    fallback: 'info',
    schema: () => oneOf(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']),
    description: 'fatal, error, warn, info, debug, trace or silent',
  },
  metricsToken: {
    env: ['PARLANCE_METRICS_TOKEN'],
    schema: secret,
    secret: true,
    description: 'a token that opens /metrics and nothing else, at least 32 bytes',
  },
  otlpEndpoint: {
    env: ['OTEL_EXPORTER_OTLP_ENDPOINT'],
    flag: '--otlp-endpoint',
    argument: 'URL',
    schema: httpUrl,
    description: 'an OpenTelemetry collector for spans of turns, over HTTP',
  },
  serviceName: {
    env: ['OTEL_SERVICE_NAME'],
    fallback: 'parlance',
    schema: text,
    description: 'the name of this server in spans',
  },
  offlineDelay: {
    env: ['PARLANCE_OFFLINE_DELAY'],
    flag: '--offline-delay',
    argument: 'MS',
    fallback: 15,
    schema: () => wholeNumber(0, 60_000),
    description: 'pause between two deltas of the offline model',
  },
  maxSteps: {
    env: ['MAX_ITERATIONS'],
    flag: '--max-steps',
    argument: 'COUNT',
    fallback: 50,
    schema: () => wholeNumber(1, 10_000),
    description:
      'maximum number of model calls in one turn, which then pauses: the next message continues it',
  },
  parallelCalls: {
    env: ['PARLANCE_PARALLEL_CALLS'],
    flag: '--parallel-calls',
    argument: 'COUNT',
    fallback: 8,
    schema: () => wholeNumber(1, 100),
    description: 'how many tool calls of one answer run at the same time; an agent may have its own number',
  },
  titles: {
    env: ['PARLANCE_TITLES'],
    flag: '--titles',
    argument: 'model|input',
    fallback: 'model',
    schema: () => oneOf(['model', 'input']),
    description:
      'who writes titles of sessions of the console: the model after the first turn (never the offline model), or the beginning of the first message',
  },
  grace: {
    env: ['PARLANCE_GRACE'],
    flag: '--grace',
    argument: 'MS',
    fallback: 5000,
    schema: () => wholeNumber(0, 600_000),
    description: 'how long running turns may continue after the server receives a stop signal',
  },
} as const satisfies Record<string, Setting>;

// Settings that every external API has.

const vendorKey = (env: readonly string[], vendor: string) => ({
  env,
  schema: text,
  secret: true,
  description: `API key for ${vendor}`,
});

/** Addresses are shown to users and in logs. */
const addressWithoutPassword = () =>
  httpUrl().refine((value) => {
    const url = URL.parse(value);
    return !url?.username && !url?.password;
  }, 'must not contain a user name or password: set the API key instead');

const vendorAddress = (env: readonly string[], vendor: string, more = '') => ({
  env,
  fallbackText: "the vendor's own",
  schema: addressWithoutPassword,
  description: `address of ${vendor}${more === '' ? '' : `; ${more}`}`,
});

// Model APIs.

const PREFIXES = VENDOR_NAMES.flatMap((vendor) => {
  const { prefix } = VENDORS[vendor];
  return prefix === undefined ? [] : [`${prefix}… means ${vendor}`];
}).join(', ');

const COMPATIBLE: Partial<Record<Vendor, string>> = {
  openai: 'any compatible server: Ollama, vLLM, llama.cpp',
};

type VendorSettings = { readonly [Key in `${Vendor}Key`]: ReturnType<typeof vendorKey> } & {
  readonly [Key in `${Vendor}BaseUrl`]: ReturnType<typeof vendorAddress>;
};

const MODEL = {
  provider: {
    env: ['PROVIDER'],
    flag: '--provider',
    argument: 'NAME',
    fallbackText: 'by the model, else by the configured key, else offline',
    schema: () => oneOf([...VENDOR_NAMES, 'offline'] as [Vendor, ...Vendor[], 'offline']),
    description: `the vendor of the model: ${VENDOR_NAMES.join(', ')} or offline`,
  },
  model: {
    env: ['MODEL'],
    flag: '--model',
    argument: 'NAME',
    fallbackText: "the provider's own",
    schema: text,
    description: `the model that answers; ${PREFIXES}, any other the first vendor with a key, else openai. A list, NAME,NAME: the others answer, in this order, while those before them are unavailable`,
  },
  openaiModel: {
    env: ['OPENAI_MODEL'],
    schema: text,
    description: 'the model if the provider is openai and MODEL is not set',
  },
  openaiApi: {
    env: ['OPENAI_API'],
    fallbackText: "responses at the vendor's own address, chat at any other",
    schema: () => oneOf(['responses', 'chat']),
    description: 'which API of openai is used: responses or chat',
  },
  ...(Object.fromEntries(
    VENDOR_NAMES.flatMap((vendor): [string, Setting][] => [
      [keySetting(vendor), vendorKey(VENDORS[vendor].variables, vendor)],
      [addressSetting(vendor), vendorAddress([addressVariable(vendor)], vendor, COMPATIBLE[vendor])],
    ]),
  ) as VendorSettings),
  fallbackFromNamed: {
    env: ['PARLANCE_FALLBACK_FROM_NAMED'],
    flag: '--fallback-from-named',
    argument: 'on|off',
    fallback: false,
    fallbackText: 'off',
    schema: flag,
    description:
      "whether the chain of models also answers for a model that a caller has named, and whether callers may name a chain; otherwise such a caller gets that model's failure",
  },
  fallbackCoolDown: {
    env: ['PARLANCE_FALLBACK_COOL_DOWN'],
    flag: '--fallback-cool-down',
    argument: 'MS',
    fallback: 30_000,
    schema: () => wholeNumber(100, 3_600_000),
    description:
      'how long a model of a chain is not asked after it has failed; it doubles with each failure up to 10 minutes, and is at least what the vendor asks for, up to an hour',
  },
  modelAliases: {
    env: ['MODEL_ALIASES'],
    flag: '--model-aliases',
    argument: 'FROM=TO,…',
    fallback: [],
    schema: aliases,
    description:
      'names that clients of vendors use for a model or an agent of this server; one may end in *: claude-*=gpt-5.5',
  },
  http: {
    env: ['PARLANCE_HTTP'],
    flag: '--http',
    argument: 'CLIENT',
    fallback: 'socket',
    schema: () => oneOf(['socket', 'fetch']),
    description:
      'the HTTP client for model APIs: socket needs less CPU; fetch is the one of the runtime, if a model API cannot be reached otherwise',
  },
  providerIdle: {
    env: ['PARLANCE_PROVIDER_IDLE'],
    flag: '--provider-idle',
    argument: 'MS',
    fallback: 60_000,
    schema: () => wholeNumber(100, 3_600_000),
    description: 'timeout for a silent model',
  },
  contextLimit: {
    env: ['CONTEXT_LIMIT'],
    flag: '--context-limit',
    argument: 'TOKENS',
    fallbackText: "the model's",
    schema: () => wholeNumber(1_000, 100_000_000),
    description: 'context window of the model in tokens, if it is unknown',
  },
  contextLimits: {
    env: ['CONTEXT_LIMITS'],
    flag: '--context-limits',
    argument: 'NAME=TOKENS,…',
    fallback: {},
    fallbackText: 'those of the catalogue',
    schema: tokensByModel,
    description: 'context windows of models by name, before all others',
  },
} as const satisfies Record<string, Setting>;

// Pusher channels.

const application = <Fallback>(env: string, fallback: Fallback, description: string) => ({
  env: [env],
  fallback,
  schema: text,
  description,
});

const CHANNELS = {
  channels: {
    env: ['PARLANCE_CHANNELS'],
    flag: '--channels',
    argument: 'on|off',
    fallback: true,
    fallbackText: 'on',
    schema: flag,
    description: 'whether Pusher channels are served at /app/{key}',
  },
  channelsAppId: application('SOCKUDO_APP_ID', 'app-id', 'the id of the Pusher application'),
  channelsKey: application('SOCKUDO_APP_KEY', 'app-key', 'the key with which clients name that application'),
  channelsSecret: {
    ...application('SOCKUDO_APP_SECRET', 'app-secret', 'the secret that signs for that application'),
    secret: true,
  },
  channelsHost: {
    ...application(
      'SOCKUDO_HOST',
      undefined,
      'an external Pusher or Sockudo server on which events are triggered instead',
    ),
    schema: host,
  },
  channelsPort: {
    ...application('SOCKUDO_PORT', undefined, 'the port of that server'),
    fallbackText: '443 with TLS, else 6001',
    schema: () => wholeNumber(1, 65_535),
  },
  channelsUseTls: {
    ...application('SOCKUDO_USE_TLS', false, 'whether that server uses TLS'),
    schema: flag,
  },
} as const satisfies Record<string, Setting>;

const A2A = {
  pushNotifications: {
    env: ['PARLANCE_PUSH_NOTIFICATIONS'],
    flag: '--push-notifications',
    argument: 'off|public|any',
    fallback: 'public',
    schema: () => oneOf(['off', 'public', 'any']),
    description:
      'where A2A clients may have updates of tasks sent: public refuses addresses of private networks and of this machine, any allows them',
  },
} as const satisfies Record<string, Setting>;

// The default agent and its tools.

const AGENT = {
  serperKey: vendorKey(['SERPER_API_KEY'], 'web search (Serper)'),
  serperBaseUrl: vendorAddress(['SERPER_BASE_URL'], 'web search'),
  instructions: {
    env: ['INSTRUCTIONS'],
    flag: '--instructions',
    argument: 'TEXT',
    fallbackText: 'built in',
    schema: text,
    description: 'system instructions for the agent',
  },
  cwd: {
    env: ['WORKING_DIRECTORY'],
    flag: '--cwd',
    argument: 'FOLDER',
    fallbackText:
      "the current folder; ./workspace, which is created, if that is Parlance's own checkout or installation",
    schema: text,
    description: 'working directory of tools',
  },
  tools: {
    env: ['PARLANCE_TOOLS'],
    flag: '--tools',
    argument: 'FILE',
    fallback: [],
    schema: textList,
    repeatable: true,
    description: 'a module with custom tools, in TypeScript or JavaScript; it runs inside of the server',
  },
  prompts: {
    env: ['PARLANCE_PROMPTS'],
    flag: '--prompts',
    argument: 'FILE',
    fallback: [],
    schema: textList,
    repeatable: true,
    description: 'a module with custom prompts for MCP clients; it runs inside of the server',
  },
  resources: {
    env: ['PARLANCE_RESOURCES'],
    flag: '--resources',
    argument: 'FILE',
    fallback: [],
    schema: textList,
    repeatable: true,
    description: 'a module with custom resources for MCP clients; it runs inside of the server',
  },
  workFolders: {
    env: ['PARLANCE_WORK_FOLDERS'],
    flag: '--work-folder',
    argument: 'FOLDER',
    fallback: [],
    schema: textList,
    repeatable: true,
    description:
      'a further folder in which, and in the folders of which, sessions may work; the working directory is always one',
  },
  trustedFolders: {
    env: ['PARLANCE_TRUSTED_FOLDERS'],
    flag: '--trust',
    argument: 'FOLDER',
    fallback: [],
    schema: textList,
    repeatable: true,
    description:
      'a folder whose files the agent may follow, with all that is in it; without this, a repository inside the working directory is untrusted content',
  },
  projectInstructions: {
    env: ['PARLANCE_PROJECT_INSTRUCTIONS'],
    flag: '--project-instructions',
    argument: 'on|off',
    fallback: true,
    fallbackText: 'on',
    schema: flag,
    description:
      'whether AGENTS.md, CLAUDE.md and skills of the working folder are used, after a person has accepted them, and skills of the server',
  },
  skillFolders: {
    env: ['PARLANCE_SKILLS'],
    flag: '--skills',
    argument: 'FOLDER',
    fallback: [],
    schema: textList,
    repeatable: true,
    description:
      'a folder with skills of the server, one folder with a SKILL.md each, besides skills/ in the data folder',
  },
  approval: {
    env: ['TOOL_USE_APPROVAL_MODE'],
    flag: '--approval',
    argument: 'MODE',
    fallback: 'suggest',
    schema: () => oneOf(['suggest', 'auto-edit', 'full-auto']),
    description: 'what runs without approval: suggest, auto-edit or full-auto',
  },
  fullAutoAsRoot: {
    env: ['PARLANCE_FULL_AUTO_AS_ROOT'],
    flag: '--full-auto-as-root',
    argument: 'on|off',
    fallback: false,
    fallbackText: 'off',
    schema: flag,
    description: 'whether full-auto is available if the server runs as root',
  },
  contextStrategy: {
    env: ['CONTEXT_STRATEGY'],
    flag: '--context-strategy',
    argument: 'NAME',
    fallback: 'threshold',
    schema: () => oneOf(['threshold', 'none']),
    description: 'when a long context is compacted automatically: threshold or none',
  },
  contextThreshold: {
    env: ['CONTEXT_COMPACTION_THRESHOLD'],
    flag: '--context-threshold',
    argument: 'FRACTION',
    fallback: 0.8,
    schema: fraction,
    description: 'fraction of the context window above which it is compacted',
  },
} as const satisfies Record<string, Setting>;

// Users, tokens and origins.

const AUTH = {
  auth: {
    env: ['PARLANCE_AUTH'],
    flag: '--auth',
    argument: 'open|required',
    fallbackText: 'open on a loopback host',
    schema: () => oneOf(['open', 'required']),
    description:
      'whether callers have to sign in or send an API key; in open mode they need not, and are the user local',
  },
  authSecret: {
    env: ['AUTH_SECRET'],
    fallbackText: 'created on first start and stored in the data folder',
    schema: secret,
    secret: true,
    description: 'the key that signs tokens, at least 32 bytes',
  },
  authUsers: {
    env: ['AUTH_USERS'],
    fallback: [],
    fallbackText: 'admin is created if there is no user, and its password printed once',
    schema: users,
    secret: true,
    description: 'name:password:role;… users created or changed at start; roles: admin, developer, user',
  },
  loginAttempts: {
    env: ['PARLANCE_LOGIN_ATTEMPTS'],
    flag: '--login-attempts',
    argument: 'COUNT',
    fallback: 10,
    schema: () => wholeNumber(1, 1_000_000),
    description:
      'failed logins in 15 minutes per name and address; ten times as many per address and per name overall',
  },
  trustedProxies: {
    env: ['PARLANCE_TRUSTED_PROXIES'],
    flag: '--trusted-proxies',
    argument: 'COUNT',
    fallback: 0,
    schema: () => wholeNumber(0, 10),
    description: 'number of your own reverse proxies in front of the server that write X-Forwarded-For',
  },
  publicUrl: {
    env: ['PARLANCE_PUBLIC_URL'],
    flag: '--public-url',
    argument: 'URL',
    fallbackText: 'the address of each request',
    schema: webOrigin,
    description:
      'the address under which others reach this server, such as https://chat.example.com: for sign-ins to MCP servers and the A2A card; browsers may call from it',
  },
  allowedOrigins: {
    env: ['ALLOWED_ORIGINS'],
    flag: '--origin',
    argument: 'ORIGIN',
    fallback: [],
    fallbackText: 'same origin, and loopback origins on a loopback host',
    schema: origins,
    repeatable: true,
    description:
      'an additional browser origin, exact; a chrome-extension:// origin must be named here or paired',
  },
  allowedToolOrigins: {
    env: ['ALLOWED_TOOL_ORIGINS'],
    flag: '--tool-origin',
    argument: 'ORIGIN',
    fallback: [],
    schema: textList,
    repeatable: true,
    description: 'an origin that browser tools may work on',
  },
} as const satisfies Record<string, Setting>;

// Several nodes: the database they share and the bus between them.

const CLUSTER = {
  database: {
    env: ['DATABASE_URL'],
    flag: '--database',
    argument: 'URL',
    fallbackText: 'the embedded store',
    schema: () => serverUrl(['postgres', 'postgresql']),
    secret: true,
    description: 'a postgres:// URL: sessions and users are kept there instead of in the data folder',
  },
  databaseDirect: {
    env: ['DATABASE_DIRECT_URL'],
    fallbackText: 'DATABASE_URL',
    schema: () => serverUrl(['postgres', 'postgresql']),
    secret: true,
    description:
      'the same database without a pooler in between, for heartbeats, migrations and notifications',
  },
  databasePool: {
    env: ['PARLANCE_DATABASE_POOL'],
    fallback: 8,
    schema: () => wholeNumber(1, 100),
    description: 'connections of this node to the database, besides two for heartbeats and notifications',
  },
  redis: {
    env: ['REDIS_URL'],
    flag: '--redis',
    argument: 'URL',
    schema: () => serverUrl(['redis', 'rediss']),
    secret: true,
    description:
      'a redis:// or rediss:// URL of Valkey or Redis: carries text between nodes as it is written; needs --database',
  },
  lease: {
    env: ['PARLANCE_LEASE'],
    fallback: 1_500,
    schema: () => wholeNumber(1_000, 60_000),
    description:
      'several nodes: after this many milliseconds without a heartbeat others take over the turns of a node',
  },
  home: {
    env: ['PARLANCE_HOME'],
    schema: text,
    description:
      'several nodes: a label; sessions that began on a node with this label run only on such nodes',
  },
  folder: {
    env: ['PARLANCE_FOLDER'],
    fallback: 'shared',
    schema: () => oneOf(['shared', 'own']),
    description:
      'several nodes: `shared` refuses to start if the working directory is not that of the others, `own` does not look',
  },
} as const satisfies Record<string, Setting>;

// Listeners and storage.

const NETWORK = {
  host: {
    env: ['HOST'],
    flag: '--host',
    argument: 'HOST',
    fallback: '127.0.0.1',
    schema: host,
    description: 'the address to listen on; an address that is not loopback needs --auth required',
  },
  port: {
    env: ['PORT'],
    flag: '--port',
    argument: 'PORT',
    fallback: 3000,
    schema: () => wholeNumber(0, 65_535),
    description: 'port of the default listener; 0 for any free port',
  },
  listeners: {
    env: ['PARLANCE_LISTEN', 'PARLANCE_DOORS'],
    flag: '--listen',
    formerFlag: '--door',
    argument: 'NAME=PORT',
    fallback: [],
    schema: listeners,
    repeatable: true,
    description: `an extra listener for one dialect: ${DIALECT_NAMES.join(', ')}`,
  },
  data: {
    env: ['PARLANCE_DATA'],
    flag: '--data',
    argument: 'FOLDER',
    fallback: './.parlance',
    schema: text,
    description: 'folder of the embedded store',
  },
} as const satisfies Record<string, Setting>;

/** Path of the config file. The only setting that cannot be in the file. */
export const CONFIG_FILE = {
  env: ['PARLANCE_CONFIG'],
  flag: '--config',
  argument: 'PATH',
  fallbackText: 'config.json in the data folder, if there is one',
  schema: text,
  description: 'a JSON file with any of these settings; never taken from the folder that tools work in',
} as const satisfies Setting;

/** In the order of the help and the documentation. */
export const SETTINGS = {
  ...NETWORK,
  ...CLUSTER,
  ...AUTH,
  ...MODEL,
  ...AGENT,
  ...OPERATION,
  ...LIMITS,
  ...CHANNELS,
  ...A2A,
  ...FILE_ONLY,
} as const satisfies Record<string, Setting>;

export type SettingKey = keyof typeof SETTINGS;

export const SETTING_KEYS = Object.keys(SETTINGS) as SettingKey[];
