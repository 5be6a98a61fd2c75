/** The plan for a message: sequential steps, each derived from the previous ones. */
import type { FaultData, JsonObject } from '@parlance/protocol';
import type { Done, Item, Tool, Turn } from './prompt.ts';
import type { Utterance } from './utterance.ts';

export type Request = { readonly tool: string; readonly input: JsonObject };

export const request = (tool: string, input: JsonObject): Request => ({ tool, input });

/** One tool call: the first option whose tool is offered is used. */
export type Deed = {
  readonly options: readonly Request[];
  /** describes a successful result */
  readonly report?: (done: Done) => string;
};

export type Act = { readonly deeds: readonly Deed[] } | { readonly say: string; readonly fault?: FaultData };

export type Step = {
  /** completes the sentence "I'll …" */
  readonly title: string;
  /** Depends only on earlier calls: it is evaluated again on every step of the turn. */
  readonly act: (done: readonly Done[]) => Act;
  /** needs the previous step to succeed */
  readonly dependent?: boolean;
};

export type Plan = { readonly reasoning?: string; readonly steps: readonly Step[] };

export type Scene = {
  readonly tools: ReadonlyMap<string, Tool>;
  readonly turn: Turn;
  /** everything before the answered message */
  readonly earlier: readonly Item[];
};

export type Intent = (utterance: Utterance, scene: Scene) => Plan | null;

/** One answer: reasoning, then text, then calls or a fault. */
export type Answer = {
  readonly reasoning?: string;
  readonly text: string;
  readonly calls?: readonly Request[];
  readonly fault?: FaultData;
};

export const saying = (say: string, reasoning?: string): Plan => ({
  reasoning,
  steps: [{ title: 'answer', act: () => ({ say }) }],
});

export const doing = (title: string, options: readonly Request[], report?: Deed['report']): Plan => ({
  steps: [{ title, act: () => ({ deeds: [{ options, report }] }) }],
});

export function firstMatch(intents: readonly Intent[], utterance: Utterance, scene: Scene): Plan | null {
  for (const intent of intents) {
    const plan = intent(utterance, scene);
    if (plan) return plan;
  }
  return null;
}
