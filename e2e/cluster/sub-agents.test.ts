/** Sub-agents on three nodes: the session, its sub-agents and the people who answer are on different ones. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { connect } from '@parlance/sdk';
import { textOf } from '../../packages/protocol/src/index.ts';
import { until } from '../../packages/server/src/testing/until.ts';
import { type Step, scriptedConversations, spawn } from '../conversations.ts';
import type { ScriptedModel } from '../scripted-model.ts';
import { durableOf, type ServerProcess, submit } from '../server-process.ts';
import { type Cluster, missing, startCluster } from './nodes.ts';

const SESSION = 'delegating';

describe.skipIf(missing !== null)(
  `sub-agents on three nodes${missing ? ` (not here: ${missing})` : ''}`,
  () => {
    let cluster: Cluster;
    let model: ScriptedModel;
    const go = Promise.withResolvers<void>();
    const reached = new Set<string>();

    /** Answers when the test lets it, also if it is asked again. */
    const held =
      (name: string): Step =>
      async () => {
        reached.add(name);
        await go.promise;
        return { say: `${name} is done.` };
      };
    const effect = (name: string): Step => ({
      call: 'shell',
      input: { command: ['sh', '-c', `echo ${name} >> effects.txt`] },
    });

    beforeAll(async () => {
      model = scriptedConversations({
        'Do it': [
          { calls: ['one', 'two', 'three'].map((name) => spawn(name, `Task ${name}`)) },
          { say: 'All done.' },
        ],
        'Task one': [effect('one'), held('one')],
        'Task two': [effect('two'), held('two')],
        'Task three': [held('three')],
      });
      cluster = await startCluster({ ...model.settings, TOOL_USE_APPROVAL_MODE: 'suggest' });
    });
    afterAll(async () => {
      await cluster?.stop();
      model?.stop();
    });

    /** Answers the approval of that sub-agent on the node, which drives it from then on. */
    async function allow(node: ServerProcess, name: string): Promise<void> {
      const { approvals } = connect({ url: node.http });
      await until(async () => {
        const pending = await approvals.list();
        const asked = pending.find(
          ({ session, ask }) => session === SESSION && ask.description.startsWith(`Coder › ${name}:`),
        );
        if (asked) await approvals.answer(asked.id, { answer: 'once' });
        return asked;
      });
    }

    test('are answered anywhere, and survive the nodes of their parent and their own', async () => {
      const [first, second, third] = await cluster.startThree();
      expect(await submit(first, SESSION, 'Do it')).toBe(true);
      await until(() => reached.has('three'));
      await allow(third, 'one');
      await until(() => reached.has('one'));
      // The parent and the third sub-agent are driven here.
      await first.kill();
      await allow(second, 'two');
      await until(() => reached.has('two'));
      // The first sub-agent is driven here.
      await third.kill();
      go.resolve();
      await until(async () => (await durableOf(second, SESSION)).some(({ type }) => type === 'turn.ended'));
      const events = await durableOf(second, SESSION);
      const outcomes = events.flatMap((event) => (event.type === 'tool.ended' ? [textOf(event.parts)] : []));
      expect(outcomes.sort()).toEqual(['one is done.', 'three is done.', 'two is done.']);
      expect(readFileSync(join(cluster.folder, 'effects.txt'), 'utf8').trim().split('\n').sort()).toEqual([
        'one',
        'two',
      ]);
      const { sessions } = await connect({ url: second.http }).sessions.list({ parent: SESSION });
      expect(sessions.map(({ title, status }) => `${title} ${status}`).sort()).toEqual([
        'one idle',
        'three idle',
        'two idle',
      ]);
      for (const { id } of sessions) {
        const types = (await durableOf(second, id)).map(({ type }) => type);
        for (const once of ['session.created', 'input.accepted', 'turn.ended'] as const)
          expect([id, types.filter((type) => type === once)]).toEqual([id, [once]]);
      }
    });
  },
);
