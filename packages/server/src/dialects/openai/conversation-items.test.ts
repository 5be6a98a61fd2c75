import { describe, expect, test } from 'bun:test';
import { type DurableEvent, isDurable, type PrincipalId, type SessionId, textPart } from '@parlance/protocol';
import { readTranscript } from '../../testing/transcripts.ts';
import { conversationPage } from './conversation-items.ts';

const ref = { owner: 'local' as PrincipalId, id: 'session-1' as SessionId };

/** A session with these events, and a counter of the events that were read. */
function logOf(events: readonly DurableEvent[]) {
  const log = { ref, head: events.length, read: 0 };
  const engine = {
    async events(_: unknown, after: number, limit: number) {
      const page = events.slice(after, after + limit);
      log.read += page.length;
      return page;
    },
  };
  return { log, engine: engine as never };
}

type Query = Partial<Parameters<typeof conversationPage>[2]>;

async function page(events: readonly DurableEvent[], query: Query = {}) {
  const { log, engine } = logOf(events);
  const { data, has_more } = await conversationPage(engine, log, { order: 'asc', limit: 100, ...query });
  const texts = data.map(({ content }) => content.map((part) => ('text' in part ? part.text : '')).join(''));
  return { texts, ids: data.map(({ id }) => id), has_more, read: log.read };
}

describe('the messages that are left', () => {
  test.each([
    ['plain-answer', ['Hi', 'Hello there.']],
    ['message-replaced', ['The capital of Italy?', 'Rome.']],
    [
      'history',
      [
        'Name a river',
        'The Rhine.',
        'And another?',
        'The Danube.',
        'And a third?',
        'The third is the Rhone.',
      ],
    ],
    ['continued', ['The weather?', 'It is sunny.']],
  ])('%s', async (name, expected) => {
    const events = readTranscript(name).filter(isDurable);
    expect((await page(events)).texts).toEqual(expected);
    expect((await page(events, { order: 'desc' })).texts).toEqual(expected.toReversed());
  });

  test.each(['retry-mid-stream', 'resume', 'clear', 'cancel'])(
    '%s has nothing that is void',
    async (name) => {
      const events = readTranscript(name).filter(isDurable);
      const cleared = events.findLastIndex(({ type }) => type === 'session.cleared');
      const { texts, ids } = await page(events);
      expect(new Set(ids).size).toBe(ids.length);
      const said = events.slice(cleared + 1).filter(({ type }) => type === 'input.accepted');
      expect(texts.length).toBeLessThanOrEqual(2 * said.length);
    },
  );
});

const many = Array.from({ length: 20_000 }, (_, at) => ({
  type: 'input.accepted',
  input: `00000000-0000-4000-8000-${String(at).padStart(12, '0')}`,
  parts: [textPart(`number ${at}`)],
  session: ref.id,
  id: `event-${at}`,
  seq: at + 1,
  at,
})) as unknown as DurableEvent[];

test('the latest of many cost one page of the log', async () => {
  const first = await page(many, { order: 'desc', limit: 20 });
  expect(first.texts[0]).toBe('number 19999');
  expect(first).toMatchObject({ has_more: true, read: 500 });
  const next = await page(many, { order: 'desc', limit: 20, after: first.ids.at(-1) });
  expect(next.texts[0]).toBe('number 19979');
  expect(next.read).toBe(500);
});

test('pages in both orders reach every message once', async () => {
  const some = many.slice(0, 1_234);
  for (const order of ['asc', 'desc'] as const) {
    const all: string[] = [];
    for (let after: string | undefined, more = true; more; ) {
      const { texts, ids, has_more } = await page(some, { order, limit: 100, ...(after && { after }) });
      all.push(...texts);
      after = ids.at(-1);
      more = has_more;
    }
    const expected = some.map((_, at) => `number ${at}`);
    expect(all).toEqual(order === 'asc' ? expected : expected.toReversed());
  }
});
