/** What an intent makes of a message: steps that are taken one after another, each from what came before it. */
import type { FaultData, JsonObject } from '@parlance/protocol';
import type { PromptItem, ToolSpec } from '../../core/ports/provider.ts';
import type { Done, Turn } from './turn.ts';
import type { Utterance } from './utterance.ts';

export type Request = { readonly tool: string; readonly input: JsonObject };

export const request = (tool: string, input: JsonObject): Request => ({ tool, input });

/** One use of a tool: the first option whose tool is offered is called. */
export type Deed = {
  readonly options: readonly Request[];
  /** says what came out, where it went well */
  readonly report?: (done: Done) => string;
};

export type Act = { readonly deeds: readonly Deed[] } | { readonly say: string; readonly fault?: FaultData };

export type Step = {
  /** completes the sentence "I'll …" */
  readonly title: string;
  /** Depends on nothing but the calls that were made before it: it is asked again on every step of the turn. */
  readonly act: (done: readonly Done[]) => Act;
  /** makes no sense when the step before it failed */
  readonly dependent?: boolean;
};

export type Plan = { readonly reasoning?: string; readonly steps: readonly Step[] };

export type Scene = {
  readonly tools: ReadonlyMap<string, ToolSpec>;
  readonly turn: Turn;
  /** everything before the message that is answered */
  readonly earlier: readonly PromptItem[];
};

export type Intent = {
  readonly name: string;
  readonly match: (utterance: Utterance, scene: Scene) => Plan | null;
};

/** What is said in one go: thought, then text, then calls or a fault. */
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
