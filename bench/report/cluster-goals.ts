/** The goals for several nodes. */
import type { Cell, Find } from './find-figure.ts';
import { type Goal, NOT_MEASURED } from './goal.ts';

const EMBEDDED = { table: 'cluster', subject: 'SQLite', size: 1 };
const OWN = { table: 'cluster', subject: 'PostgreSQL, clients on their own node', size: 1 };
const ELSEWHERE = { table: 'cluster', subject: 'PostgreSQL, readers on other nodes', size: 2 };

export function clusterGoals(find: Find): Goal[] {
  const ratio = (goal: string, cell: Omit<Cell, 'key'>, most: number): Goal => {
    const ours = find({ ...cell, key: 'cpuPerToken' });
    const embedded = find({ ...EMBEDDED, key: 'cpuPerToken' });
    if (ours === null || embedded === null) return { goal, ...NOT_MEASURED };
    const times = ours / embedded;
    return {
      goal,
      figure: `${times.toFixed(2)} × (${ours.toFixed(1)} against ${embedded.toFixed(1)} µs)`,
      met: times <= most,
    };
  };
  const atMost = (goal: string, cell: Cell, { most, unit }: { most: number; unit: string }): Goal => {
    const found = find(cell);
    if (found === null) return { goal, ...NOT_MEASURED };
    // The idle work of nodes is estimated and subtracted, so the second decimal is meaningless.
    const figure = Number(found.toFixed(1));
    return { goal, figure: `${figure} ${unit}`, met: figure <= most };
  };
  const transactions = (key: string, most: number) =>
    [
      { ...OWN, key },
      { most, unit: 'transactions' },
    ] as const;
  return [
    ratio('PostgreSQL, own clients: at most 1.1 times the CPU of the embedded store', OWN, 1.1),
    ratio('PostgreSQL, all readers on other nodes: at most twice', ELSEWHERE, 2),
    atMost('a simple turn in at most 3 transactions', ...transactions('perTurn', 3)),
    atMost('with one tool call in at most 4', ...transactions('withCall', 4)),
    atMost(
      'p99 added delay under 15 ms over the bus',
      { ...ELSEWHERE, key: 'p99' },
      { most: 15, unit: 'ms' },
    ),
  ];
}
