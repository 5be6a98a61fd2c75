/** Fields that several events share. */
import { z } from 'zod';
import { CallId, SessionId, TurnId } from './ids.ts';
import { JsonValue } from './json.ts';

export const AgentRef = z.object({ id: z.string(), name: z.string() });
export type AgentRef = z.infer<typeof AgentRef>;

export const Usage = z.object({
  inputTokens: z.number(),
  outputTokens: z.number(),
  cachedTokens: z.number().optional(),
  reasoningTokens: z.number().optional(),
});
export type Usage = z.infer<typeof Usage>;

/** Use of the model's context. */
export const ContextUse = z.object({
  /** instructions, tools and conversation of the next request */
  tokens: z.number(),
  limit: z.number(),
  items: z.number(),
  strategy: z.enum(['threshold', 'none']),
});
export type ContextUse = z.infer<typeof ContextUse>;

/** Approval request, shown to a person before a call may run. */
export const Ask = z.object({
  /** kind of side effect, used by the approval mode */
  kind: z.enum(['command', 'edit', 'browser', 'other']),
  /** the exact command, or [tool, argument…] */
  command: z.array(z.string()),
  /** the patch, if the call is one */
  patch: z.string().optional(),
  /** existing files that the patch overwrites */
  replaces: z.array(z.string()).optional(),
  /** files that the patch changes or deletes, as they were when approval was requested; not all may be known */
  files: z
    .array(
      z.object({
        path: z.string(),
        /** for an update: the line, from 1, at which each hunk begins */
        hunks: z.array(z.number()).optional(),
        /** for a deleted file */
        content: z.string().optional(),
      }),
    )
    .optional(),
  /** fingerprints of the files that the call writes or deletes: it is refused if they have changed in the meantime */
  seen: z.array(z.string()).optional(),
  /** one or two sentences */
  description: z.string(),
  /** the grant of "always"; absent if a standing grant would be too broad */
  grant: z.string().optional(),
});
export type Ask = z.infer<typeof Ask>;

/** Which calls run without approval. */
export const ApprovalMode = z.enum(['suggest', 'auto-edit', 'full-auto']);
export type ApprovalMode = z.infer<typeof ApprovalMode>;

export const ApprovalAnswer = z.enum(['once', 'always', 'deny']);
export type ApprovalAnswer = z.infer<typeof ApprovalAnswer>;

/**
 * Outcome of a call. `aborted`: the turn was cancelled before the call had started, or while a client had it.
 * `unknown`: it had started when the turn was cancelled or the process died; it may have been executed, and
 * was not repeated.
 */
export const Outcome = z.enum(['ok', 'failed', 'denied', 'aborted', 'unknown']);
export type Outcome = z.infer<typeof Outcome>;

/** Whether a call ended because its turn was cancelled or superseded. */
export const wasStopped = (ended: {
  readonly outcome: Outcome;
  readonly interrupted?: boolean | undefined;
}): boolean => ended.outcome === 'aborted' || ended.interrupted === true;

/**
 * What an input does while a turn runs. `queue`: waits until the turn has ended. `steer`: joins the turn before its next
 * model call. `supersede`: ends the turn.
 */
export const InputMode = z.enum(['queue', 'steer', 'supersede']);
export type InputMode = z.infer<typeof InputMode>;

/** Opaque vendor data that goes back with the next prompt (a signature, an encrypted item). */
export const Sealed = z.object({ provider: z.string(), data: JsonValue });
export type Sealed = z.infer<typeof Sealed>;

/**
 * The model of a chain that answers instead of those before it. `failed`: a rate limit, an outage or a time-out in this step.
 * `cooling`: it failed so recently that it is not asked. `too_small`: the conversation does not fit into its context.
 */
export const Fallback = z.object({
  /** the vendor, and its model */
  provider: z.string(),
  model: z.string(),
  /** models of the chain that do not answer */
  passed: z.array(
    z.object({
      provider: z.string(),
      model: z.string(),
      reason: z.enum(['failed', 'cooling', 'too_small']),
      /** when it may be asked again, in milliseconds */
      until: z.number().optional(),
    }),
  ),
});
export type Fallback = z.infer<typeof Fallback>;

/** A call requested directly by a person, without the model. */
export const DirectCall = z.object({ tool: z.string(), input: z.record(z.string(), JsonValue) });
export type DirectCall = z.infer<typeof DirectCall>;

/** A file or folder below the working folder; a folder ends in a slash. */
export const FileChange = z.object({
  path: z.string(),
  change: z.enum(['added', 'modified', 'deleted']),
});
export type FileChange = z.infer<typeof FileChange>;

/** What a call has changed, at most the first hundred. */
export const ChangedFiles = z.object({
  changed: z.array(FileChange),
  /** number of those that are not listed */
  more: z.number().optional(),
  /** why there is no checkpoint, so that the changes cannot be taken back */
  unprotected: z.string().optional(),
});
export type ChangedFiles = z.infer<typeof ChangedFiles>;

/** The outcome of a rewind, at most the first hundred of each. */
export const RewoundFiles = z.object({
  restored: z.array(FileChange),
  /** files that are as they were before the rewind, and the reason */
  kept: z.array(z.object({ path: z.string(), reason: z.string() })),
  /** number of those that are not listed */
  more: z.number().optional(),
  /** why files could not be restored */
  failed: z.string().optional(),
});
export type RewoundFiles = z.infer<typeof RewoundFiles>;

/**
 * A file of the working folder with instructions: `AGENTS.md`, `CLAUDE.md`, or the `SKILL.md` of a skill. `used`: a
 * person has accepted it; `new` and `changed`: nobody has decided about this version, so it is not used; `refused`: too
 * large, or not text.
 */
export const ProjectFile = z.object({
  /** relative to the working folder */
  path: z.string(),
  /** SHA-256 of its content, in hex; empty if it was not read */
  hash: z.string(),
  use: z.enum(['used', 'declined', 'new', 'changed', 'refused']),
});
export type ProjectFile = z.infer<typeof ProjectFile>;

// Sub-agents: sessions that a call of another session started.

/** A sub-agent, as the sessions above it see it. */
export const ChildRef = z.object({
  session: SessionId,
  /** the names from the first session's agent to the sub-agent */
  path: z.array(z.string()),
});
export type ChildRef = z.infer<typeof ChildRef>;

/** What a call asks of a sub-agent. */
export const Delegation = ChildRef.extend({
  does: z.enum(['spawn', 'message', 'wait']),
  /** idempotency key of the input of the sub-agent */
  key: z.string(),
  /** the call ends at once, and the outcome arrives as an input */
  background: z.literal(true).optional(),
  /** a new one works in a copy of the folder, and a person decides about its changes */
  worktree: z.literal(true).optional(),
});
export type Delegation = z.infer<typeof Delegation>;

/** The session that started a sub-agent, and what the sub-agent may do at most. */
export const ParentRef = z.object({
  session: SessionId,
  path: z.array(z.string()),
  approval: ApprovalMode,
  tools: z.array(z.string()),
});
export type ParentRef = z.infer<typeof ParentRef>;

/** The call of the parent that a turn of a sub-agent is for. */
export const ReportTo = z.object({
  turn: TurnId,
  call: CallId,
  background: z.literal(true).optional(),
});
export type ReportTo = z.infer<typeof ReportTo>;
