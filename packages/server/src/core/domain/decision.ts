/** Inputs of `decide` in addition to the state. */
import type { AgentRef, BlockId, Command, ConnectionId, InputId, TurnId } from '@parlance/protocol';

/** Commands that need no model call; `approval.explain` and `context.compact` do. */
export type DecidableCommand = Exclude<Command, { type: 'approval.explain' | 'context.compact' }>;

/** The sender of the command, the entities it refers to, and ids for new ones. */
export type DecisionContext = {
  readonly by: string;
  readonly dialect: string;
  readonly via: ConnectionId | undefined;
  readonly key: string | undefined;
  readonly domain: string;
  readonly agent: AgentRef;
  /** the agent that answers this input, if it differs from the session's */
  readonly answeredBy: AgentRef | undefined;
  /** the block that is being streamed, for commands that may end a turn */
  readonly open: {
    readonly kind: 'text' | 'reasoning';
    readonly block: BlockId;
    readonly text: string;
    readonly durationMs: number;
  } | null;
  /** the input to replace and its event number, or null */
  readonly replaced: { readonly input: InputId; readonly seq: number } | null;
  /** whether the approval was requested in this session */
  readonly approvalKnown: boolean;
  /** maximum number of queued inputs */
  readonly maxQueued: number;
  /** ids of the new input and its turn; null for commands that create neither */
  readonly ids: { readonly input: InputId; readonly turn: TurnId } | null;
  /** one id per user message of an imported history */
  readonly historyInputs: readonly InputId[];
};
