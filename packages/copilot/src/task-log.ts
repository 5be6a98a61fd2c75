/** What the log and the prompt of a task hold: its pages, and the progress of its plan. */
import {
  type DurableEvent,
  isObject,
  type JsonObject,
  type Part,
  type TurnId,
  textPart,
} from '@parlance/protocol';
import type { Page } from './page/page.ts';

/** The last page that the client sent; null if there is none. */
export function lastPage(events: readonly DurableEvent[]): Page | null {
  for (const event of events.toReversed()) {
    const page = (event.type === 'tool.ended' || event.type === 'input.accepted') && event.data?.page;
    if (page) return page as unknown as Page;
  }
  return null;
}

const STALE = textPart('(an earlier state of the page)');

type WithParts = { readonly kind: string; readonly parts?: readonly Part[] };

const isPage = (part: Part): boolean => part.type === 'page';

/** Only the last state of the page: earlier ones would mislead the model and cost tokens. */
export function withoutStalePages<Item extends WithParts>(items: readonly Item[]): readonly Item[] {
  const last = items.findLastIndex((item) => item.parts?.some(isPage));
  if (last <= 0) return items;
  return items.map((item, index) =>
    index < last && item.parts?.some(isPage)
      ? { ...item, parts: item.parts.map((part) => (isPage(part) ? STALE : part)) }
      : item,
  );
}

/** Progress of the plan, folded from the events of its turn. */
export type PlanProgress = {
  readonly turn: TurnId;
  readonly steps: readonly JsonObject[];
  /** index of the current step */
  readonly current: number;
  /** when the plan was set */
  readonly at: number;
};

export type ToolUse = { readonly tool: string; readonly input: JsonObject };

/** The plan after one more event; `call` is the input of the call that the event is about. */
export function progressAfter(
  before: PlanProgress | null,
  event: DurableEvent,
  call: ToolUse | undefined,
): PlanProgress | null {
  if (event.type === 'call.deferred' && call?.tool === 'browser_act')
    return before && { ...before, current: stepOf(before, call.input) };
  if (event.type !== 'tool.ended' || event.outcome !== 'ok' || !call) return before;
  if (call.tool === 'browser_plan')
    return { turn: event.turn, steps: stepsIn(call.input), current: 0, at: event.at };
  // If a model does not number its actions, each counts as one step.
  if (call.tool === 'browser_act' && event.data && call.input.step === undefined)
    return before && { ...before, current: Math.min(before.current + 1, before.steps.length - 1) };
  return before;
}

/** The step of an action. */
export const stepOf = ({ steps, current }: PlanProgress, { step }: JsonObject): number =>
  typeof step === 'number' && step < steps.length ? step : current;

const stepsIn = ({ steps }: JsonObject): JsonObject[] =>
  Array.isArray(steps) ? steps.filter(isObject).map((step) => step as JsonObject) : [];
