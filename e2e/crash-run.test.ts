/** A short run of `npm run test:crash`, and every seed that once found a bug. No timing assertions. */
import { expect, test } from 'bun:test';
import { slowness } from '../packages/server/src/testing/until.ts';
import { missing } from './cluster/nodes.ts';
import { runCluster } from './crash-run/cluster/run.ts';
import { reportOf } from './crash-run/report.ts';
import { run } from './crash-run/run.ts';
import { BAD_SEEDS } from './crash-run/seeds.ts';

const SEEDS = [{ seed: 2024, kills: 6, found: 'nothing yet' }, ...BAD_SEEDS];

for (const { seed, kills, found } of SEEDS) {
  test(`nothing is lost in ${kills} kills with seed ${seed} (${found})`, async () => {
    const outcome = await run({ seed, kills, seconds: 60 * slowness() });
    if (outcome.violations.length > 0) console.log(reportOf(seed, outcome).join('\n'));
    expect(outcome.violations).toEqual([]);
    expect(outcome.faults.faults).toHaveLength(kills);
    const acknowledged = outcome.evidence.sent.filter((message) => message.acknowledged);
    expect(new Set(acknowledged.map(({ dialect }) => dialect))).toEqual(
      new Set(['agentloop', 'broadcast', 'conversations', 'copilot', 'extension', 'native']),
    );
  });
}

test.skipIf(missing !== null)(
  `nothing is lost when nodes, PostgreSQL and Valkey are killed${missing ? ` (${missing})` : ''}`,
  async () => {
    const seed = 2024;
    const outcome = await runCluster({ seed, kills: 5, seconds: 60 * slowness() });
    if (outcome.violations.length > 0) console.log(reportOf(seed, outcome).join('\n'));
    expect(outcome.violations).toEqual([]);
    expect(outcome.evidence.sent.filter(({ acknowledged }) => acknowledged)).not.toBeEmpty();
  },
);
