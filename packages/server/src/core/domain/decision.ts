/** What `decide` is given besides the state. */
import type { AgentRef, BlockId, Command, ConnectionId, InputId, TurnId } from '@parlance/protocol';

/** Commands that need no model. `approval.explain` and `context.compact` call one. */
export type Decided = Exclude<Command, { type: 'approval.explain' | 'context.compact' }>;

/** Plain data: the sender of the command, its references, and ids for new entities. */
export type DecisionContext = {
  readonly by: string;
  readonly dialect: string;
  readonly via: ConnectionId | undefined;
  readonly key: string | undefined;
  readonly domain: string;
  readonly agent: AgentRef;
  /** the agent that answers this input, if it is not the session's */
  readonly answeredBy: AgentRef | undefined;
  /** the block that is being streamed, for commands that may end a turn */
  readonly open: {
    readonly kind: 'text' | 'reasoning';
    readonly block: BlockId;
    readonly text: string;
    readonly durationMs: number;
  } | null;
  /** the input that is replaced, and the number of its event; null if there is none */
  readonly replaced: { readonly input: InputId; readonly seq: number } | null;
  /** whether the approval that is answered was requested in this session */
  readonly approvalKnown: boolean;
  /** how many inputs may wait in the session */
  readonly mostQueued: number;
  /** the ids of a new input and of its turn; null for commands that create neither */
  readonly ids: { readonly input: InputId; readonly turn: TurnId } | null;
  /** an id for each message of the user in a history that is taken over */
  readonly historyInputs: readonly InputId[];
};
