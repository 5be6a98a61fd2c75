/** A tool of an agent. */
import type {
  Answers,
  Ask,
  CallId,
  ConnectionId,
  DurableEvent,
  Json,
  JsonObject,
  Part,
  PrincipalId,
  QuestionContent,
  SessionId,
} from '@parlance/protocol';
import type { z } from 'zod';
import type { MayChange } from './checkpoints.ts';
import type { Log } from './telemetry.ts';

/**
 * Why a call may run. `approved`: a user approved it, once or by a standing grant, or a rule of the operator
 * allows it. `safe`: the tool's `approval` returned null, and the tool must check again that this still
 * holds. `mode`: only the approval mode allows it.
 */
export type RunPermission = 'approved' | 'safe' | 'mode';

export type ToolContext = {
  readonly session: SessionId;
  readonly owner: PrincipalId;
  readonly call: CallId;
  /** absolute path of the working folder */
  readonly root: string;
  /** aborted when the turn is cancelled; a tool must end soon after and leave nothing running */
  readonly signal: AbortSignal;
  readonly permission: RunPermission;
  /** what the call has asked for: it continues from `resume`; without answers, the user declined */
  readonly answer: { readonly resume: Json; readonly answers: Answers | null } | null;
  /** Asks the model of the turn once, without the conversation. Counts for the limits of spending. */
  readonly complete: (
    request: CompletionRequest,
  ) => Promise<{ readonly text: string; readonly model: string }>;
  /** events since the session was last idle, including the current one */
  readonly eventsSinceIdle: readonly DurableEvent[];
  /** runs the call on a connected client */
  readonly atClient: (request: ClientRequest) => Promise<Json>;
  /** the client that made the call itself, if its protocol lets tools talk to it */
  readonly peer: CallPeer | null;
  /** Publishes progress of the call. */
  readonly report: (progress: { readonly progress?: number; readonly message?: string | undefined }) => void;
  readonly log: Log;
};

/** A prompt that does not belong to the conversation. */
export type CompletionRequest = {
  readonly instructions: string;
  readonly messages: readonly { readonly role: 'user' | 'assistant'; readonly text: string }[];
  readonly maxTokens?: number;
};

/** A client that made a direct call, registered by its dialect for the session of the call. */
export interface CallPeer {
  readonly capabilities: JsonObject;
  /** Sends the client a request. Rejects with a `Fault` if it cannot be asked or answers with an error. */
  request(name: string, method: string, params: JsonObject, signal: AbortSignal): Promise<JsonObject>;
  progress(update: { readonly progress: number; readonly total?: number; readonly message?: string }): void;
  log(level: string, data: Json): void;
}

export type ToolResult = {
  readonly parts: Part[];
  /** structured result, for clients that show fields */
  readonly data?: { [key: string]: Json };
  /** the tool ran but its action failed (nonzero exit code, patch that does not apply) */
  readonly failed?: boolean;
  /** the conversation continues with another agent of the domain */
  readonly handoff?: { readonly agent: string; readonly reason: string };
  /** the result contains untrusted content (a page, a search, another server): data, never instructions */
  readonly untrusted?: true;
  /** the turn ends without another model call */
  readonly final?: true;
  /** The user is asked, and the call runs again with `answer` in its context. */
  readonly asks?: {
    readonly question: QuestionContent;
    readonly resume: Json;
    /** the answer is no longer needed: the question is withdrawn, and the call runs again without it */
    readonly until?: Promise<void>;
  };
  /** the tool has an app that shows the result: its address, and what only the app gets of the result */
  readonly app?: { readonly resource: string; readonly meta?: JsonObject };
  /**
   * the call also shows something to the user, such as a plan; a deferred call does so when the client
   * receives it
   */
  readonly notice?: true;
};

/** The effects of a call, in the terms of the operator's rules. */
export type RuleSubjects = {
  /** each effect as written; null if it cannot be determined, and then no rule allows the call */
  readonly literal: readonly string[] | null;
  /** other names of the same effects: rules that deny or ask match them as well, rules that allow do not */
  readonly normalised?: readonly string[];
  /**
   * prefixes of commands that cannot be parsed completely; if a rule that denies or asks could match, the call needs
   * approval
   */
  readonly partial?: readonly string[];
};

export interface Tool<Schema extends z.ZodType = z.ZodType> {
  readonly name: string;
  readonly description: string;
  readonly input: Schema;
  /** JSON Schema of the input for models; derived from `input` by default */
  readonly parameters?: JsonObject;
  /** idempotent: runs again after a crash */
  readonly repeatable?: boolean;
  /**
   * Identifies a definition that comes from another program. A call that a crash interrupted runs again only if its tool
   * still has the definition that it was started with.
   */
  readonly definition?: string;
  /**
   * Parallel execution with other calls of the same answer. `always`: planned only after all earlier calls
   * have an outcome, and run alone. `if-asked`: run alone unless `approval` returns null. Absent: run in
   * parallel.
   */
  readonly exclusive?: 'always' | 'if-asked';
  /** offered only to agents that name it */
  readonly optIn?: boolean;
  /** never offered to a model: only for direct calls */
  readonly onlyDirect?: boolean;
  /** a tool of the operator: clients may call it directly */
  readonly custom?: { readonly title?: string; readonly needs: readonly string[] };
  /** whether it may need approval, for tool lists */
  readonly asks?: boolean;
  /** The question to the user that the call is: the answer is its result, and `run` is not called. */
  question?(input: z.output<Schema>): QuestionContent;
  /** The approval that the call needs, or null. May read files, but must not change anything. */
  approval(input: z.output<Schema>, context: { root: string }): Ask | null | Promise<Ask | null>;
  /**
   * Subjects that rules are matched against; the input as JSON by default. Rules use paths relative to the
   * server's working directory: `folder` is the relative path of the session's folder, empty if it is the
   * same.
   */
  subjects?(input: z.output<Schema>, folder: string): RuleSubjects;
  /**
   * Whether the call sends its arguments to someone else (a search, another server): it then needs approval while the context
   * contains untrusted content, even if `approval` returns null.
   */
  sends?(input: z.output<Schema>, context: Pick<ToolContext, 'eventsSinceIdle'>): boolean;
  /** Further tools whose rules apply to this call. */
  ruledAs?(input: z.output<Schema>): readonly string[];
  /**
   * Executed by a client: `run` only checks whether the call is possible, and only `notice` of its result is
   * used. The outcome arrives with the command `call.answer`, however late.
   */
  readonly deferred?: boolean;
  /** What it may change in the working folder, for checkpoints; nothing by default. */
  changes?(input: z.output<Schema>, context: Pick<ToolContext, 'root' | 'permission'>): MayChange;
  /** What the call asks of a sub-agent: the engine does it in place of `run`. */
  readonly subAgent?: (input: z.output<Schema>) => AgentRequest;
  /** Throws a `Fault` if the call is not possible; the model receives its message as the result. */
  run(input: z.output<Schema>, context: ToolContext): Promise<ToolResult>;
  /**
   * false if it cannot work now, for example without a connected client: it is then not offered to the model
   */
  available?(owner: PrincipalId): boolean;
}

/** `agent` is the id of an agent for `spawn`, otherwise the name of a sub-agent. */
export type AgentRequest =
  | {
      readonly action: 'spawn';
      readonly agent: string;
      readonly task: string;
      readonly name?: string | undefined;
      readonly background?: boolean | undefined;
      readonly worktree?: boolean | undefined;
    }
  | {
      readonly action: 'message';
      readonly agent: string;
      readonly text: string;
      readonly background?: boolean | undefined;
    }
  | { readonly action: 'wait' | 'cancel'; readonly agent: string };

/** Type-checks the functions of a tool against its schema. */
export const defineTool = <Schema extends z.ZodType>(tool: Tool<Schema>): Tool => tool as unknown as Tool;

// Tools that a connected client executes, such as a browser.

export type ClientRequest = {
  readonly tool: string;
  readonly parameters: { [key: string]: Json };
  /** JSON Schema of the parameters */
  readonly schema: { [key: string]: Json };
  readonly permissions: readonly string[];
  readonly timeoutMs: number;
  /** message for the model if no connected client offers the tool */
  readonly unavailable: string;
};

/** One run of a tool: a new id and its start time. */
export type ToolRun = { readonly id: string; readonly at: number };

export type ClientAnswer =
  | { readonly ok: true; readonly result: Json }
  | {
      readonly ok: false;
      readonly kind: string;
      readonly message: string;
      readonly recoverable: boolean;
      readonly retryAfterMs?: number;
    };

export type ClientProgress = {
  readonly status: 'queued' | 'executing' | 'completed' | 'failed' | 'timeout';
  readonly progress?: number;
  readonly message?: string;
};

export type ToolOffer = {
  readonly tools: readonly string[] | 'all';
  /** the client accepts any other tool, but only if no other client offers it */
  readonly fallback: boolean;
};

export const isOffered = ({ tools }: ToolOffer, tool: string): boolean =>
  tools === 'all' || tools.includes(tool);

/** A connected client, registered by its dialect. */
export interface ToolClient {
  readonly connection: ConnectionId;
  readonly owner: PrincipalId;
  readonly offer: ToolOffer;
  /** The id of a run in the format of the client's protocol. */
  executionId(run: ToolRun): string;
  /** Sends the request to the client. The answer comes back through `ClientToolBroker.answer`. */
  request(execution: string, request: ClientRequest): void;
}

/** Whether a client can currently run a tool. */
export interface ClientTools {
  offers(owner: PrincipalId, tool: string): boolean;
}

/** Clients connected to other nodes. */
export interface RemoteToolClients {
  /** Notifies the other nodes; returns a function that withdraws the offer. */
  announce(client: Pick<ToolClient, 'connection' | 'owner' | 'offer'>): () => void;
  /** The owner's clients, while the owner is followed. */
  of(owner: PrincipalId): readonly RemoteToolClient[];
  /** `ready` resolves when the currently connected clients are known. */
  follow(owner: PrincipalId): { readonly ready: Promise<void>; close(): void };
}

export interface RemoteToolClient {
  readonly connection: ConnectionId;
  readonly offer: ToolOffer;
  /** Runs the call on the other node. Rejects with a fault, or with `OutcomeUnknown` if it may have run. */
  run(job: RemoteToolRun): Promise<Json>;
}

export type RemoteToolRun = {
  readonly run: ToolRun;
  readonly request: ClientRequest;
  readonly signal: AbortSignal;
  readonly report: (progress: ClientProgress, execution: string) => void;
};

/** The call was sent to a client, and its outcome is unknown. The message states the reason. */
export class OutcomeUnknown extends Error {
  override readonly name = 'OutcomeUnknown';
}

export type FolderContents = {
  /** without links; null for the list of the topmost folders */
  readonly path: string | null;
  /** null if there is none in which sessions may work */
  readonly parent: string | null;
  /** absolute, by name */
  readonly folders: readonly string[];
  /** whether there are more */
  readonly cut: boolean;
};

/** Folders that sessions may work in, in addition to the server's working directory. */
export interface Folders {
  /**
   * The folders in a folder in which sessions may work, or if null the topmost of those. Throws `invalid` if a session may not work
   * there.
   */
  list(path: string | null): Promise<FolderContents>;
  /** The real path of the folder. Throws `invalid` if a session may not work there. */
  admit(path: string): Promise<string>;
  /**
   * Called before each call with a path that `admit` returned, possibly much earlier or on another machine.
   * Throws `tool_failed` if sessions may no longer work there, or if a link points elsewhere. Returns the
   * path relative to the server's working directory; empty if it is that directory, or outside of it.
   */
  check(path: string): Promise<string>;
}
