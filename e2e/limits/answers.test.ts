/** Limits on model answers: the turn fails with the name of the limit; other sessions are not affected. */
import { describe, expect, test } from 'bun:test';
import { type DurableEvent, textOf } from '../../packages/protocol/src/index.ts';
import { startTestServer } from '../../packages/server/src/testing/server.ts';
import { ENDLESS_APIS, ENDLESS_KINDS, type EndlessKind, endlessModel } from '../endless-model.ts';
import { scriptedModel } from '../scripted-model.ts';
import { followed, postJson, submit } from '../server-process.ts';

const LIMITS = {
  PARLANCE_ANSWER_CHARACTERS: '50000',
  PARLANCE_ARGUMENT_CHARACTERS: '50000',
  PARLANCE_ANSWER_CALLS: '20',
};
const SAYS: Record<EndlessKind, RegExp> = {
  text: /more than 50,000 characters of text and reasoning \(answerCharacters\)/,
  reasoning: /more than 50,000 characters of text and reasoning \(answerCharacters\)/,
  arguments: /more than 50,000 characters of arguments \(argumentCharacters\)/,
  calls: /more than 20 calls \(answerCalls\)/,
};

const over = (events: readonly DurableEvent[]): boolean =>
  events.some(({ type }) => type === 'turn.failed' || type === 'turn.ended' || type === 'turn.cancelled');

describe.each(ENDLESS_APIS.map((api) => [api]))('%s', (api) => {
  test.each(ENDLESS_KINDS.map((kind) => [kind]))('endless %s are stopped', async (kind) => {
    const model = endlessModel(api, kind);
    const server = await startTestServer({ ...model.settings, ...LIMITS });
    try {
      await submit(server, 'one', 'Go on.');
      const events = await followed(server, 'one', over);
      const failed = events.at(-1);
      if (failed?.type !== 'turn.failed') throw new Error(`the turn did not fail: ${failed?.type}`);
      expect(failed.fault.code).toBe('answer_too_long');
      expect(failed.fault.message).toMatch(SAYS[kind]);
      await model.closed;
      expect(model.asked()).toBe(1);
      expect(events.filter(({ type }) => type === 'call.requested')).toEqual([]);
      const shown = events.flatMap((event) =>
        event.type === 'text.ended' || event.type === 'reasoning.ended' ? [event.text] : [],
      );
      const words = shown.join('').length;
      const isShown = kind === 'text' || kind === 'reasoning';
      expect(words > 40_000 && words <= 50_000).toBe(isShown);
    } finally {
      await server.stop();
      model.stop();
    }
  });
});

test('other sessions are answered while one answer does not end', async () => {
  const model = endlessModel('chat', 'text', true);
  const server = await startTestServer({ ...model.settings, PARLANCE_ANSWER_CHARACTERS: '100000000' });
  try {
    await submit(server, 'endless', 'Go on.');
    await followed(server, 'endless', (events) => events.some(({ type }) => type === 'turn.started'));
    await submit(server, 'other', 'Hello?');
    const other = await followed(server, 'other', over);
    expect(other.at(-1)?.type).toBe('turn.ended');
    await postJson(`${server.http}/v1/sessions/endless/commands`, { type: 'turn.cancel' });
    const endless = await followed(server, 'endless', over);
    // What the broken-off answer has used is recorded afterwards.
    expect(endless.map(({ type }) => type)).toContain('turn.cancelled');
  } finally {
    await server.stop();
    model.stop();
  }
});

test('an answer within the limits is complete, and its calls run', async () => {
  const long = 'word '.repeat(9_000);
  const model = scriptedModel(({ messages }) =>
    messages.at(-1)?.role === 'tool' ? { say: long } : { call: 'echo', input: { value: 'x'.repeat(40_000) } },
  );
  const settings = { OPENAI_BASE_URL: model.url, OPENAI_API_KEY: 'key', MODEL: 'fake', ...LIMITS };
  const server = await startTestServer(settings);
  try {
    await submit(server, 'one', 'Hello.');
    const events = await followed(server, 'one', over);
    expect(events.at(-1)?.type).toBe('turn.ended');
    const echoed = events.find((event) => event.type === 'tool.ended');
    expect(echoed?.type === 'tool.ended' && textOf(echoed.parts).length).toBe(40_000);
    expect(events.find((event) => event.type === 'text.ended')).toMatchObject({ text: long });
  } finally {
    await server.stop();
    model.stop();
  }
});
