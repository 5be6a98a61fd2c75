/**
 * A browser task: plans once, then acts step by step on the current page. Everything is derived from the prompt each time; text
 * of a page is untrusted.
 */
import { type Page, sendAction } from '@parlance/copilot';
import type { JsonObject } from '@parlance/protocol';
import { type Answer, type Request, request } from '../plan.ts';
import { currentTurn, type Done, type Item, type Prompt } from '../prompt.ts';
import { type BrowserStep, nextAction } from './step.ts';
import { planTask, UNKNOWN } from './task.ts';

/** Number of failures of one step after which the task fails. */
const MAX_ATTEMPTS = 3;

/** Null if the prompt is not a browser task. */
export function browse(prompt: Prompt): Answer | null {
  if (!prompt.tools.some((tool) => tool.name === 'browser_act')) return null;
  const { request: query, done, start } = currentTurn(prompt.items);
  const pages = prompt.items.slice(start).flatMap(pageIn);
  const asked = done.filter(({ tool }) => tool === 'browser_ask');
  const wanted = asked.at(-1);
  // The answer to a question replaces the request.
  const since = wanted ? done.slice(done.indexOf(wanted) + 1) : done;
  const planned = planTask(
    wanted ? (wanted.text.split('\n')[0] ?? '') : query,
    pageWhenAsked(pages, done, since),
  );
  if ('question' in planned) {
    if (asked.length >= 2) return finish('failed', `I could not do it: ${planned.question}`);
    return calling(request('browser_ask', { question: planned.question, missing: [...planned.missing] }));
  }
  if (!since.some(({ tool, failed }) => tool === 'browser_plan' && !failed))
    return calling(planCall(planned.steps));
  return acting(
    planned.steps,
    since.filter(({ tool }) => tool === 'browser_act'),
    pages.at(-1) ?? UNKNOWN,
  );
}

function acting(steps: readonly BrowserStep[], acts: readonly Done[], page: Page): Answer {
  const index = acts.filter(({ failed }) => !failed).length;
  const step = steps[index];
  if (!step) return finish('completed', `Done: ${steps.map(({ description }) => description).join('; ')}.`);
  const tries = acts.filter(({ failed, input }) => failed && input.step === index);
  if (step.reads && page.textMissing === 'onRequest')
    return calling(request('browser_read', { reason: 'I read the whole page to answer that.' }));
  const next = nextAction(step, page);
  if ('answer' in next) return finish('completed', next.answer);
  if ('missing' in next) return finish('failed', `I cannot continue: ${next.missing}`);
  const sent = sendAction(next.action);
  if (!sent) return finish('failed', 'I cannot continue: this text cannot be sent to the browser.');
  const { text: action, note } = sent;
  if (tries.length >= MAX_ATTEMPTS || tries.some(({ input }) => input.action === action)) {
    const why = tries.at(-1)?.text.split('\n')[0] ?? 'it did not work';
    return finish('failed', `“${step.description}” did not work. ${why}`);
  }
  const input: JsonObject = {
    thought: note ? `${next.thought} ${note}` : next.thought,
    action,
    step: index,
  };
  return calling(request('browser_act', { ...input, ...expected(step) }));
}

const expected = ({ expectedOutcome }: BrowserStep): JsonObject =>
  expectedOutcome ? { expectedOutcome } : {};

const planCall = (steps: readonly BrowserStep[]): Request =>
  request('browser_plan', {
    steps: steps.map((step) => ({
      description: step.description,
      reasoning: step.reads ? 'The page itself is the source of the answer.' : 'The request asks for it.',
      toolType: step.reads ? 'SERVER' : 'DOM',
      ...expected(step),
    })),
  });

const calling = (call: Request): Answer => ({ text: '', calls: [call] });
const finish = (outcome: 'completed' | 'failed', message: string): Answer =>
  calling(request('browser_finish', { outcome, message }));

function pageIn(item: Item): Page[] {
  const data = item.kind === 'user' || item.kind === 'result' ? item.data : undefined;
  return data?.page ? [data.page as unknown as Page] : [];
}

/** The plan is made for the page of the request. */
function pageWhenAsked(pages: readonly Page[], done: readonly Done[], since: readonly Done[]): Page {
  const later = since.filter(({ tool }) => tool === 'browser_act' || tool === 'browser_read').length;
  return pages[done.length === since.length ? 0 : Math.max(0, pages.length - 1 - later)] ?? UNKNOWN;
}
