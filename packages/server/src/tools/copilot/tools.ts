/**
 * Tools for a model that drives the browser of a copilot client: plan, act, verify, ask and finish. The
 * client executes actions and questions with its next request.
 */
import {
  actionProblem,
  isExtended,
  lastPage,
  type PlanProgress,
  parseWritten,
  progressAfter,
  sendAction,
  stepOf,
  type ToolUse,
  usageOf,
  wordsOf,
} from '@parlance/copilot';
import { type DurableEvent, Fault, type JsonObject, JsonValue, textOf, textPart } from '@parlance/protocol';
import { z } from 'zod';
import { defineTool, type Tool } from '../../core/ports/tool.ts';

const MAX_ACTIONS = 50;
const MAX_FAILED_IN_A_ROW = 5;

const Thought = z
  .string()
  .min(1)
  .max(2_000)
  .describe('Your reasoning in one or two sentences, shown to the user.');
const Outcome = z
  .record(z.string(), JsonValue)
  .optional()
  .describe('The expected state of the page afterwards.');

/** Runs alone and without approval, and only for agents that name it. */
const browserTool = <Schema extends z.ZodType>(
  tool: Omit<Tool<Schema>, 'exclusive' | 'optIn' | 'approval'>,
): Tool => defineTool({ ...tool, exclusive: 'always', optIn: true, approval: () => null });

const plan = browserTool({
  name: 'browser_plan',
  description: 'Sets or replaces the plan for the task. Call it first, and again whenever the plan changes.',
  input: z.object({
    steps: z
      .array(
        z.object({
          description: z.string().min(1).max(300),
          reasoning: z.string().max(500).optional(),
          toolType: z.enum(['DOM', 'SERVER', 'MIXED']).default('DOM'),
          expectedOutcome: Outcome,
        }),
      )
      .min(1)
      .max(10),
  }),
  repeatable: true,
  run: async ({ steps }) => ({ parts: [textPart(`The plan has ${steps.length} steps.`)], notice: true }),
});

const act = browserTool({
  name: 'browser_act',
  description: [
    'Performs one action in the browser, such as click(12), setValue(7, "tea"), selectDropdown(9, "Blue"), navigate("https://example.com"), press("Enter"), scroll(true), scroll(false, 2), wait(1).',
    'Numbers are element numbers on the page. The result shows the page after the action.',
    'Text is entered exactly as written between the quotes, including line breaks, without escape sequences. Use a quote character that does not occur in the text: ", \' or `.',
    'scroll takes (down: true or false, pages: number, index: number of an element); all are optional, and none is text.',
    'For a list of options use selectDropdown(number, "option"); do not click it.',
  ].join(' '),
  input: z.object({
    thought: Thought,
    action: z.string().min(1).max(20_000),
    step: z
      .number()
      .int()
      .min(0)
      .optional()
      .describe('The step of the plan that this action belongs to, counted from 0.'),
    expectedOutcome: Outcome,
  }),
  deferred: true,
  sends: ({ action }, { eventsSinceIdle }) => sendsElsewhere(action, eventsSinceIdle),
  async run({ action: written, step }, { eventsSinceIdle }) {
    const action = parseWritten(written);
    if (!action) throw new Fault('tool_failed', unreadable(written));
    if (action.name === 'finish' || action.name === 'fail') {
      throw new Fault('tool_failed', 'End the task with browser_finish.');
    }
    const acts = actsSoFar(eventsSinceIdle);
    if (acts.count >= MAX_ACTIONS)
      throw new Fault('tool_failed', `The task has reached its limit of ${MAX_ACTIONS} actions: end it.`);
    if (acts.failedInARow >= MAX_FAILED_IN_A_ROW) {
      throw new Fault(
        'tool_failed',
        'The last five actions had no effect: ask the user, or end the task as failed.',
      );
    }
    const sent = sendAction(action);
    if (!sent)
      throw new Fault('tool_failed', 'The text contains all three quote characters: use at most two.');
    const page = lastPage(eventsSinceIdle);
    if (isExtended(action.name) && !page?.extended)
      throw new Fault('tool_failed', `This browser does not execute ${action.name}.`);
    const problem = page && actionProblem(sent.action, page);
    if (problem) throw new Fault('tool_failed', problem);
    return { parts: [], ...(beginsStep(eventsSinceIdle, { step: step ?? null }) && { notice: true }) };
  },
});

/**
 * Whether an action sends what the model wrote to another site than the open one, unless the user named it. Our own
 * extension asks about other sites and code itself.
 */
function sendsElsewhere(written: string, events: readonly DurableEvent[]): boolean {
  const parsed = parseWritten(written);
  // An action that cannot be sent fails.
  const action = parsed && sendAction(parsed)?.action;
  const page = lastPage(events);
  const said = events
    .flatMap((event) =>
      event.type === 'input.accepted' ? textOf(event.parts) : 'said' in event ? (event.said ?? '') : '',
    )
    .join('\n')
    .toLowerCase();
  switch (action?.name) {
    case 'search':
      return !wordsOf(action.query).every((word) => word.length <= 3 || wordsOf(said).includes(word));
    case 'navigate':
    case 'createTab': {
      const from = URL.parse(page?.url ?? '');
      const to = URL.parse(action.url);
      const isNamed = to !== null && said.includes(to.hostname.replace(/^www\./, ''));
      return !page?.extended && !isNamed && from?.origin !== to?.origin;
    }
    case 'evaluate':
      return !page?.extended;
    default:
      return false;
  }
}

function unreadable(written: string): string {
  const usage = usageOf(/^\w{1,32}/.exec(written)?.[0] ?? '');
  return `Not an action: ${written.slice(0, 200)}${usage === null ? '' : `. Expected ${usage}.`}`;
}

const verify = browserTool({
  name: 'browser_verify',
  description: 'Records whether the last action had the intended effect.',
  input: z.object({
    success: z.boolean(),
    confidence: z.number().min(0).max(1),
    reason: z.string().min(1).max(1_000),
  }),
  repeatable: true,
  run: async ({ success, confidence, reason }) => ({
    parts: [textPart('Noted.')],
    data: { success, confidence, reason },
  }),
});

const ask = browserTool({
  name: 'browser_ask',
  description: 'Asks the user for missing information. The result is the answer.',
  input: z.object({
    thought: Thought.optional(),
    question: z.string().min(1).max(2_000),
    missing: z.array(z.string().min(1).max(200)).max(20).default([]),
  }),
  deferred: true,
  run: async () => ({ parts: [] }),
});

const read = browserTool({
  name: 'browser_read',
  description:
    'Gets the complete page including its text, if the page was shown without it. Use it when you need to read the page.',
  input: z.object({
    reason: z.string().min(1).max(500).describe('Why the text is needed, shown to the user.'),
  }),
  deferred: true,
  async run(_input, { eventsSinceIdle }) {
    const missing = lastPage(eventsSinceIdle)?.textMissing;
    if (missing === undefined) throw new Fault('tool_failed', 'The text of the page has already been sent.');
    if (missing === 'unavailable')
      throw new Fault(
        'tool_failed',
        'This client does not send the text of the page: use getText(number), or screenshot() if you can see images.',
      );
    return { parts: [] };
  },
});

const finish = browserTool({
  name: 'browser_finish',
  description: 'Ends the task: as completed, with what was found or done, or as failed, with the reason.',
  input: z.object({ outcome: z.enum(['completed', 'failed']), message: z.string().min(1).max(10_000) }),
  run: async ({ outcome, message }, { eventsSinceIdle }) => ({
    parts: [textPart(message)],
    failed: outcome === 'failed',
    final: true,
    ...(hasPlan(eventsSinceIdle) && { notice: true }),
  }),
});

export const COPILOT_TOOLS: readonly Tool[] = [plan, act, read, verify, ask, finish];

// Reads the progress of a task from the log.

/** Number of executed actions, and of trailing ones without effect. */
function actsSoFar(events: readonly DurableEvent[]): {
  readonly count: number;
  readonly failedInARow: number;
} {
  const acts = new Set<string>();
  let count = 0;
  let failedInARow = 0;
  for (const event of events) {
    if (event.type === 'call.requested' && event.tool === 'browser_act') acts.add(event.call);
    if (event.type === 'call.deferred' && acts.has(event.call)) count++;
    // Actions that never reached the client do not count: the model received an error and may correct it.
    if (event.type === 'tool.ended' && acts.has(event.call) && event.data?.verification) {
      failedInARow = event.outcome === 'ok' ? 0 : failedInARow + 1;
    }
  }
  return { count, failedInARow };
}

/** Whether this action is the first of a plan step that was not in progress when the plan was last shown. */
function beginsStep(events: readonly DurableEvent[], input: JsonObject): boolean {
  const { plan, shownStep } = planSoFar(events);
  return plan !== null && stepOf(plan, input) !== shownStep;
}

const hasPlan = (events: readonly DurableEvent[]): boolean => planSoFar(events).plan !== null;

function planSoFar(events: readonly DurableEvent[]): { plan: PlanProgress | null; shownStep: number } {
  const calls = new Map<string, ToolUse>();
  let plan: PlanProgress | null = null;
  let shownStep = 0;
  for (const event of events) {
    if (event.type === 'turn.started') plan = null;
    if (event.type === 'call.requested') calls.set(event.call, { tool: event.tool, input: event.input });
    if (event.type !== 'call.deferred' && event.type !== 'tool.ended') continue;
    const call = calls.get(event.call);
    plan = progressAfter(plan, event, call);
    if (plan && (event.type === 'call.deferred' || call?.tool === 'browser_plan')) shownStep = plan.current;
  }
  return { plan, shownStep };
}
