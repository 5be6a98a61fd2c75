import type { Delegation, DurableEvent, DurableEventBody, QuestionContent } from '@parlance/protocol';
import type { Clock } from '../../lib/clock.ts';
import type { Checkpoints } from '../ports/checkpoints.ts';
import type { FolderFiles } from '../ports/folder-files.ts';
import type { Project } from '../ports/project.ts';
import type { ContextItem, Provider } from '../ports/provider.ts';
import type { SessionRef } from '../ports/session-ref.ts';
import type { Log, Observers } from '../ports/telemetry.ts';
import type { AgentRequest, Folders, Tool } from '../ports/tool.ts';
import type { Worktrees } from '../ports/worktrees.ts';
import type { AgentCatalog } from '../session/agent-catalog.ts';
import type { ApprovalMode, Rule } from '../session/approvals.ts';
import type { OpenCall, SessionState, Turn } from '../session/session-state.ts';

import { usageOfStep } from '../session/spending.ts';
import type { ClientToolBroker } from './client-tools.ts';
import type { CoolDowns } from './cool-downs.ts';
import type { Session } from './session.ts';
import type { PriceOf, Spending } from './spending.ts';

/** Dependencies of a turn, apart from its session. */
export type TurnDeps = Observers & {
  readonly provider: Provider;
  readonly tools: ReadonlyMap<string, Tool>;
  readonly clients: ClientToolBroker;
  readonly catalog: AgentCatalog;
  readonly instructions: string;
  readonly root: string;
  /** absent if all sessions work in `root` */
  readonly folders?: Folders;
  /** absent if they are switched off */
  readonly checkpoints?: Checkpoints | undefined;
  /** absent: sub-agents work in the folder of their parent */
  readonly worktrees?: Worktrees | undefined;
  /** for people; absent if they cannot look at files */
  readonly files?: FolderFiles;
  readonly approvalMode: ApprovalMode;
  /** why no session may run in full-auto, or null; sessions and agents that are set to it are in `suggest` then */
  readonly fullAutoProblem: string | null;
  readonly rules?: readonly Rule[];
  /** removes stale items from a prompt, such as earlier states of a page */
  readonly trim?: (items: readonly ContextItem[]) => readonly ContextItem[];
  /** for agents that name their own model */
  readonly providerFor?: (model: string) => Provider;
  /** models of chains that failed recently */
  readonly coolDowns: CoolDowns;
  /** whether the chain also stands behind a model that a caller has named */
  readonly fallbackFromNamed?: boolean;
  /** absent if instructions and skills are switched off */
  readonly project?: Project | undefined;
  readonly context: { readonly strategy: 'threshold' | 'none'; readonly threshold: number };
  readonly maxSteps: number;
  /** asked in this order before each model call of a turn */
  readonly gates?: readonly StepGate[];
  readonly subAgents: SubAgents;
  /** the price of a model at this moment; undefined if it has none */
  readonly priceOf?: PriceOf;
  readonly spending: Spending;
  /** the model writes titles for sessions created by this dialect */
  readonly titles?: string | undefined;
  /** maximum number of parallel calls of one answer, unless the agent overrides it */
  readonly parallelCalls: number;
  /** continues a session that something else than a command has changed */
  readonly wake: (session: Session) => void;
  readonly clock: Clock;
  readonly now: () => number;
  readonly newId: () => string;
  readonly log: Log;
};

/**
 * May ask the user before a model call: the turn waits, and the gate is asked again after the answer, which is then in
 * `turn.settled`. Throws a `Fault` to end the turn.
 */
export type StepGate = (
  session: Pick<Session, 'ref' | 'state'>,
  turn: Turn,
  signal: AbortSignal,
) => QuestionContent | null | Promise<QuestionContent | null>;

/** A running turn and its dependencies. `turn` is the state at the start of the current action. */
export type ActiveTurn = {
  readonly session: Session;
  readonly deps: TurnDeps;
  readonly turn: Turn;
  /** aborted when the turn is cancelled or superseded, as soon as that is decided */
  readonly signal: AbortSignal;
  /** no new work may start: the server is stopping, or another node holds the lease */
  readonly stopping: () => boolean;
};

/** What the engine does about sub-agents. */
export interface SubAgents {
  /** The sub-agent that works for a call that is about to start; null if the call needs none. Throws a `Fault` for the model. */
  delegation(active: ActiveTurn, request: AgentRequest, others: readonly Delegation[]): Delegation | null;
  /** Runs a call whose `tool.started` is stored, possibly once more. Returns the events that follow. */
  run(active: ActiveTurn, call: OpenCall, request: AgentRequest): Promise<DurableEventBody[]>;
  /** Stops the sub-agents that must stop, and informs the parent. */
  settle(session: Session): Promise<void>;
  /** Tells the parent what it does not know. `again`: the parent waits for it anew. */
  inform(session: Session, options?: { readonly again?: boolean }): Promise<void>;
  /** Shows in the parent what the sub-agent does. */
  progress(ref: SessionRef, events: readonly DurableEvent[], before: SessionState): void;
}

export const activeTurn = (
  { session, deps, stopping }: Pick<ActiveTurn, 'session' | 'deps' | 'stopping'>,
  turn: Turn,
): ActiveTurn => ({ session, deps, turn, signal: session.signal(turn.id), stopping });

/**
 * Appends events of this turn. If it has ended or was stopped by then, they are dropped, and only the usage of a step is kept:
 * another node may have repeated the step, and the turn may even wait for an answer, so that nobody holds its lease.
 */
export async function record(
  { session, turn, signal }: Pick<ActiveTurn, 'session' | 'turn' | 'signal'>,
  events: readonly DurableEventBody[],
): Promise<DurableEvent[]> {
  const recorded = await session.transact((state) =>
    state.turn?.id === turn.id && !signal.aborted ? events : [],
  );
  if (recorded.length === 0) await recordUsage(session, usageOfStep(events, turn));
  return recorded;
}

/** Counts model calls of which nothing else is recorded. */
export async function recordUsage(session: Session, events: readonly DurableEventBody[]): Promise<void> {
  if (events.length > 0) await session.transact(({ created }) => (created ? events : []), 'never');
}
