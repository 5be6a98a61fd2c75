/** Commands of a session. The native dialect accepts them as they are. */
import { z } from 'zod';
import { ApprovalAnswer, ApprovalMode, DirectCall, InputMode } from './event-fields.ts';
import { History, HistoryItem, MAX_HISTORY_ITEMS, SystemText } from './history.ts';
import { ApprovalId, CallId, InputId, QuestionId, TurnId } from './ids.ts';
import { JsonValue } from './json.ts';
import { Part } from './parts.ts';
import { Answers } from './questions.ts';
import { Amount } from './spend.ts';
import { ANSWER_TERMS, TURN_OPTIONS } from './turn-options.ts';

export const SessionCreate = z.object({
  type: z.literal('session.create'),
  domain: z.string().optional(),
  agent: z.string().optional(),
  named: z.boolean().default(true),
  title: z.string().trim().min(1).max(500).optional(),
  /** like session.rename, for the title */
  automatic: z.boolean().optional(),
  labels: z.record(z.string().max(100), z.string().max(2_000)).optional(),
  /** history of an imported conversation: the session starts with it, and no model is called */
  history: History.optional(),
  /** whether the history contains untrusted content; default: if it contains tool results or pages */
  untrusted: z.boolean().optional(),
  /** hidden from lists, and erased after a period without use */
  ephemeral: z.boolean().optional(),
  /** working folder of its tools: absolute, and allowed by the server; default: the server's */
  cwd: z.string().min(1).max(4_096).optional(),
});

/** Result of a call that was deferred to a client. */
export const CallResult = z.object({
  call: CallId,
  failed: z.boolean().default(false),
  parts: z.array(Part).max(100),
  /** for programs; not shown to the model */
  data: z.record(z.string(), JsonValue).optional(),
});
export type CallResult = z.output<typeof CallResult>;

export const InputSubmit = z.object({
  type: z.literal('input.submit'),
  parts: z.array(Part).max(100),
  /** if a turn is running: wait for it, join it before its next model call, or interrupt it */
  mode: InputMode.default('queue'),
  call: DirectCall.optional(),
  /** like session.create, for a session created by this input */
  domain: z.string().optional(),
  agent: z.string().optional(),
  named: z.boolean().default(true),
  /** for programs; not shown to the model */
  data: z.record(z.string(), JsonValue).optional(),
  /** the agent of this turn only, of any domain */
  answeredBy: z.string().optional(),
  /** the earlier input that this one replaces: the conversation continues from before it */
  replaces: InputId.optional(),
  /** true if it contains content that the user did not write, such as a file of another agent */
  untrusted: z.boolean().optional(),
  /** instructions for the model directly before and after the parts; not shown as messages */
  system: z.object({ before: SystemText.optional(), after: SystemText.optional() }).optional(),
  /** results of deferred calls, stored before the input; with `supersede`, the input's turn continues from them */
  results: z.array(CallResult).max(1_000).optional(),
  /** true: if a question waits for an answer, the message is the answer, whatever the mode */
  answers: z.boolean().optional(),
  /** true: without parts, the model continues from the session, for example from results in its history */
  continues: z.boolean().optional(),
  ...TURN_OPTIONS,
});

export const TurnCancel = z.object({
  type: z.literal('turn.cancel'),
  /** only this turn, even if its input is still queued; default: the running one */
  turn: TurnId.optional(),
});

export const ApprovalAnswerCommand = z.object({
  type: z.literal('approval.answer'),
  /** default: the pending one */
  approval: ApprovalId.optional(),
  answer: ApprovalAnswer,
  reason: z.string().max(10_000).optional(),
  said: z.string().max(100).optional(),
  /** hash of the request shown to the user; refused if it differs */
  hash: z.string().optional(),
  /** with deny: end the turn instead of reporting to the model */
  exit: z.boolean().default(false),
  ...ANSWER_TERMS,
});

export const ApprovalExplain = z.object({
  type: z.literal('approval.explain'),
  approval: ApprovalId.optional(),
});

export const QuestionAnswer = z.object({
  type: z.literal('question.answer'),
  /** default: the oldest that waits */
  question: QuestionId.optional(),
  answers: Answers.optional(),
  /** true: the user gives no answer */
  declined: z.boolean().default(false),
  ...ANSWER_TERMS,
});

export const CallAnswer = z.object({
  type: z.literal('call.answer'),
  ...CallResult.shape,
  /** whether it contains content of others; default: true for a tool that the caller of the turn offers */
  untrusted: z.boolean().optional(),
  /** the user's text, if it is the outcome */
  said: z.string().max(10_000).optional(),
  ...ANSWER_TERMS,
  /** an instruction for the model after the results; not shown as a message */
  system: SystemText.optional(),
});

/** Revokes a standing grant. */
export const GrantRevoke = z.object({ type: z.literal('grant.revoke'), grant: z.string().max(1_000) });

export const SessionRename = z.object({
  type: z.literal('session.rename'),
  title: z.string().trim().min(1).max(500),
  /** generated, not chosen by a user */
  automatic: z.boolean().optional(),
});
/** Settings of the session; null: the server's default. */
export const SessionConfigure = z.object({
  type: z.literal('session.configure'),
  model: z.string().trim().min(1).max(200).nullable().optional(),
  approval: ApprovalMode.nullable().optional(),
  agent: z.string().max(200).optional(),
  /** above it, a turn asks before its next step */
  limit: Amount.nullable().optional(),
});
export const SessionArchive = z.object({ type: z.literal('session.archive') });
export const SessionUnarchive = z.object({ type: z.literal('session.unarchive') });
export const SessionPin = z.object({ type: z.literal('session.pin'), pinned: z.boolean().default(true) });
/** Replaces the tags of the session. */
export const SessionTag = z.object({
  type: z.literal('session.tag'),
  tags: z.array(z.string().trim().min(1).max(50)).max(20),
});
export const SessionLabel = z.object({
  type: z.literal('session.label'),
  labels: z.record(z.string().max(100), z.string().max(2_000)),
});

/** Adds messages from elsewhere to a session that is idle. No model is called. */
export const HistoryAppend = z.object({
  type: z.literal('history.append'),
  /** results may follow with a later command */
  items: z.array(HistoryItem).min(1).max(MAX_HISTORY_ITEMS),
});
/** Removes one item of an event from the context of a session that is idle; a call goes with its result. */
export const HistoryRemove = z.object({
  type: z.literal('history.remove'),
  seq: z.int().min(1),
  /** position in `items` of an imported history; otherwise 0 */
  index: z.int().min(0).default(0),
});

export const ContextCompact = z.object({ type: z.literal('context.compact') });
export const SessionClear = z.object({ type: z.literal('session.clear') });

/** Takes back a message and what follows it: in the conversation, in the files of the working folder, or both. */
export const SessionRewind = z.object({
  type: z.literal('session.rewind'),
  /** the message: conversation and files become as they were before it */
  to: InputId.optional(),
  /** instead of `to`: the rewind to undo */
  undo: z.string().min(1).max(100).optional(),
  conversation: z.boolean().default(true),
  files: z.boolean().default(true),
  /** files to restore although somebody else has changed them since; other such files are kept */
  overwrite: z.array(z.string().max(4_096)).max(1_000).default([]),
});

export const Command = z.discriminatedUnion('type', [
  SessionCreate,
  InputSubmit,
  TurnCancel,
  ApprovalAnswerCommand,
  ApprovalExplain,
  QuestionAnswer,
  CallAnswer,
  SessionRename,
  SessionConfigure,
  SessionArchive,
  SessionUnarchive,
  SessionPin,
  SessionTag,
  SessionLabel,
  GrantRevoke,
  HistoryAppend,
  HistoryRemove,
  ContextCompact,
  SessionClear,
  SessionRewind,
]);
export type Command = z.infer<typeof Command>;
/** A command as sent: fields with a default are optional. */
export type CommandInput = z.input<typeof Command>;
