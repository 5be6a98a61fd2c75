/** A failure as a person reads it: at most a screen. */
import type { Plan } from './plan.ts';
import type { RunResult } from './run.ts';

const SCREEN = 36;
const WIDTH = 170;

const planLines = ({ seed, about, nodes, clients, faults, activeMs, erases, can }: Plan): string[] => [
  [
    `seed ${seed}: a world about ${about}, ${nodes} node${nodes === 1 ? '' : 's'}`,
    `${activeMs / 1_000} s`,
    ...(erases > 0 ? ['clients erase sessions'] : []),
    ...(can.subAgents > 0 ? ['sub-agents'] : []),
    ...(can.limits ? [`limits ${JSON.stringify(can.limits)}`] : []),
    ...(can.rewinds > 0 ? ['rewinds'] : []),
    ...(can.instructions ? ['instructions of the project'] : []),
  ].join(', '),
  ...clients.map(
    ({ name, sessions, pace }) =>
      `  ${name} uses ${sessions.map((number) => `s${number}`).join(', ')}, an action every ${pace} ms`,
  ),
  ...faults
    .toSorted((one, other) => one.at - other.at)
    .map(
      ({ kind, at, forMs, node, ...rest }) =>
        `  ${kind} at ${at / 1_000} s for ${forMs} ms, node ${node + 1} ${Object.keys(rest).length > 0 ? JSON.stringify(rest) : ''}`,
    ),
];

/** The lines about the session of the violation, and what concerns all sessions. */
function traceOf({ trace, violation }: RunResult): string[] {
  const session = /^(s\d+): /.exec(violation ?? '')?.[1];
  const concerns = (line: string) => {
    const named = /\bs\d+\b/.exec(line.slice(20));
    return !session || !named || new RegExp(`\\b${session}\\b`).test(line);
  };
  return trace.filter(concerns).slice(-SCREEN);
}

export const describeFailure = (result: RunResult): string =>
  [
    `FAILED: ${result.violation}`,
    ...planLines(result.plan),
    '  …',
    ...traceOf(result).map((line) => (line.length > WIDTH ? `${line.slice(0, WIDTH)}…` : line)),
  ].join('\n');
