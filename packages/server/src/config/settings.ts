/** The table of settings: source of parsing, `--help` and the documentation. */
import type { z } from 'zod';
import { McpServers } from '../tools/mcp/servers.ts';
import { LIMITS } from './limits.ts';
import { agents, domains, rules } from './lists.ts';
import {
  DIALECTS,
  doors,
  flag,
  fraction,
  host,
  httpUrl,
  notYet,
  oneOf,
  origins,
  secret,
  text,
  textList,
  users,
  wholeNumber,
} from './values.ts';

export type Setting = {
  /** the first variable that is set and not empty counts */
  readonly env: readonly string[];
  /** null for secrets: a command line can be read by other users of the machine */
  readonly flag: string | null;
  /** placeholder after the flag in the help */
  readonly argument: string;
  /** parsed by the schema like any other value; undefined if the setting may stay unset */
  readonly fallback: unknown;
  /** text for the default in the help, if the fallback does not say it */
  readonly fallbackText?: string;
  /** a function: each schema is used once at start and can be collected afterwards */
  readonly schema: () => z.ZodType;
  readonly repeatable?: boolean;
  /** the value is never shown, not even in an error */
  readonly secret?: boolean;
  readonly description: string;
};

/** Path of the config file. The only setting that cannot be in the file. */
export const CONFIG_FILE = {
  env: ['PARLANCE_CONFIG'],
  flag: '--config',
  argument: 'PATH',
  fallback: undefined,
  fallbackText: 'config.json in the data folder, if there is one',
  schema: text,
  description: 'a JSON file with any of these settings; never taken from the folder that tools work in',
} as const satisfies Setting;

/** A setting available only in the config file. */
const fileOnly = <Schema extends z.ZodType>(
  schema: () => Schema,
  fallback: object,
  description: string,
  isSecret = false,
) => ({
  env: [],
  flag: null,
  argument: '',
  fallback,
  fallbackText: 'none',
  schema,
  secret: isSecret,
  description,
});

const vendorKey = (env: readonly string[], vendor: string) => ({
  env,
  flag: null,
  argument: '',
  fallback: undefined,
  schema: text,
  secret: true,
  description: `the key for ${vendor}`,
});

const vendorAddress = (env: readonly string[], vendor: string, more = '') => ({
  env,
  flag: null,
  argument: '',
  fallback: undefined,
  fallbackText: "the vendor's own",
  schema: httpUrl,
  description: `where ${vendor} is reached${more === '' ? '' : `; ${more}`}`,
});

const application = <Fallback>(env: string, fallback: Fallback, description: string) => ({
  env: [env],
  flag: null,
  argument: '',
  fallback,
  schema: text,
  description,
});

export const SETTINGS = {
  host: {
    env: ['HOST'],
    flag: '--host',
    argument: 'HOST',
    fallback: '127.0.0.1',
    schema: host,
    description: 'the address to listen on; one that is not loopback needs --auth required',
  },
  port: {
    env: ['PORT'],
    flag: '--port',
    argument: 'PORT',
    fallback: 3000,
    schema: () => wholeNumber(0, 65_535),
    description: 'the port of the default door; 0 takes any free one',
  },
  doors: {
    env: ['PARLANCE_DOORS'],
    flag: '--door',
    argument: 'NAME=PORT',
    fallback: [],
    schema: doors,
    repeatable: true,
    description: `a further door that speaks one dialect: ${DIALECTS.join(', ')}`,
  },
  data: {
    env: ['PARLANCE_DATA'],
    flag: '--data',
    argument: 'FOLDER',
    fallback: './.parlance',
    schema: text,
    description: 'where the embedded store lives',
  },
  database: {
    env: ['DATABASE_URL'],
    flag: '--database',
    argument: 'URL',
    fallback: undefined,
    schema: () => notYet('is set, but Postgres is not available yet: unset it to use the embedded store'),
    secret: true,
    description: 'a postgres:// URL instead of the embedded store (not available yet)',
  },
  redis: {
    env: ['REDIS_URL'],
    flag: '--redis',
    argument: 'URL',
    fallback: undefined,
    schema: () => notYet('is set, but Redis is not available yet: unset it to run a single node'),
    secret: true,
    description: 'the bus between nodes (not available yet)',
  },
  auth: {
    env: ['PARLANCE_AUTH'],
    flag: '--auth',
    argument: 'open|required',
    fallback: undefined,
    fallbackText: 'open on a loopback host',
    schema: () => oneOf(['open', 'required']),
    description: 'whether callers need a token; in open mode those without one are the principal local',
  },
  authSecret: {
    env: ['AUTH_SECRET'],
    flag: null,
    argument: '',
    fallback: undefined,
    fallbackText: 'made on first start and kept in the data folder',
    schema: secret,
    secret: true,
    description: 'the key that signs tokens, at least 32 bytes',
  },
  authUsers: {
    env: ['AUTH_USERS'],
    flag: null,
    argument: '',
    fallback: [],
    fallbackText: 'admin is made where there is no user, and its password printed once',
    schema: users,
    secret: true,
    description: 'name:password:role;… users made or changed at start; roles: admin, developer, user',
  },
  loginAttempts: {
    env: ['PARLANCE_LOGIN_ATTEMPTS'],
    flag: '--login-attempts',
    argument: 'COUNT',
    fallback: 10,
    schema: () => wholeNumber(1, 1_000_000),
    description:
      'how often a login may fail in 15 minutes for one name from one address; ten times as often for an address or a name overall',
  },
  trustedProxies: {
    env: ['PARLANCE_TRUSTED_PROXIES'],
    flag: '--trusted-proxies',
    argument: 'COUNT',
    fallback: 0,
    schema: () => wholeNumber(0, 10),
    description: 'how many reverse proxies of your own stand in front and write X-Forwarded-For',
  },
  allowedOrigins: {
    env: ['ALLOWED_ORIGINS'],
    flag: '--origin',
    argument: 'ORIGIN',
    fallback: [],
    fallbackText: 'same origin, and loopback origins on a loopback host',
    schema: origins,
    repeatable: true,
    description: 'a further browser origin, exact; chrome-extension:// origins must be named here',
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
  provider: {
    env: ['PROVIDER'],
    flag: '--provider',
    argument: 'NAME',
    fallback: undefined,
    fallbackText: 'by the model, else by the key that is set, else offline',
    schema: () => oneOf(['openai', 'anthropic', 'google', 'offline']),
    description: 'the model API: openai, anthropic, google or offline',
  },
  model: {
    env: ['MODEL'],
    flag: '--model',
    argument: 'NAME',
    fallback: undefined,
    fallbackText: "the provider's own",
    schema: text,
    description: 'the model that answers; claude-… means anthropic, gemini-… google, any other openai',
  },
  openaiModel: {
    env: ['OPENAI_MODEL'],
    flag: null,
    argument: '',
    fallback: undefined,
    schema: text,
    description: 'the model where the provider is openai and no other is named',
  },
  openaiKey: vendorKey(['OPENAI_API_KEY'], 'openai'),
  openaiBaseUrl: vendorAddress(
    ['OPENAI_BASE_URL'],
    'openai',
    'any server of that kind: Ollama, vLLM, llama.cpp',
  ),
  openaiApi: {
    env: ['OPENAI_API'],
    flag: null,
    argument: '',
    fallback: undefined,
    fallbackText: "responses at the vendor's own address, chat at any other",
    schema: () => oneOf(['responses', 'chat']),
    description: 'which of the two APIs of openai is spoken: responses or chat',
  },
  anthropicKey: vendorKey(['ANTHROPIC_API_KEY'], 'anthropic'),
  anthropicBaseUrl: vendorAddress(['ANTHROPIC_BASE_URL'], 'anthropic'),
  googleKey: vendorKey(['GOOGLE_API_KEY', 'GEMINI_API_KEY'], 'google'),
  googleBaseUrl: vendorAddress(['GOOGLE_BASE_URL'], 'google'),
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
    description: 'a model that says nothing for this long is broken off',
  },
  contextLimit: {
    env: ['CONTEXT_LIMIT'],
    flag: '--context-limit',
    argument: 'TOKENS',
    fallback: undefined,
    fallbackText: "the model's",
    schema: () => wholeNumber(1_000, 100_000_000),
    description: 'how many tokens the model takes, where that is not known',
  },
  serperKey: vendorKey(['SERPER_API_KEY'], 'web search (Serper)'),
  serperBaseUrl: vendorAddress(['SERPER_BASE_URL'], 'web search'),
  instructions: {
    env: ['INSTRUCTIONS'],
    flag: '--instructions',
    argument: 'TEXT',
    fallback: undefined,
    fallbackText: 'built in',
    schema: text,
    description: 'system instructions for the agent',
  },
  cwd: {
    env: ['WORKING_DIRECTORY'],
    flag: '--cwd',
    argument: 'FOLDER',
    fallback: undefined,
    fallbackText:
      "the current folder; ./workspace, which is made, if that is Parlance's own checkout or installation",
    schema: text,
    description: 'where tools work',
  },
  approval: {
    env: ['TOOL_USE_APPROVAL_MODE'],
    flag: '--approval',
    argument: 'MODE',
    fallback: 'suggest',
    schema: () => oneOf(['suggest', 'auto-edit', 'full-auto']),
    description: 'what runs unasked: suggest, auto-edit or full-auto',
  },
  contextStrategy: {
    env: ['CONTEXT_STRATEGY'],
    flag: '--context-strategy',
    argument: 'NAME',
    fallback: 'threshold',
    schema: () => oneOf(['threshold', 'none']),
    description: 'when a long context is compacted by itself: threshold or none',
  },
  contextThreshold: {
    env: ['CONTEXT_COMPACTION_THRESHOLD'],
    flag: '--context-threshold',
    argument: 'FRACTION',
    fallback: 0.8,
    schema: fraction,
    description: 'the part of the context window above which it is compacted',
  },
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
    flag: null,
    argument: '',
    fallback: undefined,
    schema: secret,
    secret: true,
    description: 'a token that opens /metrics and nothing else, at least 32 bytes',
  },
  otlpEndpoint: {
    env: ['OTEL_EXPORTER_OTLP_ENDPOINT'],
    flag: '--otlp-endpoint',
    argument: 'URL',
    fallback: undefined,
    schema: httpUrl,
    description: 'an OpenTelemetry collector that is sent spans of turns, over HTTP',
  },
  serviceName: {
    env: ['OTEL_SERVICE_NAME'],
    flag: null,
    argument: '',
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
    description: 'the pause between two pieces of text of the offline model',
  },
  maxSteps: {
    env: ['MAX_ITERATIONS'],
    flag: '--max-steps',
    argument: 'COUNT',
    fallback: 50,
    schema: () => wholeNumber(1, 10_000),
    description: 'how often one turn may call the model',
  },
  grace: {
    env: ['PARLANCE_GRACE'],
    flag: '--grace',
    argument: 'MS',
    fallback: 5000,
    schema: () => wholeNumber(0, 600_000),
    description: 'how long running turns may go on when the server is told to stop',
  },
  ...LIMITS,
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
    ...application('SOCKUDO_USE_TLS', false, 'whether that server is reached over TLS'),
    schema: flag,
  },
  rules: fileOnly(
    rules,
    [],
    'what calls may run: [{tool, pattern, decision: allow | ask | deny}], the strictest wins',
  ),
  agents: fileOnly(agents, [], 'further agents, or others in place of those that ship'),
  domains: fileOnly(domains, [], 'further domains, or others in place of those that ship'),
  mcpServers: fileOnly(
    () => McpServers,
    {},
    'servers of the Model Context Protocol whose tools are offered',
    true,
  ),
} as const satisfies Record<string, Setting>;

export type SettingKey = keyof typeof SETTINGS;

export const SETTING_KEYS = Object.keys(SETTINGS) as SettingKey[];
