import type { Clock } from '../../lib/clock.ts';
import type { ContextItem, Provider } from '../ports/provider.ts';
import type { Log, Observers } from '../ports/telemetry.ts';
import type { Folders, Tool } from '../ports/tool.ts';
import type { AgentCatalog } from '../session/agent-catalog.ts';
import type { ApprovalMode, Rule } from '../session/approvals.ts';

import type { ClientToolBroker } from './client-tools.ts';

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
  readonly approvalMode: ApprovalMode;
  /** why no session may run in full-auto, or null; sessions and agents that are set to it are in `suggest` then */
  readonly fullAutoProblem: string | null;
  readonly rules?: readonly Rule[];
  /** removes stale items from a prompt, such as earlier states of a page */
  readonly trim?: (items: readonly ContextItem[]) => readonly ContextItem[];
  /** for agents that name their own model */
  readonly providerFor?: (model: string) => Provider;
  readonly context: { readonly strategy: 'threshold' | 'none'; readonly threshold: number };
  readonly maxSteps: number;
  /** the model writes titles for sessions created by this dialect */
  readonly titles?: string | undefined;
  /** maximum number of parallel calls of one answer, unless the agent overrides it */
  readonly parallelCalls: number;
  readonly clock: Clock;
  readonly now: () => number;
  readonly newId: () => string;
  readonly log: Log;
};
