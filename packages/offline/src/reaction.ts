/** Describes the result of a call. */

import { typed } from './command-line.ts';
import type { PlannedCall } from './plan.ts';
import type { FinishedCall } from './prompt.ts';
import { outcomeOf } from './result.ts';
import { code, quoted, shown } from './text.ts';

export function react(call: FinishedCall, report?: PlannedCall['report']): string {
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
