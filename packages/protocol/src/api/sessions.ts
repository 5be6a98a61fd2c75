/** Sessions: lists, events, search, approvals, questions, grants and shares. */
import { z } from 'zod';
import { AgentRef, ApprovalAnswer, ApprovalMode, Ask } from '../event-fields.ts';
import { EVENTS, type DurableEvent as Stored } from '../events.ts';
import { ApprovalId, BlockId, CallId, InputId, QuestionId, SessionId, TurnId } from '../ids.ts';
import { Answers, QUESTION } from '../questions.ts';

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
  waitsFor: z
    .enum(['answer', 'work'])
    .optional()
    .describe(
      'while its status is `waiting`: for an answer of a person, or for the work of sub-agents or of a client',
    ),
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

export const FoldersQuery = z.object({
  path: z.string().min(1).max(4_096).optional().describe('an absolute path; default: the topmost folders'),
});

export const FolderList = z.object({
  path: z.string().nullable().describe('the folder, links resolved; null: the list of the topmost folders'),
  parent: z.string().nullable().describe('the folder above it, if sessions may work there'),
  folders: z.array(z.string()).describe('absolute paths by name, without hidden folders and links'),
  cut: z.boolean().describe('whether there are more'),
});
export type FolderList = z.infer<typeof FolderList>;
