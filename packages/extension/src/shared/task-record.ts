/**
 * A task as the worker keeps it. Every state is stored before anything is done, so that a worker that was suspended continues
 * where it was and does nothing twice.
 */
import type { ContractPlan } from './contract.ts';

export type TaskRecord = {
  /** idempotency key of the first call */
  readonly id: string;
  readonly session: string;
  readonly tab: number;
  /** tabs that the task has opened */
  readonly opened: readonly number[];
  /** sites that were allowed for this task */
  readonly allowed: readonly string[];
  readonly query: string;
  /** of the server; null until the first call was answered */
  readonly taskId: string | null;
  /** number of actions that the server has sent */
  readonly actionCount: number;
  readonly plan: ContractPlan | null;
  readonly state: TaskState;
  /** why the server cannot be reached now */
  readonly problem: string | null;
};

/** What is sent about the last action: part of the body of `/api/agent/interact`. */
export type Report = Readonly<Record<string, unknown>>;

export type TaskState =
  /** to be sent: the first call, or a reply to a question */
  | { readonly phase: 'asking-server'; readonly reply: string | null }
  /** `begun`: it may have been carried out */
  | { readonly phase: 'acting'; readonly action: string; readonly thought: string; readonly begun: boolean }
  /** the action is done: what came of it is to be sent */
  | { readonly phase: 'reporting'; readonly action: string; readonly report: Report }
  /** the server needs an answer of the person */
  | { readonly phase: 'question'; readonly question: string; readonly missing: readonly string[] }
  | { readonly phase: 'ended'; readonly outcome: TaskOutcome; readonly message: string };

export type TaskOutcome = 'completed' | 'failed' | 'stopped';

export const isRunning = ({ state }: TaskRecord): boolean => state.phase !== 'ended';
