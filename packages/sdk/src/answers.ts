/** Response types of the native API. Tests check them against `/openapi.json`. */
import type {
  AgentRef,
  ApprovalAnswer,
  ApprovalId,
  ApprovalMode,
  Ask,
  BlockId,
  CallId,
  DurableEvent,
  Json,
  JsonObject,
  Permission,
  Role,
  SessionEvent,
  SessionId,
  TurnId,
} from '@parlance/protocol';

export type Session = {
  readonly id: SessionId;
  readonly owner: string;
  /** the dialect that created it */
  readonly dialect: string;
  readonly domain: string;
  readonly agent: string;
  readonly title: string;
  readonly status: 'idle' | 'running' | 'waiting' | 'failed';
  /** ISO 8601 */
  readonly createdAt: string;
  readonly updatedAt: string;
  /** seq of the last event */
  readonly head: number;
  readonly archived: boolean;
  readonly pinned?: boolean;
  /** sorted; absent if there are none */
  readonly tags?: readonly string[];
  /** the session is erased after a period without use */
  readonly ephemeral?: boolean;
  /** number of messages from both sides */
  readonly messageCount: number;
  /** @deprecated Use `messageCount`. */
  readonly said: number;
  /** attached connections by dialect */
  readonly attached: Readonly<Record<string, number>>;
};

/** A message that a search has found. */
export type FoundMessage = {
  readonly session: SessionId;
  readonly title: string;
  readonly archived: boolean;
  /** the event with the message */
  readonly seq: number;
  /** ISO 8601 */
  readonly at: string;
  readonly from: 'user' | 'agent' | 'history';
  readonly excerpt: readonly { readonly text: string; readonly match: boolean }[];
};

export type FoundPage = {
  readonly messages: readonly FoundMessage[];
  readonly next: string | null;
  /** false if some messages are not indexed yet; a later search may find more */
  readonly complete: boolean;
};

/** A link that shows a session as of the time of sharing. */
export type Share = {
  readonly id: string;
  /** last event that it shows */
  readonly seq: number;
  /** ISO 8601 */
  readonly createdAt: string;
};

/** `path` is the address on the server, which is returned only once. */
export type MadeShare = Share & { readonly path: string };

/** US dollars per million tokens. */
export type Price = { readonly input: number; readonly output: number; readonly cached?: number };

export type TagCount = { readonly tag: string; readonly sessions: number };

export type SessionPage = { readonly sessions: readonly Session[]; readonly next: string | null };

/** A call that waits for approval. */
type Waiting = {
  readonly turn: TurnId;
  readonly call: CallId;
  readonly tool: string;
  readonly input: JsonObject;
  readonly ask: Ask;
  /** hash of the request shown; an answer that cites it is refused if the call differs */
  readonly hash: string;
};

export type OpenBlock = {
  readonly kind: 'text' | 'reasoning';
  readonly turn: TurnId;
  readonly block: BlockId;
  readonly text: string;
};

export type SessionNow = {
  readonly seq: number;
  readonly turn: TurnId | null;
  readonly queued: number;
  readonly approval: (Waiting & { readonly approval: ApprovalId }) | null;
  /** the block being streamed, with its text so far */
  readonly open: OpenBlock | null;
  readonly agent: AgentRef;
  /** the session's own settings; null: the server's */
  readonly model: string | null;
  readonly approvalMode: ApprovalMode | null;
};

export type SessionDetails = Session & {
  readonly now: SessionNow;
  /** the node that drives the session, null while it has no work; for admins only */
  readonly driver?: { readonly node: string } | null;
};

export type DurableEventPage = {
  readonly events: readonly DurableEvent[];
  readonly head: number;
  /** `after` of the next page */
  readonly next: number | null;
  /** the requested position no longer exists: events start from the beginning */
  readonly reset: boolean;
};

/** The command was executed and is durable. */
export type Receipt = {
  readonly session: SessionId;
  /** seq of the session's last event after the command */
  readonly seq: number;
  /** events written by the command; empty if it had been executed before */
  readonly facts: readonly DurableEvent[];
};

export type Approval = Waiting & {
  readonly id: ApprovalId;
  readonly session: SessionId;
  readonly owner: string;
};

export type ApprovalReceipt = {
  readonly approval: ApprovalId;
  readonly answer: ApprovalAnswer;
  readonly seq: number;
};

/** Server version, configuration and the calling principal. */
export type About = {
  readonly version: string;
  /** `open`: callers without a token are the principal `local` */
  readonly auth: 'open' | 'required';
  /** the caller */
  readonly principal: Me;
  /** the default, unless the session or the agent sets its own */
  readonly provider: string;
  readonly model: string;
  /** suggested models; any model that the server has a key for can be used */
  readonly models: readonly { readonly id: string; readonly provider: string }[];
  readonly approval: ApprovalMode;
  /** commands run in a sandbox */
  readonly sandbox: boolean;
  /** listeners, the default one (`all`) first */
  readonly doors: readonly { readonly dialect: string; readonly port: number }[];
  /** the served dialects with their WebSocket paths; see also `dialects()` */
  readonly dialects: readonly { readonly name: string; readonly sockets: readonly string[] }[];
  /** Pusher channels: public application key, and the host if another server serves them */
  readonly channels: { readonly key: string; readonly host: string | null } | null;
  readonly defaultDomain: string;
  readonly domains: readonly {
    readonly id: string;
    readonly name: string;
    readonly description: string;
    readonly defaultAgent: string;
    readonly agents: readonly string[];
  }[];
  readonly agents: readonly {
    readonly id: string;
    readonly name: string;
    readonly description: string;
    /** null: the server's default */
    readonly model: string | null;
    /** the tools it may use; null: all */
    readonly tools: readonly string[] | null;
    /** first messages to offer */
    readonly starters: readonly string[];
  }[];
};

/** A user who can log in. */
export type User = {
  readonly name: string;
  readonly role: Role;
  /** ISO 8601 */
  readonly createdAt: string;
  /** the user is defined in the server's configuration: each start resets password and role */
  readonly fromSettings: boolean;
};

/** A long-lived key for clients that cannot log in. */
export type ApiKey = {
  /** public part of the key */
  readonly id: string;
  readonly owner: string;
  readonly name: string;
  /** upper bound of its permissions; never more than its owner has */
  readonly role: Role;
  /** dialects that it may be used with; null: all */
  readonly dialects: readonly string[] | null;
  /** whether it may manage users, passwords, origins and MCP servers, which otherwise needs a login */
  readonly administration: boolean;
  /** ISO 8601 */
  readonly createdAt: string;
  readonly expiresAt: string | null;
  /** up to a minute late */
  readonly lastUsedAt: string | null;
};

/** `key` is the text of the key, which is not shown again. */
/** An extension whose code has not been approved yet. */
export type PairingRequest = {
  readonly code: string;
  /** name given by the extension */
  readonly name: string;
  readonly origin: string;
  readonly createdAt: string;
  readonly expiresAt: string;
};

/** A paired browser extension. */
export type Pairing = {
  readonly id: string;
  readonly name: string;
  readonly origin: string;
  /** user that it acts as */
  readonly owner: string;
  readonly role: Role;
  /** id of the API key that approved it, and that it ends with; null if a login did */
  readonly key: string | null;
  readonly allowedAt: string;
  /** when that key expires; null for never */
  readonly expiresAt: string | null;
  readonly lastUsedAt: string | null;
};

export type PairingList = {
  readonly pairings: readonly Pairing[];
  readonly waiting: readonly PairingRequest[];
};

export type OwnPairing =
  | { readonly status: 'waiting'; readonly expiresAt: string }
  | { readonly status: 'allowed'; readonly owner: string };

export type MadeApiKey = ApiKey & { readonly key: string };

/** A process of the server. Several nodes serve together if they share a database. */
export type ServerNode = {
  /** new with every start */
  readonly id: string;
  readonly version: string;
  /** only nodes of the same home drive sessions that were created there */
  readonly home: string | null;
  /** ISO 8601 */
  readonly startedAt: string;
  /** since the last heartbeat; null: a single node, which needs no lease */
  readonly leaseAgeMs: number | null;
  /** false: the lease has ended, other nodes take over its sessions */
  readonly alive: boolean;
  /** connection to the other nodes; `down`: they receive its events later */
  readonly bus: 'none' | 'up' | 'down';
  /** number of running sessions that it drives */
  readonly sessions: number;
  /** true for the node that responded */
  readonly here: boolean;
};

/** An address that the server listens on. */
export type Listener = {
  readonly address: string;
  readonly port: number;
  /** the dialect served there, or `all` */
  readonly dialect: string;
  /** open sockets by dialect; `unknown`: dialect not detected yet */
  readonly sockets: Readonly<Record<string, number>>;
  /** why a listener that an admin added is not open */
  readonly problem: string | null;
};

export type McpServer = {
  readonly name: string;
  /** a child process of the server, or a URL */
  readonly kind: 'process' | 'address';
  /** results are not marked as untrusted content */
  readonly trusted: boolean;
  /** `away`: disconnected, the server retries */
  readonly state: 'starting' | 'ready' | 'away' | 'closed';
  /** tool names as the model sees them */
  readonly tools: readonly string[];
  /** the last error and its time (ISO 8601) */
  readonly error: { readonly at: string; readonly message: string } | null;
  /** @deprecated Use `error`. */
  readonly trouble: { readonly at: string; readonly message: string } | null;
  /** the latest lines of its standard error; empty unless the caller is an admin */
  readonly output: readonly string[];
};

/** Settings that can be changed at run time. */
export type Settings = {
  /** version of the stored settings, required for a change */
  readonly version: number;
  /** why the stored settings are not in use; null if they are */
  readonly problem: string | null;
  /** the model used if neither session nor agent names one */
  readonly model: { readonly provider: string; readonly model: string; readonly address: string | null };
  /** flag, variable or file entry of settings given at startup, which take precedence */
  readonly given: Readonly<Record<string, string>>;
  /** stored values, without secrets */
  readonly stored: Readonly<Record<string, Json>>;
  /** names of the stored secrets */
  readonly secrets: readonly string[];
  /** why a stored key is not sent to the address in use, by the name of the secret; absent in older servers */
  readonly keyProblems?: Readonly<Record<string, string>>;
};

export type ModelQuestion = {
  readonly provider: 'openai' | 'anthropic' | 'google';
  /** default: the one in use */
  readonly address?: string | undefined;
  /** default: the one in use, if the address is */
  readonly key?: string | undefined;
};

/** The models of a model API. */
export type ModelListing = {
  readonly models: readonly string[];
  /** the base URL that answered: an address without `/v1` is completed */
  readonly address: string;
};

/** The models that a provider lists. */
export type ProviderModels = {
  readonly provider: string;
  /** the vendor, or the host of another server */
  readonly label: string;
  /** `id` is for sessions and agents: the name, with the provider if the name alone means another one */
  readonly models: readonly { readonly id: string; readonly name: string }[];
  /** why there is no list; null if there is one */
  readonly problem: string | null;
};

/** What an admin needs to change agents. */
export type AgentSetup = {
  readonly agents: readonly {
    readonly id: string;
    readonly name: string;
    readonly description: string;
    readonly instructions: string;
    /** null: the server's default */
    readonly model: string | null;
    /** null: all */
    readonly tools: readonly string[] | null;
    readonly starters: readonly string[];
  }[];
  /** tools that an agent can have */
  readonly tools: readonly { readonly name: string; readonly description: string }[];
  /** ids that the config file defines: they can be changed only there */
  readonly fixed: { readonly agents: readonly string[]; readonly domains: readonly string[] };
};

/** A browser origin that the server has refused. */
export type RefusedOrigin = { readonly origin: string; readonly count: number; readonly at: string };

/** A standing grant: what "always" has allowed in a session. */
export type StandingGrant = {
  readonly session: SessionId;
  readonly owner: string;
  /** title of the session */
  readonly title: string;
  readonly grant: string;
};

export type Login = { readonly token: string; readonly role: Role };
export type Me = { readonly id: string; readonly role: Role; readonly permissions: readonly Permission[] };

/** Sent when history has been replayed, after each (re)connection or catch-up. Later events are live. */
export type Snapshot = {
  readonly type: 'snapshot';
  readonly seq: number;
  readonly turn: TurnId | null;
  readonly open: OpenBlock | null;
  readonly approval: SessionNow['approval'];
  /** calls that clients execute; absent if there are none */
  readonly deferred?: readonly { readonly call: CallId; readonly tool: string; readonly input: JsonObject }[];
  /** calls that the model is writing, with their arguments so far; absent if there are none */
  readonly arguments?: readonly {
    readonly turn: TurnId;
    readonly call: CallId;
    readonly tool: string;
    readonly text: string;
  }[];
};

/** The position does not exist (another or a restored database): the session is replayed from its beginning. */
export type Reset = { readonly type: 'reset' };

export type SessionStreamEvent = SessionEvent | Snapshot | Reset;
