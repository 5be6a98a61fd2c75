/** Spend limits on three nodes over one PostgreSQL. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { connect } from '@parlance/sdk';
import { until } from '../../packages/server/src/testing/until.ts';
import { type ScriptedModel, scriptedModel } from '../scripted-model.ts';
import { durableOf, postJson, type ServerProcess, submit } from '../server-process.ts';
import { type Cluster, LONG_LEASE, missing, startCluster } from './nodes.ts';

const STEP = 105;
const LIMIT = 8_000;
const SESSIONS = 9;

describe.skipIf(missing !== null)(
  `spend limits on three nodes${missing ? ` (not here: ${missing})` : ''}`,
  () => {
    let cluster: Cluster;
    let model: ScriptedModel;
    let nodes: readonly ServerProcess[] = [];

    beforeAll(async () => {
      // Works until it is stopped.
      model = scriptedModel(() => ({
        call: 'update_plan',
        input: { plan: [{ step: 'Go on', status: 'pending' }] },
      }));
      cluster = await startCluster({ ...model.settings, ...LONG_LEASE, MAX_ITERATIONS: '100' });
      nodes = await cluster.startThree();
    });
    afterAll(async () => {
      await cluster?.stop();
      model?.stop();
    });

    const of = (index: number): ServerProcess => {
      const node = nodes[index % nodes.length];
      if (!node) throw new Error('no node');
      return node;
    };

    test('are one sum: turns at the same time on all nodes overshoot one by at most a step each, and none begins after it', async () => {
      const parlance = connect({ url: of(0).http });
      const spendLimits = [{ per: 'user', in: 'month', tokens: LIMIT }] as const;
      await parlance.admin.settings.change({ version: 0, values: { spendLimits: [...spendLimits] } });
      await until(async () => {
        const limits = await Promise.all(nodes.map(({ http }) => connect({ url: http }).usage.limits()));
        return limits.every(([limit]) => limit?.max === LIMIT);
      });
      const ids = Array.from({ length: SESSIONS }, (_, index) => `spending-${index}`);
      const accepted = await Promise.all(ids.map((id, index) => submit(of(index), id, 'Go')));
      expect(accepted).toEqual(ids.map(() => true));
      const logs = () => Promise.all(ids.map((id, index) => durableOf(of(index + 1), id)));
      await until(async () => (await logs()).every((events) => events.at(-1)?.type === 'turn.failed'));
      const all = await logs();
      for (const events of all) expect(events.at(-1)).toMatchObject({ fault: { code: 'budget_exhausted' } });
      const steps = all.flat().filter(({ type }) => type === 'step.ended').length;
      const { rows } = await parlance.usage.report({ by: ['user'] });
      expect(rows).toMatchObject([{ user: 'local', calls: steps }]);
      const used = steps * STEP;
      expect(used).toBeLessThan(LIMIT + SESSIONS * STEP);
      expect(used).toBeGreaterThan(LIMIT - SESSIONS * 2 * STEP);
      // Announced once, by one of them.
      expect(all.flat().filter(({ type }) => type === 'limit.approached')).toHaveLength(1);
      for (const [index, id] of ids.entries()) {
        const command = { type: 'input.submit', parts: [{ type: 'text', text: 'More' }] };
        const { status, body } = await postJson(`${of(index).http}/v1/sessions/${id}/commands`, command);
        if (used >= LIMIT)
          expect([status, (body.error as { code: string }).code]).toEqual([429, 'budget_exhausted']);
      }
    });
  },
);
