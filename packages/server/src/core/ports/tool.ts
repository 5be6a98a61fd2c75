/** A tool of an agent. */
import type {
  Ask,
  CallId,
  DurableEvent,
  Json,
  JsonObject,
  Part,
  PrincipalId,
  SessionId,
} from '@parlance/protocol';
import type { z } from 'zod';
import type { ClientRequest } from './client-tools.ts';

/**
 * Why a call runs. `approved`: a user approved it, once or by a standing grant, or a rule of the operator allows it.
 * `safe`: the tool's `approval` returned null, and the tool must check again that this still holds. `mode`: only the approval
 * mode allows it.
 */
export type Permission = 'approved' | 'safe' | 'mode';

export type ToolContext = {
  readonly session: SessionId;
  readonly owner: PrincipalId;
  readonly call: CallId;
  /** the absolute path of the folder that tools work in */
  readonly root: string;
  /** aborted when the turn is cancelled; a tool ends soon after, and leaves nothing running */
  readonly signal: AbortSignal;
  readonly permission: Permission;
  /** the events since the session was last idle, the present one included */
  readonly eventsSinceIdle: readonly DurableEvent[];
  /** runs the call at a connected client */
  readonly atClient: (request: ClientRequest) => Promise<Json>;
};

export type ToolResult = {
  readonly parts: Part[];
  /** the result as data, for clients that show fields */
  readonly data?: { [key: string]: Json };
  /** the tool ran, and its action failed (a command with an exit code, a patch that does not apply) */
  readonly failed?: boolean;
  /** the conversation continues with another agent of the domain */
  readonly handoff?: { readonly agent: string; readonly reason: string };
  /** the result carries untrusted content (a page, a search, a foreign server): data, never instructions */
  readonly untrusted?: true;
  /** the turn ends without another model call */
  readonly final?: true;
  /** the call also shows the user something, such as a plan; a deferred call does so when the client receives it */
  readonly notice?: true;
};

/** The effects of a call, as the operator's rules name them. */
export type RuleSubjects = {
  /** one by one, as written; null if that cannot be read, and then no rule allows the call */
  readonly literal: readonly string[] | null;
  /** other names of the same things: rules that deny or ask match them too, rules that allow do not */
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
  /** JSON Schema of the input for models; made from `input` by default */
  readonly parameters?: JsonObject;
  /** idempotent: after a crash it runs again */
  readonly repeatable?: boolean;
  /**
   * Parallel execution with other calls of the same answer. `always`: considered only after every such call before it
   * has its outcome, and run alone. `if-asked`: run alone unless `approval` returns null. Absent: run in parallel.
   */
  readonly exclusive?: 'always' | 'if-asked';
  /** offered only to agents that name it */
  readonly special?: boolean;
  /** whether it may need approval, for lists of tools */
  readonly asks?: boolean;
  /** What needs approval; null if nothing does. May read files, changes nothing. */
  approval(input: z.output<Schema>, context: { root: string }): Ask | null | Promise<Ask | null>;
  /**
   * What rules are matched against; the input as JSON if it is not given. Rules name paths from the working directory of the
   * server on: `folder` is the path of the session's folder from there, empty if it is the same.
   */
  subjects?(input: z.output<Schema>, folder: string): RuleSubjects;
  /** Further tools whose rules apply to this call. */
  ruledAs?(input: z.output<Schema>): readonly string[];
  /**
   * A client carries it out: `run` only checks whether it is possible, and only `notice` of its result is used. The outcome
   * comes with the command `call.answer`, however late.
   */
  readonly deferred?: boolean;
  /** Throws a `Fault` if it is not possible; the model reads the message as the call's result. */
  run(input: z.output<Schema>, context: ToolContext): Promise<ToolResult>;
  /** false if it cannot work now, such as without a connected client: it is not offered to the model */
  available?(owner: PrincipalId): boolean;
}

/** Checks the functions of a tool against its schema. */
export const defineTool = <Schema extends z.ZodType>(tool: Tool<Schema>): Tool => tool as unknown as Tool;
