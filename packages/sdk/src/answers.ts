/** What the native API answers. The shapes are checked by the server's own description of itself, `/openapi.json`. */
import type {
  AgentRef,
  ApprovalAnswer,
  ApprovalId,
  ApprovalMode,
  Ask,
  BlockId,
  CallId,
  DurableEvent,
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
  /** the dialect that began it */
  readonly dialect: string;
  readonly domain: string;
  readonly agent: string;
  readonly title: string;
  readonly status: 'idle' | 'running' | 'waiting' | 'failed';
  /** ISO 8601 */
  readonly createdAt: string;
  readonly updatedAt: string;
  /** the number of its last event */
  readonly head: number;
  readonly archived: boolean;
  /** how many things either side has said */
  readonly said: number;
  /** how many are attached right now, by dialect */
  readonly attached: Readonly<Record<string, number>>;
};

export type SessionPage = { readonly sessions: readonly Session[]; readonly next: string | null };

/** A call that waits for a person. */
type Waiting = {
  readonly turn: TurnId;
  readonly call: CallId;
  readonly tool: string;
  readonly input: JsonObject;
  readonly ask: Ask;
  /** over exactly what is shown; an answer that cites it is refused for anything else */
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
  /** the block that is being streamed, as far as it has come */
  readonly open: OpenBlock | null;
  readonly agent: AgentRef;
  /** where the session has them other than the server */
  readonly model: string | null;
  readonly approvalMode: ApprovalMode | null;
};

export type SessionDetails = Session & { readonly now: SessionNow };

export type DurableEventPage = {
  readonly events: readonly DurableEvent[];
  readonly head: number;
  /** the `after` of the next page */
  readonly next: number | null;
  /** the position that was asked for is gone: these are from the beginning */
  readonly reset: boolean;
};

/** What was asked is done and durable. */
export type Receipt = {
  readonly session: SessionId;
  /** the session's last event when it was done */
  readonly seq: number;
  /** none where it had been carried out before */
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

/** What the server is and how it was set up. */
export type About = {
  readonly version: string;
  /** `open`: who has no token is the principal `local` */
  readonly auth: 'open' | 'required';
  /** who is asking */
  readonly principal: Me;
  /** what answers where neither session nor agent says otherwise */
  readonly provider: string;
  readonly model: string;
  /** what can be chosen from; any other model that the server has a key for can be named, too */
  readonly models: readonly { readonly id: string; readonly provider: string }[];
  readonly approval: ApprovalMode;
  /** commands run in one */
  readonly sandbox: boolean;
  /** where it listens, the default door, `all`, first */
  readonly doors: readonly { readonly dialect: string; readonly port: number }[];
  /** Pusher channels: the public key of the application, and the server that serves them where that is another */
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
    /** null: the server's */
    readonly model: string | null;
  }[];
};

/** Who may log in. */
export type User = {
  readonly name: string;
  readonly role: Role;
  /** ISO 8601 */
  readonly createdAt: string;
  /** the settings of the server name the user: its next start sets password and role again */
  readonly fromSettings: boolean;
};

/** Where the server listens. */
export type Listener = {
  readonly address: string;
  readonly port: number;
  /** what is spoken there, or `all` */
  readonly dialect: string;
  /** how many there are now, by dialect; `unknown` has yet to say what it speaks */
  readonly sockets: Readonly<Record<string, number>>;
};

export type McpServer = {
  readonly name: string;
  /** how it is reached: as a process of the server, or at an address */
  readonly kind: 'process' | 'address';
  /** its results do not count as the untrusted content */
  readonly trusted: boolean;
  /** `away`: it is tried again */
  readonly state: 'starting' | 'ready' | 'away' | 'closed';
  /** as models know them */
  readonly tools: readonly string[];
  /** what last went wrong, and when (ISO 8601) */
  readonly trouble: { readonly at: string; readonly message: string } | null;
};

/** What "always" has allowed in a session. */
export type StandingGrant = {
  readonly session: SessionId;
  readonly owner: string;
  /** of the session */
  readonly title: string;
  readonly grant: string;
};

export type Login = { readonly token: string; readonly role: Role };
export type Me = { readonly id: string; readonly role: Role; readonly permissions: readonly Permission[] };

/** Comes when the past has been told, after each connection and where a slow reader was caught up: what follows, happens now. */
export type Snapshot = {
  readonly type: 'snapshot';
  readonly seq: number;
  readonly turn: TurnId | null;
  readonly open: OpenBlock | null;
  readonly approval: SessionNow['approval'];
};

/** The position is gone (another database, or a restored one): the session follows from its beginning. */
export type Reset = { readonly type: 'reset' };

export type SessionStreamEvent = SessionEvent | Snapshot | Reset;
