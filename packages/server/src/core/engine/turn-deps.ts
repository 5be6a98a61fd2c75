import type { QuestionContent } from '@parlance/protocol';
import type { Clock } from '../../lib/clock.ts';
import type { Checkpoints } from '../ports/checkpoints.ts';
import type { Project } from '../ports/project.ts';
import type { ContextItem, Provider } from '../ports/provider.ts';
import type { Log, Observers } from '../ports/telemetry.ts';
import type { Folders, Tool } from '../ports/tool.ts';
import type { AgentCatalog } from '../session/agent-catalog.ts';
import type { ApprovalMode, Rule } from '../session/approvals.ts';
import type { Turn } from '../session/session-state.ts';

import type { ClientToolBroker } from './client-tools.ts';
import type { CoolDowns } from './cool-downs.ts';
import type { Session } from './session.ts';

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
  /** the model writes titles for sessions created by this dialect */
  readonly titles?: string | undefined;
  /** maximum number of parallel calls of one answer, unless the agent overrides it */
  readonly parallelCalls: number;
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
