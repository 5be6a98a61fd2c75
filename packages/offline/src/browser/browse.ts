/**
 * A browser task: plans once, then acts step by step on the current page. Everything is derived from the prompt each time; text
 * of a page is untrusted.
 */
import { type Page, sendAction } from '@parlance/copilot';
import type { JsonObject } from '@parlance/protocol';
import { type Answer, type Request, request } from '../plan.ts';
import { currentTurn, type FinishedCall, type Item, type Prompt } from '../prompt.ts';
import { type BrowserStep, nextAction } from './step.ts';
import { planTask, UNKNOWN } from './task.ts';

/** Number of failures of one step after which the task fails. */
const MAX_ATTEMPTS = 3;

/** Null if the prompt is not a browser task. */
export function browse(prompt: Prompt): Answer | null {
  if (!prompt.tools.some((tool) => tool.name === 'browser_act')) return null;
  const { request: query, calls, start } = currentTurn(prompt.items);
  const pages = prompt.items.slice(start).flatMap(pageIn);
  const questions = calls.filter(({ tool }) => tool === 'browser_ask');
  const lastQuestion = questions.at(-1);
  // The answer to a question replaces the request.
  const since = lastQuestion ? calls.slice(calls.indexOf(lastQuestion) + 1) : calls;
  const planned = planTask(
    lastQuestion ? (lastQuestion.text.split('\n')[0] ?? '') : query,
    pageOfRequest(pages, calls, since),
  );
  if ('question' in planned) {
    if (questions.length >= 2) return finish('failed', `I could not do it: ${planned.question}`);
    return callAnswer(request('browser_ask', { question: planned.question, missing: [...planned.missing] }));
  }
  if (!since.some(({ tool, failed }) => tool === 'browser_plan' && !failed))
    return callAnswer(planCall(planned.steps));
  return nextStep(
    planned.steps,
    since.filter(({ tool }) => tool === 'browser_act'),
    pages.at(-1) ?? UNKNOWN,
  );
}

function nextStep(steps: readonly BrowserStep[], actions: readonly FinishedCall[], page: Page): Answer {
  const index = actions.filter(({ failed }) => !failed).length;
  const step = steps[index];
  if (!step) return finish('completed', `Done: ${steps.map(({ description }) => description).join('; ')}.`);
  const tries = actions.filter(({ failed, input }) => failed && input.step === index);
  if (step.reads && page.textMissing === 'onRequest')
    return callAnswer(request('browser_read', { reason: 'I read the whole page to answer that.' }));
  const next = nextAction(step, page);
  if ('answer' in next) return finish('completed', next.answer);
  if ('missing' in next) {
    const isUnread = step.reads && page.textMissing !== undefined;
    const reason = isUnread ? 'the browser did not send the text of the page.' : next.missing;
    return finish('failed', `I cannot continue: ${reason}`);
  }
  const sent = sendAction(next.action);
  if (!sent) return finish('failed', 'I cannot continue: this text cannot be sent to the browser.');
  const { text: action, note } = sent;
  if (tries.length >= MAX_ATTEMPTS || tries.some(({ input }) => input.action === action)) {
    const reason = tries.at(-1)?.text.split('\n')[0] ?? 'it did not work';
    return finish('failed', `“${step.description}” did not work. ${reason}`);
  }
  const input: JsonObject = {
    thought: note ? `${next.thought} ${note}` : next.thought,
    action,
    step: index,
  };
  return callAnswer(request('browser_act', { ...input, ...expected(step) }));
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

const callAnswer = (call: Request): Answer => ({ text: '', calls: [call] });
const finish = (outcome: 'completed' | 'failed', message: string): Answer =>
  callAnswer(request('browser_finish', { outcome, message }));

function pageIn(item: Item): Page[] {
  const data = item.kind === 'user' || item.kind === 'result' ? item.data : undefined;
  return data?.page ? [data.page as unknown as Page] : [];
}

/** The plan is made for the page of the request. */
function pageOfRequest(
  pages: readonly Page[],
  calls: readonly FinishedCall[],
  since: readonly FinishedCall[],
): Page {
  const later = since.filter(({ tool }) => tool === 'browser_act' || tool === 'browser_read').length;
  return pages[calls.length === since.length ? 0 : Math.max(0, pages.length - 1 - later)] ?? UNKNOWN;
}
