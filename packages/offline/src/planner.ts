/** Finds the position of the turn in its plan, from its calls, and produces the next answer. */

import { typed } from './command-line.ts';
import type { Answer, Plan, PlanContext, PlannedCall, Request, Step, StepOutput } from './plan.ts';
import type { FinishedCall } from './prompt.ts';
import { outcomeOf, worked } from './result.ts';
import { code, quoted, shown } from './text.ts';

export function nextAnswer(plan: Plan, context: PlanContext): Answer {
  const { calls: finished } = context.turn;
  let used = 0;
  let succeeded = true;
  let reports: string[] = [];
  const answer = (more: Partial<Answer>): Answer => ({
    reasoning: finished.length === 0 ? plan.reasoning : undefined,
    text: reports.filter((text) => text !== '').join('\n\n'),
    ...more,
  });

  for (const [index, step] of plan.steps.entries()) {
    if (step.dependent && !succeeded) {
      reports.push(skipped(plan.steps.slice(index)));
      break;
    }
    const output = step.run(finished.slice(0, used));
    if ('text' in output) {
      reports.push(output.text);
      if (output.fault) return answer({ fault: output.fault });
      continue;
    }
    const matched = matchCalls(output, finished.slice(used));
    if (matched.length > 0) {
      used += matched.length;
      succeeded = matched.every(({ result }) => worked(result));
      reports = matched.map(({ planned, result }) => react(result, planned.report));
      continue;
    }
    // Later calls exist: this step was skipped at its time, and stays so.
    if (used < finished.length) continue;
    const calls = output.calls.flatMap((planned) => chosen(planned, context) ?? []);
    succeeded = calls.length === output.calls.length;
    for (const planned of output.calls)
      if (!chosen(planned, context)) reports.push(unavailable(step, planned));
    if (calls.length === 0) continue;
    reports.push(`${used > 0 ? 'Next, ' : ''}I'll ${step.title}.`);
    return answer({ calls });
  }

  // Calls without a step were direct calls of a user: only their results are reported.
  if (used < finished.length)
    reports = finished
      .slice(used)
      .slice(-3)
      .map((result) => react(result));
  return answer({});
}

function matchCalls(
  output: StepOutput & { calls: readonly PlannedCall[] },
  finished: readonly FinishedCall[],
) {
  const matched: { planned: PlannedCall; result: FinishedCall }[] = [];
  for (const planned of output.calls) {
    const result = finished[matched.length];
    if (result && planned.options.some(({ tool }) => tool === result.tool)) matched.push({ planned, result });
  }
  return matched;
}

const chosen = (planned: PlannedCall, context: PlanContext): Request | undefined =>
  planned.options.find(({ tool }) => context.tools.has(tool));

const BROWSER_TOOLS = new Set(['open_url', 'dom_manipulation', 'extract_page_content', 'get_selected_text']);

function unavailable(step: Step, planned: PlannedCall): string {
  const tool = planned.options[0]?.tool ?? '';
  const why = BROWSER_TOOLS.has(tool) ? ' No browser is connected that offers it.' : '';
  return `I would ${step.title}, but the tool \`${tool}\` is not available here.${why}`;
}

const skipped = (steps: readonly Step[]): string =>
  `Because that did not work, I left this out: ${steps.map(({ title }) => title).join('; ')}.`;

// Describes the result of a call.

function react(call: FinishedCall, report?: PlannedCall['report']): string {
  const outcome = outcomeOf(call);
  const name = nameOf(call);
  switch (outcome.kind) {
    case 'ok':
      return report ? report(call) : success(name, outcome.output, outcome.exitCode);
    case 'failed': {
      const how = outcome.exitCode === null ? 'failed' : `failed with exit code ${outcome.exitCode}`;
      if (outcome.output.trim() === '') return `${name} ${how} and said nothing about why.`;
      return `${name} ${how}:${shown(outcome.output)}`;
    }
    case 'denied': {
      const reason =
        outcome.reason === '' ? 'No reason was given.' : `The reason: ${quoted(outcome.reason, 300)}.`;
      return `${name} was denied, so it did not run and nothing was changed. ${reason}`;
    }
    case 'aborted':
      return `${name} was aborted before it finished.`;
    case 'unknown':
      return `The outcome of ${name} is unknown: the server was restarted while it ran. It may have happened wholly, in part or not at all. I did not repeat it; please check before you ask again.`;
  }
}

function success(name: string, output: string, exitCode: number | null): string {
  const how = exitCode === null ? 'worked' : `ended with exit code ${exitCode}`;
  if (output.trim() === '') return `${name} ${how} and printed nothing.`;
  return exitCode === null ? `${name} gave:${shown(output)}` : `${name} ${how} and printed:${shown(output)}`;
}

function nameOf(call: FinishedCall): string {
  const { command } = call.input;
  if (!Array.isArray(command)) return code(call.tool);
  return code(typed(command.map(String)));
}
