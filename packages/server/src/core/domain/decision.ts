/** What `decide` is given besides the state. */
import type { AgentRef, BlockId, Command, ConnectionId, InputId } from '@parlance/protocol';

/** Commands that need no model: explaining and compacting are the engine's. */
export type Decided = Exclude<Command, { type: 'approval.explain' | 'context.compact' }>;

/** What a decision needs to know besides the state: who asks, and ids for what is new. */
export type DecisionContext = {
  readonly by: string;
  readonly dialect: string;
  readonly via: ConnectionId | undefined;
  readonly key: string | undefined;
  readonly domain: string;
  readonly agent: AgentRef;
  /** who answers this input, where it is not the session's agent */
  readonly answeredBy: AgentRef | undefined;
  /** the block that was being streamed when the command came */
  readonly open: {
    readonly kind: 'text' | 'reasoning';
    readonly block: BlockId;
    readonly text: string;
    readonly durationMs: number;
  } | null;
  /** the input that is replaced, and the number of its event; null where none is, or there is no such input */
  readonly replaced: { readonly input: InputId; readonly seq: number } | null;
  /** the approval that is answered was requested in this session */
  readonly approvalKnown: boolean;
  /** how many inputs may wait in the session */
  readonly mostQueued: number;
  readonly newId: () => string;
};
