/** The process is killed while a question of an MCP server waits for its answer. */
import { expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type DurableEvent, textOf } from '../packages/protocol/src/index.ts';
import { askingServer } from '../packages/server/src/testing/tools/mcp-asking-server.ts';
import { scriptedModel } from './scripted-model.ts';
import { followed, postJson, startProcess, submit } from './server-process.ts';

const FORM = {
  method: 'elicitation/create',
  params: {
    message: 'Which room?',
    requestedSchema: {
      type: 'object',
      properties: { room: { type: 'string', enum: ['a1', 'b2'] } },
      required: ['room'],
    },
  },
};

const ofType = <Type extends DurableEvent['type']>(events: readonly DurableEvent[], type: Type) =>
  events.filter((event): event is Extract<DurableEvent, { type: Type }> => event.type === type);

/** Starts a call that asks, kills the process, starts it again, and answers what waits then. */
async function killed(): Promise<DurableEvent[]> {
  const folder = mkdtempSync(join(tmpdir(), 'parlance-asked-'));
  const model = scriptedModel(({ messages }) =>
    messages.at(-1)?.role === 'tool' ? { say: 'Done.' } : { call: 'mcp_forms_ask', input: {} },
  );
  await using forms = askingServer('2026', [FORM]);
  const config = join(folder, 'parlance.json');
  await Bun.write(config, JSON.stringify({ mcpServers: { forms: { url: forms.url, trusted: true } } }));
  const settings = {
    ...{ OPENAI_BASE_URL: model.url, OPENAI_API_KEY: 'key', MODEL: 'fake' },
    ...{ PARLANCE_CONFIG: config, TOOL_USE_APPROVAL_MODE: 'full-auto' },
  };
  try {
    const first = await startProcess(folder, settings);
    await submit(first, 'one', 'Ask them.');
    await followed(first, 'one', (events) => ofType(events, 'question.asked').length === 1);
    await first.kill();
    await using second = await startProcess(folder, settings);
    const isDone = (events: readonly DurableEvent[]) => ofType(events, 'turn.ended').length === 1;
    const isAsked = (events: readonly DurableEvent[]) => ofType(events, 'question.asked').length > 0;
    const [question] = ofType(await followed(second, 'one', isAsked), 'question.asked');
    await postJson(`${second.http}/v1/questions/${question?.question}`, { answers: { '1': ['b2'] } });
    return await followed(second, 'one', isDone);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

test('the question of a server of revision 2026 still waits under its id, and the call goes on with the answer', async () => {
  const events = await killed();
  expect(ofType(events, 'question.asked')).toHaveLength(1);
  expect(ofType(events, 'question.answered')).toMatchObject([{ outcome: 'answered' }]);
  const [ended, ...others] = ofType(events, 'tool.ended');
  expect(others).toEqual([]);
  expect(ended?.outcome).toBe('ok');
  expect(JSON.parse(textOf(ended?.parts ?? []))).toEqual([{ action: 'accept', content: { room: 'b2' } }]);
});
