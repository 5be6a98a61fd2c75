/** Responses of `native`. Events have the schemas of the protocol. */
import {
  AgentRef,
  ApprovalAnswer,
  ApprovalId,
  ApprovalMode,
  Ask,
  BlockId,
  CallId,
  ContextUse,
  DirectCall,
  EVENTS,
  FaultData,
  HistoryItem,
  Part,
  Principal,
  Role,
  SessionId,
  TurnId,
  Usage,
} from '@parlance/protocol';
import { z } from 'zod';
import { named } from '../shared/description.ts';

const Input = z.record(z.string(), z.json());
const Position = z.number().int().min(0);

named('Ask', Ask);
named('AgentRef', AgentRef);
named('Fault', FaultData);
named('Part', Part);
named('Usage', Usage);
named('ContextUse', ContextUse);
named('DirectCall', DirectCall);
named('HistoryItem', HistoryItem);

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
export const DurableEvent = named('Fact', z.discriminatedUnion('type', [first, ...others]));

export const Session = named(
  'Session',
  z.object({
    id: SessionId,
    owner: z.string(),
    dialect: z.string(),
    domain: z.string(),
    agent: z.string(),
    title: z.string(),
    status: z.enum(['idle', 'running', 'waiting', 'failed']),
    createdAt: z.iso.datetime(),
    updatedAt: z.iso.datetime(),
    head: Position,
    archived: z.boolean(),
    pinned: z.literal(true).optional(),
    tags: z.array(z.string()).optional().describe('sorted; absent if there are none'),
    ephemeral: z.boolean().optional().describe('erased after a period without use'),
    messageCount: z.number().int().describe('number of messages of the user and the agent'),
    said: z.number().int().meta({ deprecated: true, description: 'the former name of `messageCount`' }),
    attached: z.record(z.string(), z.number()).describe('attached sockets, by dialect'),
    metadata: z.object({ dialect: z.string() }),
  }),
);

const pending = {
  turn: TurnId,
  call: CallId,
  tool: z.string(),
  input: Input,
  ask: Ask,
  hash: z.string(),
};

const SessionNow = named(
  'SessionNow',
  z.object({
    seq: Position,
    turn: TurnId.nullable(),
    queued: z.number().int(),
    approval: z.object({ approval: ApprovalId, ...pending }).nullable(),
    open: z
      .object({ kind: z.enum(['text', 'reasoning']), turn: TurnId, block: BlockId, text: z.string() })
      .nullable()
      .describe('the block that is being streamed'),
    agent: AgentRef,
    model: z.string().nullable().describe('if the session overrides it'),
    approvalMode: ApprovalMode.nullable().describe('if the session overrides it'),
  }),
);

export const About = named(
  'About',
  z.object({
    version: z.string(),
    auth: z.enum(['open', 'required']),
    principal: Principal,
    provider: z.string(),
    model: z.string().describe('the default model'),
    models: z.array(z.object({ id: z.string(), provider: z.string() })).describe('the available models'),
    approval: ApprovalMode,
    sandbox: z.boolean().describe('whether commands run in a sandbox'),
    doors: z.array(z.object({ dialect: z.string(), port: z.number().int() })),
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
  }),
);

export const SessionList = named(
  'SessionList',
  z.object({ sessions: z.array(Session), next: z.string().nullable() }),
);
export const SessionView = named(
  'SessionView',
  Session.extend({
    now: SessionNow,
    driver: z
      .object({ node: z.string() })
      .nullable()
      .optional()
      .describe('the node that drives the session, null while it has no work; for admins only'),
  }),
);
export const EventPage = named(
  'EventPage',
  z.object({
    events: z.array(DurableEvent),
    head: Position,
    next: Position.nullable().describe('the `after` of the next page'),
    reset: z
      .boolean()
      .describe('the requested position no longer exists: the events start from the beginning'),
  }),
);
export const CommandReceipt = named(
  'CommandReceipt',
  z.object({ session: SessionId, seq: Position, facts: z.array(DurableEvent) }),
);
export const GrantList = named('GrantList', z.object({ grants: z.array(z.string()) }));
export const GrantRevoked = named('GrantRevoked', z.object({ grant: z.string(), seq: Position }));
export const ApprovalList = named(
  'ApprovalList',
  z.object({
    approvals: z.array(z.object({ id: ApprovalId, session: SessionId, owner: z.string(), ...pending })),
    next: z.string().nullable().describe('the cursor of the next page'),
  }),
);
export const ApprovalReceipt = named(
  'ApprovalReceipt',
  z.object({ approval: ApprovalId, answer: ApprovalAnswer, seq: Position }),
);
export const StandingGrants = named(
  'StandingGrants',
  z.object({
    grants: z.array(
      z.object({ session: SessionId, owner: z.string(), title: z.string(), grant: z.string() }),
    ),
    next: z.string().nullable().describe('the `cursor` of the next page; a page may have no grants'),
  }),
);
export const User = named(
  'User',
  z.object({
    name: z.string(),
    role: Role,
    createdAt: z.iso.datetime(),
    fromSettings: z
      .boolean()
      .describe('AUTH_USERS names the user: the next start sets password and role again'),
  }),
);
export const UserList = named('UserList', z.object({ users: z.array(User) }));
const ApiKey = named(
  'ApiKey',
  z.object({
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
  }),
);
export const ApiKeyList = named('ApiKeyList', z.object({ keys: z.array(ApiKey) }));
export const MadeApiKey = named('MadeApiKey', ApiKey.extend({ key: z.string() }));
export const PairingRequest = named(
  'PairingRequest',
  z.object({
    code: z.string(),
    name: z.string().describe('as chosen by the extension'),
    origin: z.string(),
    createdAt: z.iso.datetime(),
    expiresAt: z.iso.datetime(),
  }),
);
export const Pairing = named(
  'Pairing',
  z.object({
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
  }),
);
export const PairingList = named(
  'PairingList',
  z.object({
    pairings: z.array(Pairing),
    waiting: z.array(PairingRequest).describe('in open mode only: with a login, people type the code'),
  }),
);
export const MadePairingRequest = named(
  'MadePairingRequest',
  z.object({
    code: z.string(),
    token: z.string().describe('valid once the code is approved; not shown again'),
    expiresAt: z.iso.datetime(),
  }),
);
export const OwnPairing = named(
  'OwnPairing',
  z.discriminatedUnion('status', [
    z.object({ status: z.literal('waiting'), expiresAt: z.iso.datetime() }),
    z.object({ status: z.literal('allowed'), owner: z.string() }),
  ]),
);
export const NodeList = named(
  'NodeList',
  z.object({
    nodes: z.array(
      z.object({
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
      }),
    ),
  }),
);
export const DoorList = named(
  'DoorList',
  z.object({
    doors: z.array(
      z.object({
        address: z.string(),
        port: z.number().int(),
        dialect: z.string().describe('the dialect of the listener, or `all`'),
        sockets: z.record(z.string(), z.number()).describe('open sockets, by dialect'),
        problem: z.string().nullable().describe('why a stored listener is not open'),
      }),
    ),
  }),
);
const McpError = z.object({ at: z.iso.datetime(), message: z.string() }).nullable();

export const McpServerList = named(
  'McpServerList',
  z.object({
    servers: z.array(
      z.object({
        name: z.string(),
        kind: z.enum(['process', 'address']).describe('transport'),
        trusted: z.boolean().describe('its results do not count as untrusted content'),
        state: z
          .enum(['starting', 'ready', 'away', 'closed'])
          .describe('`away`: not reachable, will be retried'),
        tools: z.array(z.string()).describe('names as offered to models'),
        error: McpError.describe('the last error, without secrets'),
        trouble: McpError.meta({ deprecated: true, description: 'the former name of `error`' }),
        output: z.array(z.string()).describe('the latest lines of its standard error; for admins'),
      }),
    ),
  }),
);
export const Settings = named(
  'Settings',
  z.object({
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
  }),
);
export const ModelList = named(
  'ModelList',
  z.object({
    providers: z.array(
      z.object({
        provider: z.string(),
        label: z.string().describe('the vendor, or the host of another server'),
        models: z.array(
          z.object({
            id: z
              .string()
              .describe(
                'for sessions and agents: the name, with the provider if the name alone means another',
              ),
            name: z.string(),
          }),
        ),
        problem: z.string().nullable().describe('why there is no list'),
      }),
    ),
  }),
);
export const AgentSetup = named(
  'AgentSetup',
  z.object({
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
  }),
);
export const ModelListing = named(
  'ModelListing',
  z.object({
    models: z.array(z.string()),
    address: z.string().describe('the base URL that answered: an address without `/v1` is completed'),
  }),
);
export const RefusedOriginList = named(
  'RefusedOriginList',
  z.object({
    refused: z.array(z.object({ origin: z.string(), count: z.number().int(), at: z.iso.datetime() })),
  }),
);
export const NativeError = named('NativeError', z.object({ error: FaultData, detail: z.string() }));
