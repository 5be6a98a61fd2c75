/** Push notifications of A2A on two nodes: what a killed node has left is sent by another one. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { until } from '../../packages/server/src/testing/until.ts';
import { type ScriptedModel, scriptedModel } from '../scripted-model.ts';
import type { ServerProcess } from '../server-process.ts';
import { type Cluster, missing, startCluster } from './nodes.ts';

type Update = {
  task?: { status: { state: string } };
  statusUpdate?: { status: { state: string } };
};

describe.skipIf(missing !== null)(`several nodes${missing ? ` (not here: ${missing})` : ''}`, () => {
  let cluster: Cluster;
  let model: ScriptedModel;
  beforeAll(async () => {
    model = scriptedModel(({ messages }) =>
      messages.at(-1)?.role === 'tool'
        ? { say: 'Fine.' }
        : { call: 'shell', input: { command: ['touch', 'file'] } },
    );
    cluster = await startCluster({ ...model.settings, PARLANCE_PUSH_NOTIFICATIONS: 'any' });
  });
  afterAll(async () => {
    await cluster?.stop();
    model?.stop();
  });

  const rpc = async ({ http }: ServerProcess, method: string, params: object) => {
    const response = await fetch(`${http}/a2a`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    });
    return (await response.json()) as { result: { task: { id: string } } };
  };
  const message = (messageId: string, text: string, about: object = {}) => ({
    message: { messageId, role: 'ROLE_USER', parts: [{ text }], ...about },
  });

  test('updates are sent by one node, and after its death by another', async () => {
    const states: string[] = [];
    const receiver = Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      async fetch(request) {
        const { task, statusUpdate } = (await request.json()) as Update;
        const state = (task ?? statusUpdate)?.status.state;
        if (state) states.push(state);
        return new Response();
      },
    });
    try {
      const [first, second] = await cluster.startThree();
      const { result } = await rpc(first, 'SendMessage', {
        ...message('m1', 'touch it'),
        configuration: {
          taskPushNotificationConfig: { url: `http://127.0.0.1:${receiver.port}/` },
        },
      });
      await until(() => states.at(-1) === 'TASK_STATE_INPUT_REQUIRED');
      // Each once, although three nodes could send it.
      expect(new Set(states).size).toBe(states.length);
      await first.kill();
      await rpc(second, 'SendMessage', message('m2', 'yes', { taskId: result.task.id }));
      await until(() => states.at(-1) === 'TASK_STATE_COMPLETED');
    } finally {
      await receiver.stop(true);
    }
  });
});
