/**
 * The native API: the requests and answers of its endpoints. The server parses requests with these schemas and its
 * answers have their types; OpenAPI, the SDK, the console and the command line are derived from them. A schema is
 * called in the documents as it is here.
 */
import { z } from 'zod';
import { AgentRef, ApprovalAnswer, ApprovalMode, Ask } from './event-fields.ts';
import { EVENTS, type DurableEvent as Stored } from './events.ts';
import { FaultData } from './faults.ts';
import { ApprovalId, BlockId, CallId, InputId, QuestionId, SessionId, TurnId } from './ids.ts';
import { Principal, Role } from './principals.ts';
import { Answers, QUESTION } from './questions.ts';
import { LimitUse } from './spend.ts';

// Requests

export const SessionStatus = z.enum(['idle', 'running', 'waiting', 'failed']);
export type SessionStatus = z.infer<typeof SessionStatus>;

export const PageQuery = z.object({
  limit: z.coerce.number<number | undefined>().int().min(1).max(500).default(50),
  cursor: z.string().optional(),
});
export type PageQuery = z.input<typeof PageQuery>;

export const SessionsQuery = PageQuery.extend({
  /** part of the title */
  q: z.string().trim().min(1).max(200).optional(),
  status: SessionStatus.optional(),
  domain: z.string().max(200).optional(),
  archived: z.enum(['included', 'only']).optional(),
  pinned: z.literal('only').optional(),
  /** sessions with this tag */
  tag: z.string().min(1).max(50).optional(),
  /** left out by default */
  ephemeral: z.enum(['included', 'only']).optional(),
  /** sub-agents of this session; left out by default */
  parent: SessionId.optional(),
});
export type SessionsQuery = z.input<typeof SessionsQuery>;

export const ExportQuery = z.object({
  format: z.enum(['jsonl', 'markdown', 'html']).default('jsonl').describe('only `jsonl` can be imported'),
});
export type ExportQuery = z.input<typeof ExportQuery>;

export const SearchQuery = z.object({
  q: z.string().trim().min(1).max(200).describe('words, or "words in quotes" in this order'),
  limit: z.coerce.number<number | undefined>().int().min(1).max(50).default(20),
  cursor: z.string().max(100).optional(),
});
export type SearchQuery = z.input<typeof SearchQuery>;

export const EventsQuery = z.object({
  after: z.coerce.number<number | undefined>().int().min(0).default(0),
  limit: z.coerce.number<number | undefined>().int().min(1).max(1_000).default(200),
});
export type EventsQuery = z.input<typeof EventsQuery>;

export const RewindQuery = z.object({
  to: InputId.optional().describe('the message to rewind to'),
  undo: z.string().max(100).optional().describe('instead of `to`: the rewind to undo'),
});
export type RewindQuery = z.input<typeof RewindQuery>;

export const EventsHeaders = z.object({
  'last-event-id': z.coerce
    .number<number | undefined>()
    .int()
    .min(0)
    .optional()
    .describe('overrides `after`'),
});
export type EventsHeaders = z.input<typeof EventsHeaders>;

export const CommandHeaders = z.object({
  'idempotency-key': z
    .string()
    .min(1)
    .max(200)
    .optional()
    .describe('a command with the same key is executed once'),
});
export type CommandHeaders = z.input<typeof CommandHeaders>;

export const AnswerQuestion = z.object({
  answers: Answers.optional().describe('by id of the item: labels of the chosen options, or free text'),
  declined: z.boolean().default(false).describe('true: the user gives no answer'),
});
export type AnswerQuestion = z.input<typeof AnswerQuestion>;
export const AnswerApproval = z.object({
  answer: ApprovalAnswer,
  reason: z.string().max(10_000).optional(),
  hash: z.string().optional(),
});
export type AnswerApproval = z.input<typeof AnswerApproval>;

/** The authenticator decides whether a password is acceptable; this only bounds its length. */
const Password = z.string().max(10_000);

export const NewUser = z.strictObject({ name: z.string().max(1_000), password: Password, role: Role });
export type NewUser = z.input<typeof NewUser>;

export const UserChange = z
  .strictObject({ password: Password.optional(), role: Role.optional() })
  .refine(({ password, role }) => password !== undefined || role !== undefined, 'give a password or a role');
export type UserChange = z.input<typeof UserChange>;

export const NewApiKey = z.strictObject({
  name: z.string().max(1_000),
  role: Role.optional().describe('the most that the key grants; default: the caller’s role'),
  dialects: z.array(z.string().max(100)).max(100).optional().describe('default: all'),
  administration: z
    .boolean()
    .optional()
    .describe('lets it manage users, passwords, origins and MCP servers, which otherwise needs a login'),
  expiresAt: z.iso.datetime({ offset: true }).optional().describe('default: never'),
});
export type NewApiKey = z.input<typeof NewApiKey>;

export const NewPairing = z.strictObject({
  name: z.string().max(1_000).describe('the name shown to the user who approves the pairing'),
});
export type NewPairing = z.input<typeof NewPairing>;

const Code = z.string().min(1).max(100).describe('as the extension shows it; case and hyphens do not matter');

export const PairingCode = z.strictObject({ code: Code });
export type PairingCode = z.input<typeof PairingCode>;

export const PairingAnswer = z.strictObject({ code: Code, allow: z.boolean() });
export type PairingAnswer = z.input<typeof PairingAnswer>;

export const NewPassword = z.strictObject({ old: Password, new: Password });
export type NewPassword = z.input<typeof NewPassword>;

export const SettingsChange = z.strictObject({
  version: z.int().min(0).describe('the version that the change is based on'),
  values: z.record(z.string().max(100), z.json()).describe('by setting; null removes the stored value'),
});
export type SettingsChange = z.input<typeof SettingsChange>;

export const ModelQuestion = z.strictObject({
  provider: z.string().max(100).describe('a model API, as in the setting `provider`'),
  address: z
    .url({ protocol: /^https?$/ })
    .max(2_000)
    .optional()
    .describe('default: the one in use'),
  key: z
    .string()
    .min(1)
    .max(2_000)
    .regex(/^[\x21-\x7e]+$/, 'must not contain spaces')
    .optional()
    .describe('default: the one in use, if the address is'),
});
export type ModelQuestion = z.input<typeof ModelQuestion>;

const Dollars = z.number().min(0).max(1_000_000);
/** US dollars per million tokens. */
export const SetPrice = z.object({ input: Dollars, output: Dollars, cached: Dollars.optional() });
export const Price = SetPrice.extend({
  catalogue: z
    .string()
    .optional()
    .describe('date of the catalogue that the price is of; absent if an admin has set it'),
});
export type Price = z.infer<typeof Price>;
export const NewPrice = z.strictObject({
  model: z.string().trim().min(1).max(200),
  price: SetPrice.nullable().describe('US dollars per million tokens; null removes it'),
});
export type NewPrice = z.input<typeof NewPrice>;

const USAGE_LABELS = z.enum(['day', 'user', 'agent', 'model', 'key', 'task']);
export type UsageLabel = z.infer<typeof USAGE_LABELS>;

const Day = z.iso.date();

export const UsageQuery = z.object({
  /** first day, in UTC; default: the first of this month */
  from: Day.optional(),
  /** last day; default: today */
  to: Day.optional(),
  /** labels of a row, separated by commas; default: one row for everything */
  by: z
    .string()
    .max(100)
    .default('')
    .transform((text) => [...new Set(text.split(',').filter((name) => name !== ''))])
    .pipe(z.array(USAGE_LABELS)),
  /** only of this user; users see their own */
  user: z.string().min(1).max(200).optional(),
  agent: z.string().min(1).max(200).optional(),
  model: z.string().min(1).max(200).optional(),
  /** id of an API key */
  key: z.string().min(1).max(200).optional(),
  task: z.string().min(1).max(50).optional(),
  limit: z.coerce.number<number | undefined>().int().min(1).max(10_000).default(1_000),
  format: z.enum(['json', 'csv']).default('json'),
});
export type UsageQuery = z.input<typeof UsageQuery>;

// Answers

const Input = z.record(z.string(), z.json());
const Position = z.number().int().min(0);

const [first, ...others] = Object.entries(EVENTS)
  .filter(([, { durable }]) => durable)
  .map(([type, { body }]) =>
    z.object({
      type: z.literal(type),
      session: SessionId,
      id: z.string(),
      at: z.number().describe('milliseconds since 1970'),
      seq: z.number().int().positive(),
      ...body.shape,
    }),
  );
if (!first) throw new Error('there are no events');
/** The type is that of the protocol: the schemas are made from its table, event by event. */
export const DurableEvent = z.discriminatedUnion('type', [first, ...others]) as unknown as z.ZodType<
  Stored,
  Stored
>;

export const Session = z.object({
  id: SessionId,
  owner: z.string(),
  dialect: z.string().describe('the dialect that created it'),
  domain: z.string(),
  agent: z.string(),
  title: z.string(),
  status: SessionStatus,
  createdAt: z.iso.datetime(),
  updatedAt: z.iso.datetime(),
  head: Position.describe('seq of the last event'),
  archived: z.boolean(),
  pinned: z.boolean().optional(),
  tags: z.array(z.string()).optional().describe('sorted; absent if there are none'),
  ephemeral: z.boolean().optional().describe('erased after a period without use'),
  parent: SessionId.optional().describe('the session that started it as a sub-agent'),
  messageCount: z.number().int().describe('number of messages of the user and the agent'),
  lastModel: z.string().optional().describe('the model that answered last; absent until one of a vendor has'),
  attached: z.record(z.string(), z.number()).describe('attached sockets, by dialect'),
  metadata: z.object({ dialect: z.string() }),
});
export type Session = z.infer<typeof Session>;

const pending = {
  turn: TurnId,
  call: CallId,
  tool: z.string(),
  input: Input,
  ask: Ask,
  hash: z.string(),
};

export const OpenBlock = z.object({
  kind: z.enum(['text', 'reasoning']),
  turn: TurnId,
  block: BlockId,
  text: z.string().describe('the text so far'),
});
export type OpenBlock = z.infer<typeof OpenBlock>;

export const SessionNow = z.object({
  seq: Position,
  turn: TurnId.nullable(),
  queued: z.number().int(),
  approval: z.object({ approval: ApprovalId, ...pending }).nullable(),
  open: OpenBlock.nullable().describe('the block that is being streamed'),
  agent: AgentRef,
  model: z.string().nullable().describe('if the session overrides it'),
  approvalMode: ApprovalMode.nullable().describe('if the session overrides it'),
});
export type SessionNow = z.infer<typeof SessionNow>;

const { data: _data, ...SHOWN_QUESTION } = QUESTION;

/** Sent on the stream of a session when its history has been replayed. Later events are live. */
export const Snapshot = SessionNow.pick({ seq: true, turn: true, open: true, approval: true }).extend({
  questions: z
    .array(z.object(SHOWN_QUESTION))
    .optional()
    .describe('questions that wait for an answer; absent if there are none'),
  deferred: z
    .array(z.object({ call: CallId, tool: z.string(), input: Input }))
    .optional()
    .describe('calls that clients execute; absent if there are none'),
  arguments: z
    .array(z.object({ turn: TurnId, call: CallId, tool: z.string(), text: z.string() }))
    .optional()
    .describe('calls that the model is writing, with their arguments so far; absent if there are none'),
});
export type Snapshot = z.infer<typeof Snapshot>;

/** A vendor of models. */
export const Vendor = z.object({
  name: z.string().describe('value of the setting `provider`; `NAME:MODEL` is a model of this vendor'),
  label: z.string(),
  hint: z.string(),
  address: z.string().describe("the vendor's own"),
  model: z.string().describe('the model if none is chosen'),
  variables: z.array(z.string()).describe('environment variables of the key'),
  package: z.string().optional().describe('the npm package that the operator has to install'),
});
export type Vendor = z.infer<typeof Vendor>;

export const About = z.object({
  version: z.string(),
  auth: z.enum(['open', 'required']),
  principal: Principal,
  provider: z.string(),
  model: z.string().describe('the default model'),
  models: z.array(z.object({ id: z.string(), provider: z.string() })).describe('the available models'),
  approval: ApprovalMode,
  vendors: z.array(Vendor).describe('the vendors that a key can be entered for'),
  sandbox: z.boolean().describe('whether commands run in a sandbox'),
  listeners: z.array(z.object({ dialect: z.string(), port: z.number().int() })),
  dialects: z
    .array(z.object({ name: z.string(), sockets: z.array(z.string()) }))
    .describe('the served dialects with their WebSocket paths; see also /v1/dialects'),
  channels: z
    .object({
      key: z.string().describe('the key of the application in client URLs'),
      host: z.string().nullable().describe('the host of an external server'),
    })
    .nullable()
    .describe('Pusher channels; null if they are disabled'),
  defaultDomain: z.string(),
  domains: z.array(
    z.object({
      id: z.string(),
      name: z.string(),
      description: z.string(),
      defaultAgent: z.string(),
      agents: z.array(z.string()),
    }),
  ),
  agents: z.array(
    z.object({
      id: z.string(),
      name: z.string(),
      description: z.string(),
      model: z.string().nullable().describe('if it differs from the default'),
      tools: z.array(z.string()).nullable().describe('the tools it may use; null: all'),
      starters: z.array(z.string()).describe('first messages to offer'),
    }),
  ),
});
export type About = z.infer<typeof About>;

export const SessionPage = z.object({ sessions: z.array(Session), next: z.string().nullable() });
export type SessionPage = z.infer<typeof SessionPage>;
export const SessionDetails = Session.extend({
  now: SessionNow,
  driver: z
    .object({ node: z.string() })
    .nullable()
    .optional()
    .describe('the node that drives the session, null while it has no work; for admins only'),
});
export type SessionDetails = z.infer<typeof SessionDetails>;
export const EventPage = z.object({
  events: z.array(DurableEvent),
  head: Position,
  next: Position.nullable().describe('the `after` of the next page'),
  reset: z.boolean().describe('the requested position no longer exists: the events start from the beginning'),
});
export type EventPage = z.infer<typeof EventPage>;
export const Receipt = z.object({ session: SessionId, seq: Position, facts: z.array(DurableEvent) });
export type Receipt = z.infer<typeof Receipt>;
export const RewindPreview = z.object({
  conversation: z.boolean().describe('whether the conversation can be rewound'),
  files: z.array(
    z.object({
      path: z.string().describe('relative to the working folder; a folder ends in a slash'),
      change: z.enum(['added', 'modified', 'deleted']).describe('what the rewind does to it'),
      kept: z.string().optional().describe('why it is kept as it is; absent if it is restored'),
      canOverwrite: z.boolean().optional().describe('whether it is restored if `overwrite` names it'),
      patch: z.string().optional().describe('the difference; absent if it is no text, or too long'),
    }),
  ),
  more: z.number().int().describe('number of files that are not listed'),
  unprotected: z.array(z.string()).describe('why there is no checkpoint of some calls'),
});
export type RewindPreview = z.infer<typeof RewindPreview>;
export const GrantList = z.object({ grants: z.array(z.string()) });
export type GrantList = z.infer<typeof GrantList>;
export const GrantRevoked = z.object({ grant: z.string(), seq: Position });
export type GrantRevoked = z.infer<typeof GrantRevoked>;
export const Approval = z.object({ id: ApprovalId, session: SessionId, owner: z.string(), ...pending });
export type Approval = z.infer<typeof Approval>;
export const ApprovalList = z.object({
  approvals: z.array(Approval),
  next: z.string().nullable().describe('the cursor of the next page'),
});
export type ApprovalList = z.infer<typeof ApprovalList>;
/** A question that waits for an answer. */
export const PendingQuestion = z.object(SHOWN_QUESTION).omit({ question: true }).extend({
  id: QuestionId,
  session: SessionId,
  owner: z.string(),
});
export type PendingQuestion = z.infer<typeof PendingQuestion>;
export const QuestionList = z.object({
  questions: z.array(PendingQuestion),
  next: z.string().nullable().describe('the cursor of the next page'),
});
export type QuestionList = z.infer<typeof QuestionList>;
export const QuestionReceipt = z.object({ question: QuestionId, seq: Position });
export type QuestionReceipt = z.infer<typeof QuestionReceipt>;
export const ApprovalReceipt = z.object({ approval: ApprovalId, answer: ApprovalAnswer, seq: Position });
export type ApprovalReceipt = z.infer<typeof ApprovalReceipt>;
export const StandingGrant = z.object({
  session: SessionId,
  owner: z.string(),
  title: z.string(),
  grant: z.string(),
});
export type StandingGrant = z.infer<typeof StandingGrant>;
export const StandingGrants = z.object({
  grants: z.array(StandingGrant),
  next: z.string().nullable().describe('the `cursor` of the next page; a page may have no grants'),
});
export type StandingGrants = z.infer<typeof StandingGrants>;
export const InstructionsDecision = z.object({
  path: z.string().describe('the file, absolute on the server'),
  hash: z.string().describe('SHA-256 of the content that was decided about'),
  use: z.enum(['used', 'declined']),
  everyone: z.boolean().describe('for all users; otherwise for the caller'),
  by: z.string(),
  at: z.iso.datetime(),
});
export type InstructionsDecision = z.infer<typeof InstructionsDecision>;
export const InstructionsDecisions = z.object({ decisions: z.array(InstructionsDecision) });
export const Skill = z.object({
  name: z.string(),
  description: z.string(),
  source: z
    .enum(['project', 'server'])
    .describe('`project`: accepted by the caller; the operator installed the others'),
});
export type Skill = z.infer<typeof Skill>;
export const SkillList = z.object({ skills: z.array(Skill) });
export const SkillsQuery = z.object({
  session: z
    .string()
    .min(1)
    .max(200)
    .optional()
    .describe('a session, whose folder may have skills; default: the server’s folder'),
});
export const InstructionsQuery = z.object({
  path: z.string().min(1).max(4_096),
  everyone: z
    .enum(['true', 'false'])
    .optional()
    .describe('true: the decision for all users, which only admins revoke'),
});
export const User = z.object({
  name: z.string(),
  role: Role,
  createdAt: z.iso.datetime(),
  fromSettings: z
    .boolean()
    .describe('AUTH_USERS names the user: the next start sets password and role again'),
});
export type User = z.infer<typeof User>;
export const UserList = z.object({ users: z.array(User) });
export type UserList = z.infer<typeof UserList>;
export const ApiKey = z.object({
  id: z.string().describe('the public part of the key'),
  owner: z.string(),
  name: z.string(),
  role: Role.describe('the most that it grants; never more than its owner has'),
  dialects: z.array(z.string()).nullable().describe('the dialects it is limited to; null: all'),
  administration: z
    .boolean()
    .describe(
      'whether it may manage users, passwords, origins and MCP servers, which otherwise needs a login',
    ),
  createdAt: z.iso.datetime(),
  expiresAt: z.iso.datetime().nullable(),
  lastUsedAt: z.iso.datetime().nullable().describe('up to a minute late'),
});
export type ApiKey = z.infer<typeof ApiKey>;
export const ApiKeyList = z.object({ keys: z.array(ApiKey) });
export type ApiKeyList = z.infer<typeof ApiKeyList>;
export const MadeApiKey = ApiKey.extend({ key: z.string() });
export type MadeApiKey = z.infer<typeof MadeApiKey>;
export const PairingRequest = z.object({
  code: z.string(),
  name: z.string().describe('as chosen by the extension'),
  origin: z.string(),
  createdAt: z.iso.datetime(),
  expiresAt: z.iso.datetime(),
});
export type PairingRequest = z.infer<typeof PairingRequest>;
export const Pairing = z.object({
  id: z.string().describe('the public part of its token'),
  name: z.string(),
  origin: z.string().describe('the origin that may use the token'),
  owner: z.string().describe('the user that the extension acts as'),
  role: Role.describe('the most that it grants; never more than its owner has'),
  key: z
    .string()
    .nullable()
    .describe('the API key that approved it: the pairing ends with it; null if a login approved it'),
  allowedAt: z.iso.datetime(),
  expiresAt: z.iso.datetime().nullable().describe('when that key expires'),
  lastUsedAt: z.iso.datetime().nullable().describe('up to a minute late'),
});
export type Pairing = z.infer<typeof Pairing>;
export const PairingList = z.object({
  pairings: z.array(Pairing),
  waiting: z.array(PairingRequest).describe('in open mode only: with a login, people type the code'),
});
export type PairingList = z.infer<typeof PairingList>;
export const MadePairingRequest = z.object({
  code: z.string(),
  token: z.string().describe('valid once the code is approved; not shown again'),
  expiresAt: z.iso.datetime(),
});
export type MadePairingRequest = z.infer<typeof MadePairingRequest>;
export const OwnPairing = z.discriminatedUnion('status', [
  z.object({ status: z.literal('waiting'), expiresAt: z.iso.datetime() }),
  z.object({ status: z.literal('allowed'), owner: z.string() }),
]);
export type OwnPairing = z.infer<typeof OwnPairing>;
export const ServerNode = z.object({
  id: z.string().describe('new with every start'),
  version: z.string(),
  home: z.string().nullable().describe('PARLANCE_HOME: only such nodes drive its sessions'),
  startedAt: z.iso.datetime(),
  leaseAgeMs: z
    .number()
    .int()
    .nullable()
    .describe('since its last heartbeat; null without DATABASE_URL: it needs no lease'),
  alive: z.boolean().describe('false: its lease has expired, and other nodes take over its sessions'),
  bus: z
    .enum(['none', 'up', 'down'])
    .describe('`down`: it cannot reach the bus, so other nodes receive its events with a delay'),
  sessions: z.number().int().describe('the running sessions that it drives'),
  here: z.boolean().describe('the node that answers this request'),
});
export type ServerNode = z.infer<typeof ServerNode>;
export const NodeList = z.object({
  nodes: z.array(ServerNode),
});
export type NodeList = z.infer<typeof NodeList>;
export const Listener = z.object({
  address: z.string(),
  port: z.number().int(),
  dialect: z.string().describe('the dialect of the listener, or `all`'),
  sockets: z.record(z.string(), z.number()).describe('open sockets, by dialect'),
  problem: z.string().nullable().describe('why a stored listener is not open'),
});
export type Listener = z.infer<typeof Listener>;
export const ListenerList = z.object({
  listeners: z.array(Listener),
});
export type ListenerList = z.infer<typeof ListenerList>;
const McpError = z.object({ at: z.iso.datetime(), message: z.string() }).nullable();

export const McpServer = z.object({
  name: z.string(),
  kind: z.enum(['process', 'address']).describe('transport'),
  trusted: z.boolean().describe('its results do not count as untrusted content'),
  state: z.enum(['starting', 'ready', 'away', 'closed']).describe('`away`: not reachable, will be retried'),
  tools: z.array(z.string()).describe('names as offered to models'),
  error: McpError.describe('the last error, without secrets'),
  output: z.array(z.string()).describe('the latest lines of its standard error; for admins'),
});
export type McpServer = z.infer<typeof McpServer>;
export const McpServerList = z.object({
  servers: z.array(McpServer),
});
export type McpServerList = z.infer<typeof McpServerList>;
export const Settings = z.object({
  version: z.number().int().describe('of the stored settings: a change names it'),
  problem: z.string().nullable().describe('why the stored settings are not in use'),
  model: z.object({ provider: z.string(), model: z.string(), address: z.string().nullable() }),
  given: z
    .record(z.string(), z.string())
    .describe('flag, variable or file entry of settings that the configuration decides'),
  stored: z.record(z.string(), z.json()).describe('stored values, without secrets'),
  secrets: z.array(z.string()).describe('names of stored secrets'),
  keyProblems: z
    .record(z.string(), z.string())
    .describe('why a stored key is not sent to the address in use, by the name of the secret'),
});
export type Settings = z.infer<typeof Settings>;
/** A vendor, what it needs, and the models that are known of it. */
export const VendorState = Vendor.pick({ name: true, label: true, address: true }).extend({
  key: z.string().nullable().describe('where its key is set: a variable, the config file, or the console'),
  missing: z.array(z.string()).describe('variables without which its address is not known'),
  package: z
    .object({
      name: z.string(),
      version: z.string().nullable().describe('null: not installed'),
      problem: z.string().nullable().describe('why it cannot be loaded'),
      install: z.string().describe('the command that installs it'),
    })
    .nullable(),
  models: z.array(
    z.object({
      id: z.string().describe('for sessions and agents'),
      name: z.string(),
      context: z.number().nullable().describe('tokens; null if it is not known'),
      price: SetPrice.nullable().describe("the catalogue's"),
    }),
  ),
});
export type VendorState = z.infer<typeof VendorState>;

export const VendorList = z.object({
  date: z.string().describe('of the catalogue'),
  vendors: z.array(VendorState),
});
export type VendorList = z.infer<typeof VendorList>;

export const ProviderModels = z.object({
  provider: z.string(),
  label: z.string().describe('the vendor, or the host of another server'),
  models: z.array(
    z.object({
      id: z
        .string()
        .describe('for sessions and agents: the name, with the provider if the name alone means another'),
      name: z.string(),
    }),
  ),
  problem: z.string().nullable().describe('why there is no list'),
});
export type ProviderModels = z.infer<typeof ProviderModels>;
export const ModelList = z.object({
  providers: z.array(ProviderModels),
});
export type ModelList = z.infer<typeof ModelList>;
export const AgentSetup = z.object({
  agents: z.array(
    z.object({
      id: z.string(),
      name: z.string(),
      description: z.string(),
      instructions: z.string(),
      model: z.string().nullable().describe("null: the server's default"),
      tools: z.array(z.string()).nullable().describe('null: all'),
      starters: z.array(z.string()),
    }),
  ),
  tools: z.array(z.object({ name: z.string(), description: z.string() })),
  fixed: z
    .object({ agents: z.array(z.string()), domains: z.array(z.string()) })
    .describe('ids that the config file defines: change them there'),
});
export type AgentSetup = z.infer<typeof AgentSetup>;
export const ModelListing = z.object({
  models: z.array(z.string()),
  address: z.string().describe('the base URL that answered: an address without `/v1` is completed'),
});
export type ModelListing = z.infer<typeof ModelListing>;
export const RefusedOrigin = z.object({ origin: z.string(), count: z.number().int(), at: z.iso.datetime() });
export type RefusedOrigin = z.infer<typeof RefusedOrigin>;
export const RefusedOriginList = z.object({
  refused: z.array(RefusedOrigin),
});
export type RefusedOriginList = z.infer<typeof RefusedOriginList>;
export const NativeError = z.object({ error: FaultData, detail: z.string() });
export type NativeError = z.infer<typeof NativeError>;

export const FoundMessage = z.object({
  session: SessionId,
  title: z.string(),
  archived: z.boolean(),
  seq: z.number().int().describe('the event with the message'),
  at: z.iso.datetime(),
  from: z.enum(['user', 'agent', 'history']),
  excerpt: z.array(z.object({ text: z.string(), match: z.boolean() })),
});
export type FoundMessage = z.infer<typeof FoundMessage>;
export const FoundPage = z.object({
  messages: z.array(FoundMessage),
  next: z.string().nullable(),
  complete: z.boolean().describe('false: not every message is indexed yet; a later search may find more'),
});
export type FoundPage = z.infer<typeof FoundPage>;
export const Share = z.object({
  id: z.string(),
  seq: z.number().int().describe('the last event that it shows'),
  createdAt: z.iso.datetime(),
});
export type Share = z.infer<typeof Share>;
export const ShareList = z.object({ shares: z.array(Share) });
export type ShareList = z.infer<typeof ShareList>;
export const MadeShare = Share.extend({ path: z.string() });
export type MadeShare = z.infer<typeof MadeShare>;
export const TagCount = z.object({ tag: z.string(), sessions: z.number().int() });
export type TagCount = z.infer<typeof TagCount>;
export const TagList = z.object({ tags: z.array(TagCount) });
export type TagList = z.infer<typeof TagList>;

const Text = z.record(z.string(), z.string());
const Body = z.record(z.string(), z.json());

export const DialectExample = z.object({
  title: z.string(),
  frame: Body.describe('a message; for a dialect without sockets a command or {method, path, body}'),
  before: z
    .object({
      path: z.string(),
      body: Body,
      into: z.string().describe('the field of the frame that receives the fields of the response'),
    })
    .nullable()
    .describe('a POST request whose response completes the frame'),
});
export type DialectExample = z.infer<typeof DialectExample>;

export const DialectMessage = z.object({
  name: z.string(),
  summary: z.string(),
  examples: z.array(DialectExample),
});
export type DialectMessage = z.infer<typeof DialectMessage>;

export const DialectSocket = z.object({
  addresses: z
    .array(z.object({ address: z.string(), condition: z.string().nullable() }))
    .describe('paths with `{name}` for each parameter; the first is the dialect’s own'),
  params: Text.describe('values of the path parameters'),
  query: Text.describe('other query parameters than session and token'),
  anonymous: z.boolean().describe('the handshake carries no token and no session'),
  greeting: z.string().nullable().describe('the message that a client sends first'),
  elsewhere: z.string().nullable().describe('the origin of another server that serves the sockets'),
});
export type DialectSocket = z.infer<typeof DialectSocket>;

export const DialectSnippet = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('socket'), title: z.string(), frames: z.array(Body) }),
  z.object({
    kind: z.literal('request'),
    title: z.string(),
    method: z.string(),
    path: z.string(),
    body: Body.nullable(),
    needsToken: z.boolean(),
    stream: z.boolean().describe('the response is a stream of server-sent events'),
  }),
  z.object({
    kind: z.literal('script'),
    title: z.string(),
    language: z.enum(['js', 'ts', 'python', 'json', 'toml', 'sh']),
    code: z
      .string()
      .describe('`{{origin}}` stands for the server, `{{sockets}}` for the origin of its sockets'),
  }),
]);
export type DialectSnippet = z.infer<typeof DialectSnippet>;

export const DialectId = z.object({
  message: z.string().nullable().describe('null: any'),
  id: z.string(),
  at: z.string().describe('the path to it, such as `payload.requestId`'),
  match: z.string().nullable().describe('a regular expression, if only a part is the id'),
});
export type DialectId = z.infer<typeof DialectId>;
export const Dialect = z.object({
  name: z.string(),
  title: z.string().describe('the kind of client'),
  summary: z.string(),
  note: z.string().nullable().describe('a note on connecting such a client'),
  needsToken: z.boolean().describe('in open mode as well'),
  transport: z
    .enum(['socket', 'commands', 'requests'])
    .describe('how messages are sent: on a socket, as commands to a session, or as requests'),
  http: z.array(z.string()).describe('HTTP paths; `/*` stands for everything below'),
  socket: DialectSocket.nullable(),
  messages: z.array(DialectMessage),
  ids: z.array(DialectId).describe('ids from server messages that the examples use'),
  snippets: z.array(DialectSnippet).describe('the first steps of a client'),
});
export type Dialect = z.infer<typeof Dialect>;

export const DialectList = z.object({
  ids: Text.describe('the ids in the examples, to be replaced'),
  dialects: z.array(Dialect),
});
export type DialectList = z.infer<typeof DialectList>;

/** What model calls have used. */
export const UsageRow = z.object({
  day: z.string().optional().describe('in UTC'),
  user: z.string().optional(),
  agent: z.string().optional(),
  model: z.string().optional(),
  key: z.string().optional().describe('id of the API key; empty without one'),
  task: z
    .string()
    .optional()
    .describe('why the model was called: chat, title, compaction, explanation, summary'),
  calls: z.number(),
  inputTokens: z.number(),
  cachedTokens: z.number().describe("of these, read from the vendor's cache"),
  outputTokens: z.number(),
  reasoningTokens: z.number().describe('of these'),
  dollars: z.number().describe('at the prices of the time of each call'),
  unpricedCalls: z.number().describe('calls of models without a price, which cost nothing here'),
});
export type UsageRow = z.infer<typeof UsageRow>;
export const UsageReport = z.object({
  from: z.string(),
  to: z.string(),
  rows: z.array(UsageRow),
  more: z.boolean().describe('there are more rows than `limit`'),
});
export type UsageReport = z.infer<typeof UsageReport>;

export const LimitUses = z.object({
  limits: z.array(LimitUse.extend({ text: z.string().describe('in words') })),
});
export type LimitUses = z.infer<typeof LimitUses>;

export const Prices = z.object({
  prices: z
    .record(z.string(), Price)
    .describe('by the name of the model; those of the catalogue also by `VENDOR:NAME`'),
});
export type Prices = z.infer<typeof Prices>;
/** The response to a login. */
export const Token = z.object({ access_token: z.string(), token_type: z.literal('bearer'), role: Role });
export type Token = z.infer<typeof Token>;
