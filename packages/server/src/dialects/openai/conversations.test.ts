import { describe, expect, test } from 'bun:test';
import { type DurableEvent, isDurable, type PrincipalId, type SessionId, textPart } from '@parlance/protocol';
import { eventsBackwards } from '../../core/engine/event-pages.ts';
import { readTranscript } from '../../testing/transcripts.ts';
import { conversationPage, ItemPositions } from './conversations.ts';

const ref = { owner: 'local' as PrincipalId, id: 'session-1' as SessionId };

/** A session with these events, and a counter of the events that were read. */
function logOf(events: readonly DurableEvent[]) {
  const log = { ref, head: events.length, createdAt: 1, read: 0 };
  const engine = {
    async events(_: unknown, after: number, limit: number) {
      const page = events.slice(after, after + limit);
      log.read += page.length;
      return page;
    },
    eventsBackwards: (_: unknown, head: number, page?: number) =>
      eventsBackwards({ read: engine.events as never }, ref, head, page),
  };
  return { log, reader: { engine: engine as never, positions: new ItemPositions(engine as never) } };
}

type Query = Partial<Parameters<typeof conversationPage>[2]>;

async function page(from: readonly DurableEvent[] | ReturnType<typeof logOf>, query: Query = {}) {
  const { log, reader } = 'log' in from ? from : logOf(from);
  log.read = 0;
  const { data, has_more } = await conversationPage(reader, log, { order: 'asc', limit: 100, ...query });
  const texts = data.map((item) =>
    'content' in item ? item.content.map((part) => ('text' in part ? part.text : '')).join('') : item.type,
  );
  return { texts, ids: data.map(({ id }) => id), has_more, read: log.read };
}

describe('the visible messages', () => {
  test.each([
    ['plain-answer', ['Hi', 'Hello there.']],
    ['message-replaced', ['The capital of Italy?', 'Rome.']],
    [
      'history',
      [
        'Name a river',
        'reasoning',
        'function_call',
        'function_call_output',
        'The Rhine.',
        'And another?',
        'The Danube.',
        'And a third?',
        'The third is the Rhone.',
      ],
    ],
    ['continued', ['The weather?', 'function_call', 'function_call_output', 'It is sunny.']],
  ])('%s', async (name, expected) => {
    const events = readTranscript(name).filter(isDurable);
    expect((await page(events)).texts).toEqual(expected);
    expect((await page(events, { order: 'desc' })).texts).toEqual(expected.toReversed());
  });

  test.each(['retry-mid-stream', 'resume', 'clear', 'cancel'])('%s has no discarded output', async (name) => {
    const events = readTranscript(name).filter(isDurable);
    const cleared = events.findLastIndex(({ type }) => type === 'session.cleared');
    const { texts, ids } = await page(events);
    expect(new Set(ids).size).toBe(ids.length);
    const said = events.slice(cleared + 1).filter(({ type }) => type === 'input.accepted');
    expect(texts.length).toBeLessThanOrEqual(2 * said.length);
  });
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

test('the latest of many messages need one page of the log', async () => {
  const first = await page(many, { order: 'desc', limit: 20 });
  expect(first.texts[0]).toBe('number 19999');
  expect(first).toMatchObject({ has_more: true, read: 500 });
});

test('once the positions are known, a page costs its own events, wherever it is', async () => {
  const log = logOf(many);
  const all = await page(log, { limit: 100 });
  expect(all.texts[0]).toBe('number 0');
  expect(await page(log, { limit: 100 })).toMatchObject({ ids: all.ids, read: 100 });
  const after = await page(log, { limit: 20, after: all.ids.at(-1) });
  expect(after).toMatchObject({ read: 20, has_more: true });
  expect(after.texts[0]).toBe('number 100');
  const before = await page(log, { order: 'desc', limit: 20, after: after.ids[0] });
  expect(before).toMatchObject({ read: 20, has_more: true });
  expect(before.texts[0]).toBe('number 99');
});

const SCENARIOS = [
  'plain-answer',
  'message-replaced',
  'history',
  'continued',
  'retry-mid-stream',
  'resume',
  'clear',
  'cancel',
  'queue',
  'supersede',
];

test.each(SCENARIOS)('pages of %s in both orders reach every message once', async (name) => {
  const log = logOf(readTranscript(name).filter(isDurable));
  const { ids } = await page(log, { order: 'desc', limit: 100 });
  for (const order of ['asc', 'desc'] as const) {
    for (const limit of [1, 2, 3]) {
      const all: string[] = [];
      for (let after: string | undefined, more = ids.length > 0; more; ) {
        const read = await page(log, { order, limit, ...(after && { after }) });
        all.push(...read.ids);
        after = read.ids.at(-1);
        more = read.has_more;
      }
      expect(all).toEqual(order === 'asc' ? ids.toReversed() : ids);
    }
  }
});

test('an unknown item is refused', () => {
  expect(page(many.slice(0, 10), { after: 'nobody' })).rejects.toMatchObject({ param: 'after' });
});
