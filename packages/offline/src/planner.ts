/** Finds the position of the turn in its plan, from its calls, and produces the next answer. */
import type { Act, Answer, Deed, Plan, Request, Scene, Step } from './plan.ts';
import type { Done } from './prompt.ts';
import { react } from './reaction.ts';
import { worked } from './result.ts';

export function nextAnswer(plan: Plan, scene: Scene): Answer {
  const { done } = scene.turn;
  let used = 0;
  let well = true;
  let spoken: string[] = [];
  const answer = (more: Partial<Answer>): Answer => ({
    reasoning: done.length === 0 ? plan.reasoning : undefined,
    text: spoken.filter((text) => text !== '').join('\n\n'),
    ...more,
  });

  for (const [index, step] of plan.steps.entries()) {
    if (step.dependent && !well) {
      spoken.push(leftOut(plan.steps.slice(index)));
      break;
    }
    const act = step.act(done.slice(0, used));
    if ('say' in act) {
      spoken.push(act.say);
      if (act.fault) return answer({ fault: act.fault });
      continue;
    }
    const taken = takenBy(act, done.slice(used));
    if (taken.length > 0) {
      used += taken.length;
      well = taken.every(({ result }) => worked(result));
      spoken = taken.map(({ deed, result }) => react(result, deed.report));
      continue;
    }
    // Later calls exist: this step was skipped at its time, and stays so.
    if (used < done.length) continue;
    const calls = act.deeds.flatMap((deed) => chosen(deed, scene) ?? []);
    well = calls.length === act.deeds.length;
    for (const deed of act.deeds) if (!chosen(deed, scene)) spoken.push(unavailable(step, deed));
    if (calls.length === 0) continue;
    spoken.push(`${used > 0 ? 'Next, ' : ''}I'll ${step.title}.`);
    return answer({ calls });
  }

  // Calls without a step were direct calls of a user: only their results are reported.
  if (used < done.length)
    spoken = done
      .slice(used)
      .slice(-3)
      .map((result) => react(result));
  return answer({});
}

function takenBy(act: Act & { deeds: readonly Deed[] }, done: readonly Done[]) {
  const taken: { deed: Deed; result: Done }[] = [];
  for (const deed of act.deeds) {
    const result = done[taken.length];
    if (result && deed.options.some(({ tool }) => tool === result.tool)) taken.push({ deed, result });
  }
  return taken;
}

const chosen = (deed: Deed, scene: Scene): Request | undefined =>
  deed.options.find(({ tool }) => scene.tools.has(tool));

const BROWSER_TOOLS = new Set(['open_url', 'dom_manipulation', 'extract_page_content', 'get_selected_text']);

function unavailable(step: Step, deed: Deed): string {
  const tool = deed.options[0]?.tool ?? '';
  const why = BROWSER_TOOLS.has(tool) ? ' No browser is connected that offers it.' : '';
  return `I would ${step.title}, but the tool \`${tool}\` is not available here.${why}`;
}

const leftOut = (steps: readonly Step[]): string =>
  `Because that did not work, I left this out: ${steps.map(({ title }) => title).join('; ')}.`;
