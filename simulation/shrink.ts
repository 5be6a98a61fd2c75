/** Makes a failing plan small: drops faults, clients, watchers and nodes, and shortens it, as long as the same oracle fails. */
import type { Plan } from './plan.ts';
import { type RunResult, run } from './run.ts';

const MAX_ATTEMPTS = 200;

/** What an oracle says, without ids and numbers. */
export const kindOf = (violation: string): string =>
  violation
    .replace(/^\S+: /, '')
    .split('\n', 1)[0]
    ?.replace(/"[^"]*"|\[[^\]]*\]|\S*\d\S*/g, '…')
    .slice(0, 40) ?? '';

function* smaller(plan: Plan): Generator<Plan> {
  for (const drop of plan.faults) yield { ...plan, faults: plan.faults.filter((fault) => fault !== drop) };
  for (const drop of plan.clients)
    if (plan.clients.length > 1) yield { ...plan, clients: plan.clients.filter((client) => client !== drop) };
  if (plan.watched.length > 0) yield { ...plan, watched: [] };
  for (const client of plan.clients)
    for (const drop of client.sessions)
      if (client.sessions.length > 1) {
        const fewer = { ...client, sessions: client.sessions.filter((session) => session !== drop) };
        yield { ...plan, clients: plan.clients.map((one) => (one === client ? fewer : one)) };
      }
  const last = plan.nodes - 1;
  if (plan.nodes > 2 && !plan.faults.some(({ node }) => node === last)) yield { ...plan, nodes: last };
  if (plan.erases > 0) yield { ...plan, erases: 0 };
  const { can } = plan;
  if (can.subAgents > 0) yield { ...plan, can: { ...can, subAgents: 0 } };
  if (can.limits) yield { ...plan, can: { ...can, limits: null } };
  if (can.rewinds > 0) yield { ...plan, can: { ...can, rewinds: 0 } };
  if (can.instructions) yield { ...plan, can: { ...can, instructions: false } };
}

/** The shortest time in which it fails: the time of the violation is known, so nothing after it is needed. */
const shortened = (plan: Plan, { virtualMs }: RunResult): Plan => ({
  ...plan,
  activeMs: Math.min(plan.activeMs, Math.ceil(virtualMs)),
  faults: plan.faults.filter(({ at }) => at <= virtualMs),
});

export function shrink(failed: RunResult): RunResult {
  const kind = kindOf(failed.violation ?? '');
  const fails = (plan: Plan): RunResult | null => {
    const result = run(plan);
    return result.violation !== null && kindOf(result.violation) === kind ? result : null;
  };
  let best = fails(shortened(failed.plan, failed)) ?? failed;
  let attempts = 0;
  for (let progressed = true; progressed; ) {
    progressed = false;
    for (const plan of smaller(best.plan)) {
      if (++attempts > MAX_ATTEMPTS) return best;
      const result = fails(plan);
      if (!result) continue;
      best = fails(shortened(plan, result)) ?? result;
      progressed = true;
      break;
    }
  }
  return best;
}
