/** Sub-agents that are switched off, and limited in number, on a real server. */
import { expect, test } from 'bun:test';
import { textOf } from '../../packages/protocol/src/index.ts';
import { startTestServer } from '../../packages/server/src/testing/server.ts';
import { until } from '../../packages/server/src/testing/until.ts';
import { scriptedConversations, spawn } from '../conversations.ts';
import { durableOf, submit } from '../server-process.ts';

test('switched off, they cost nothing: no tool is offered, and a call of it starts nothing', async () => {
  const scripts = { Go: [{ calls: [spawn('one', 'One')] }, { say: 'Done.' }], One: [{ say: 'One.' }] };
  const sizes: number[] = [];
  for (const isOff of [true, false]) {
    const model = scriptedConversations(scripts);
    const server = await startTestServer({ ...model.settings, ...(isOff && { PARLANCE_SUB_AGENTS: '0' }) });
    try {
      await submit(server, 'session', 'Go');
      await until(async () => (await durableOf(server, 'session')).some(({ type }) => type === 'turn.ended'));
      const [first] = model.requests.filter(({ tools }) => tools);
      expect(first?.tools?.some((tool) => tool.function.name === 'agent')).toBe(!isOff);
      sizes.push(JSON.stringify(first?.tools).length);
      const events = await durableOf(server, 'session');
      const [ended] = events.flatMap((event) => (event.type === 'tool.ended' ? [textOf(event.parts)] : []));
      expect(ended).toBe(isOff ? 'Unknown tool: agent' : 'One.');
    } finally {
      await server.stop();
      model.stop();
    }
  }
  const [off = 0, on = 0] = sizes;
  expect(off).toBeLessThan(on);
});

test('by default eight work at once, and the ninth call is told so', async () => {
  const release = Promise.withResolvers<void>();
  const model = scriptedConversations({
    Go: [
      { calls: Array.from({ length: 9 }, (_, index) => spawn(`n${index}`, 'Wait for it')) },
      { say: 'Done.' },
    ],
    'Wait for it': [
      async () => {
        await release.promise;
        return { say: 'Here.' };
      },
    ],
  });
  const server = await startTestServer(model.settings);
  try {
    await submit(server, 'session', 'Go');
    const outcomes = async () =>
      (await durableOf(server, 'session')).flatMap((event) =>
        event.type === 'tool.ended' ? [textOf(event.parts)] : [],
      );
    await until(async () => (await outcomes()).length === 1);
    expect(await outcomes()).toEqual(['8 sub-agents already work. Wait for one of them.']);
    release.resolve();
    await until(async () => (await outcomes()).length === 9);
    expect((await outcomes()).slice(1)).toEqual(Array.from({ length: 8 }, () => 'Here.'));
  } finally {
    await server.stop();
    model.stop();
  }
});
