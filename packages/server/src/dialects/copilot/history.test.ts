import { beforeAll, describe, expect, test } from 'bun:test';
import { type DurableEvent, textPart } from '@parlance/protocol';
import { z } from 'zod';
import type { Engine, SessionSnapshot } from '../../core/index.ts';
import { defineTool } from '../../core/ports/tool.ts';
import { CALLER, createHarness, SESSION, say } from '../../testing/harness.ts';
import { calls, type Line, says } from '../../testing/scripted-provider.ts';
import type { CopilotMessage } from './contract.ts';
import { latestMessages, messagesOf } from './outbound.ts';

const TURNS = 60;

const act = defineTool({
  name: 'browser_act',
  description: 'Acts.',
  input: z.object({ thought: z.string(), action: z.string() }),
  deferred: true,
  approval: () => null,
  run: async () => ({ parts: [] }),
});

const clicking = (turn: number): Line[] =>
  calls('browser_act', { thought: `Turn ${turn}.`, action: `click(${turn})` }, { call: `call-${turn}` });

/** Every turn is a question, an action and an answer; in one of them the client executes very many actions. */
async function longSession(): Promise<Engine> {
  const answers: Line[][] = [];
  const actions: number[] = [];
  for (let turn = 0; turn < TURNS; turn++) {
    actions[turn] = turn === 40 ? 30 : 1;
    for (let action = 0; action < (actions[turn] ?? 0); action++) answers.push(clicking(turn * 100 + action));
    answers.push(says(`Answer ${turn}`));
  }
  const { engine } = await createHarness(answers, {
    tools: [act],
    parts: { maxSteps: 100, context: { strategy: 'none', threshold: 1 } },
  });
  for (const [turn, count] of actions.entries()) {
    await say(engine, `Question ${turn}`);
    for (let action = 0; action < count; action++) {
      await engine.whenIdle(SESSION);
      const [deferred] = (await engine.snapshot(SESSION)).deferred;
      if (!deferred) throw new Error('no call is pending');
      const { call } = deferred;
      await engine.send(SESSION, { type: 'call.answer', call, parts: [textPart('ok')] }, CALLER);
    }
    await engine.whenIdle(SESSION);
  }
  return engine;
}

describe('the latest messages are the end of all messages, for any limit', () => {
  let engine: Engine;
  let now: SessionSnapshot;
  let events: DurableEvent[];
  let all: CopilotMessage[];
  beforeAll(async () => {
    engine = await longSession();
    now = await engine.snapshot(SESSION);
    events = await engine.events(SESSION, 0, 100_000);
    all = messagesOf(events);
  });

  test('the count matches the message count of the session', () => {
    expect(events.length).toBeGreaterThan(500);
    expect(all.length).toBe(now.messageCount);
    expect(all.length).toBe(TURNS * 3 + 29);
  });

  test.each([1, 2, 7, 50, 199, 200, 1_000])('%d of them', async (limit) => {
    expect(await latestMessages(engine, now, { limit })).toEqual(all.slice(-limit));
  });

  test('messages since an instant include those of that instant', async () => {
    for (const index of [0, 1, 30, 120, all.length - 1]) {
      const since = Date.parse(all[index]?.timestamp ?? '');
      const wanted = all.filter((message) => Date.parse(message.timestamp) >= since);
      expect(await latestMessages(engine, now, { limit: 1_000, since })).toEqual(wanted);
      expect(await latestMessages(engine, now, { limit: 5, since })).toEqual(wanted.slice(-5));
    }
    const later = Date.parse(all.at(-1)?.timestamp ?? '') + 1;
    expect(await latestMessages(engine, now, { limit: 5, since: later })).toEqual([]);
  });
});
