/** The plan for a message: sequential steps, each derived from the previous ones. */
import type { FaultData, JsonObject } from '@parlance/protocol';
import type { FinishedCall, Item, Tool, Turn } from './prompt.ts';
import type { UserMessage } from './user-message.ts';

export type Request = { readonly tool: string; readonly input: JsonObject };

export const request = (tool: string, input: JsonObject): Request => ({ tool, input });

/** One tool call: the first option whose tool is offered is used. */
export type PlannedCall = {
  readonly options: readonly Request[];
  /** describes a successful result */
  readonly report?: (call: FinishedCall) => string;
};

/** What a step does: calls, or a text. */
export type StepOutput =
  | { readonly calls: readonly PlannedCall[] }
  | { readonly text: string; readonly fault?: FaultData };

export type Step = {
  /** completes the sentence "I'll …" */
  readonly title: string;
  /** Depends only on earlier calls: it is evaluated again on every step of the turn. */
  readonly run: (calls: readonly FinishedCall[]) => StepOutput;
  /** needs the previous step to succeed */
  readonly dependent?: boolean;
};

export type Plan = { readonly reasoning?: string; readonly steps: readonly Step[] };

export type PlanContext = {
  readonly tools: ReadonlyMap<string, Tool>;
  readonly turn: Turn;
  /** everything before the answered message */
  readonly earlier: readonly Item[];
};

export type Intent = (message: UserMessage, context: PlanContext) => Plan | null;

/** One answer: reasoning, then text, then calls or a fault. */
export type Answer = {
  readonly reasoning?: string;
  readonly text: string;
  readonly calls?: readonly Request[];
  readonly fault?: FaultData;
};

export const answerPlan = (text: string, reasoning?: string): Plan => ({
  reasoning,
  steps: [{ title: 'answer', run: () => ({ text }) }],
});

export const callPlan = (
  title: string,
  options: readonly Request[],
  report?: PlannedCall['report'],
): Plan => ({
  steps: [{ title, run: () => ({ calls: [{ options, report }] }) }],
});

export function firstMatch(
  intents: readonly Intent[],
  message: UserMessage,
  context: PlanContext,
): Plan | null {
  for (const intent of intents) {
    const plan = intent(message, context);
    if (plan) return plan;
  }
  return null;
}
