/** What "always" grants a model. */
import { expect, test } from 'bun:test';
import type { DurableEvent } from '../packages/protocol/src/index.ts';
import { startTestServer } from '../packages/server/src/testing/server.ts';
import { scriptedModel } from './scripted-model.ts';
import { followed, getJson, postJson, submit } from './server-process.ts';

type Approvals = { approvals: { id: string; ask: { command: string[]; grant?: string } }[] };

test('"always" covers the program inside the working directory; leaving it needs approval', async () => {
  const commands = [
    ['touch', 'one'],
    ['touch', 'two'],
    ['touch', '../three'],
  ];
  const model = scriptedModel((_, count) => {
    const command = commands[count - 1];
    return command ? { call: 'shell', input: { command } } : { say: 'Done.' };
  });
  const server = await startTestServer({ OPENAI_BASE_URL: model.url, OPENAI_API_KEY: 'key', MODEL: 'fake' });
  const asked = (count: number) => (events: readonly DurableEvent[]) =>
    events.filter(({ type }) => type === 'approval.requested').length === count;
  const waiting = async () => (await getJson<Approvals>(`${server.http}/v1/approvals`)).approvals[0];
  try {
    await submit(server, 'one', 'Make files.');
    await followed(server, 'one', asked(1));
    const first = await waiting();
    expect(first?.ask.grant).toBe('shell:touch');
    await postJson(`${server.http}/v1/approvals/${first?.id}`, { answer: 'always' });
    const events = await followed(server, 'one', asked(2));
    expect(events.filter((event) => event.type === 'tool.ended' && event.outcome === 'ok')).toHaveLength(2);
    const second = await waiting();
    expect(second?.ask).toMatchObject({ command: ['touch', '../three'] });
    expect(second?.ask.grant).toBeUndefined();
  } finally {
    await server.stop();
    model.stop();
  }
});
