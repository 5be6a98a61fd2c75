/** Everything that can be asked of a session. The native dialect takes these as they are. */
import { z } from 'zod';
import { ApprovalAnswer, ApprovalMode, DirectCall, InputMode } from './events.ts';
import { ApprovalId, CallId, InputId } from './ids.ts';
import { JsonValue } from './json.ts';
import { Part } from './parts.ts';

export const SessionCreate = z.object({
  type: z.literal('session.create'),
  domain: z.string().optional(),
  agent: z.string().optional(),
  named: z.boolean().default(true),
  title: z.string().trim().min(1).max(500).optional(),
  /** as in session.rename, of the title */
  automatic: z.boolean().optional(),
  labels: z.record(z.string().max(100), z.string().max(2_000)).optional(),
});

export const InputSubmit = z.object({
  type: z.literal('input.submit'),
  parts: z.array(Part).max(100),
  /** what happens when a turn is running: wait for it, or interrupt it */
  mode: InputMode.default('queue'),
  call: DirectCall.optional(),
  /** as in session.create, for a session that this input begins */
  domain: z.string().optional(),
  agent: z.string().optional(),
  named: z.boolean().default(true),
  /** for programs to read; a model is not shown it */
  data: z.record(z.string(), JsonValue).optional(),
  /** the agent of this turn alone, of whatever domain */
  answeredBy: z.string().optional(),
  /** the earlier input that this one takes the place of: the conversation goes on from before it */
  replaces: InputId.optional(),
});

export const TurnCancel = z.object({ type: z.literal('turn.cancel') });

export const ApprovalAnswerCommand = z.object({
  type: z.literal('approval.answer'),
  /** absent: the one that is waiting */
  approval: ApprovalId.optional(),
  answer: ApprovalAnswer,
  reason: z.string().max(10_000).optional(),
  said: z.string().max(100).optional(),
  /** the hash of what was shown; refused where it is not the same */
  hash: z.string().optional(),
  /** with deny: end the turn instead of telling the model */
  exit: z.boolean().default(false),
});

export const ApprovalExplain = z.object({
  type: z.literal('approval.explain'),
  approval: ApprovalId.optional(),
});

/** What came of a call that was deferred to a client. */
export const CallAnswer = z.object({
  type: z.literal('call.answer'),
  call: CallId,
  failed: z.boolean().default(false),
  parts: z.array(Part).max(100),
  data: z.record(z.string(), JsonValue).optional(),
  untrusted: z.boolean().default(false),
  /** the user's words, where they are the outcome */
  said: z.string().max(10_000).optional(),
});

/** Takes back what an "always" has allowed. */
export const GrantRevoke = z.object({ type: z.literal('grant.revoke'), grant: z.string().max(1_000) });

export const SessionRename = z.object({
  type: z.literal('session.rename'),
  title: z.string().trim().min(1).max(500),
  /** made from what the session is about, and not chosen by anyone */
  automatic: z.boolean().optional(),
});
/** What the session has other than the server; null: as the server has it. */
export const SessionConfigure = z.object({
  type: z.literal('session.configure'),
  model: z.string().trim().min(1).max(200).nullable().optional(),
  approval: ApprovalMode.nullable().optional(),
  agent: z.string().max(200).optional(),
});
export const SessionArchive = z.object({ type: z.literal('session.archive') });
export const SessionLabel = z.object({
  type: z.literal('session.label'),
  labels: z.record(z.string().max(100), z.string().max(2_000)),
});

export const ContextCompact = z.object({ type: z.literal('context.compact') });
export const SessionClear = z.object({ type: z.literal('session.clear') });

export const Command = z.discriminatedUnion('type', [
  SessionCreate,
  InputSubmit,
  TurnCancel,
  ApprovalAnswerCommand,
  ApprovalExplain,
  CallAnswer,
  SessionRename,
  SessionConfigure,
  SessionArchive,
  SessionLabel,
  GrantRevoke,
  ContextCompact,
  SessionClear,
]);
export type Command = z.infer<typeof Command>;
/** A command as written: what has a default may be left out. */
export type CommandInput = z.input<typeof Command>;
