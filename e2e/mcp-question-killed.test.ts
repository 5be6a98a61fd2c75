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
async function killed(era: '2025' | '2026'): Promise<DurableEvent[]> {
  const folder = mkdtempSync(join(tmpdir(), 'parlance-asked-'));
  const model = scriptedModel(({ messages }) =>
    messages.at(-1)?.role === 'tool' ? { say: 'Done.' } : { call: 'mcp_forms_ask', input: {} },
  );
  await using forms = askingServer(era, [FORM]);
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
    const waits = (events: readonly DurableEvent[]) =>
      isDone(events) || (era === '2026' && ofType(events, 'question.asked').length > 0);
    const [question] = ofType(await followed(second, 'one', waits), 'question.asked');
    if (era === '2026')
      await postJson(`${second.http}/v1/questions/${question?.question}`, { answers: { '1': ['b2'] } });
    return await followed(second, 'one', isDone);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

test('2026: the question still waits under its id, and the call goes on with the answer', async () => {
  const events = await killed('2026');
  expect(ofType(events, 'question.asked')).toHaveLength(1);
  expect(ofType(events, 'question.answered')).toMatchObject([{ outcome: 'answered' }]);
  const [ended, ...others] = ofType(events, 'tool.ended');
  expect(others).toEqual([]);
  expect(ended?.outcome).toBe('ok');
  expect(JSON.parse(textOf(ended?.parts ?? []))).toEqual([{ action: 'accept', content: { room: 'b2' } }]);
});

test('2025: the server has lost who asked, so the question is withdrawn and the outcome is unknown', async () => {
  const events = await killed('2025');
  expect(ofType(events, 'question.answered')).toMatchObject([{ outcome: 'withdrawn' }]);
  expect(ofType(events, 'tool.ended')).toMatchObject([{ outcome: 'unknown' }]);
});
