/** Every scenario of the engine, as assembled by the client of the package and as shown by the history. */
import { describe, expect, test } from 'bun:test';
import { readUIMessageStream, safeValidateUIMessages, type UIMessage, type UIMessageChunk } from 'ai';
import { isDurable, type SessionEvent, type TurnId } from '../../packages/protocol/src/index.ts';
import { HistoryFold } from '../../packages/server/src/dialects/aisdk/history.ts';
import { START, step } from '../../packages/server/src/dialects/aisdk/outbound.ts';
import { SCENARIOS } from '../../packages/server/src/testing/scenarios.ts';
import { readTranscript } from '../../packages/server/src/testing/transcripts.ts';
import { shown } from './client.ts';

/** The chunks of each turn, in order. */
function chunksOf(events: readonly SessionEvent[]): Map<TurnId, UIMessageChunk[]> {
  const turns = new Map<TurnId, UIMessageChunk[]>();
  let state = START;
  for (const event of events) {
    const [next, frames] = step(state, event);
    state = next;
    for (const { body } of frames)
      if ('chunk' in body)
        turns.set(body.turn, [...(turns.get(body.turn) ?? []), body.chunk as UIMessageChunk]);
  }
  return turns;
}

/** The message that the client has in the end; undefined if there is nothing to show. */
async function read(chunks: readonly UIMessageChunk[]): Promise<UIMessage | undefined> {
  const errors: unknown[] = [];
  let last: UIMessage | undefined;
  const stream = new ReadableStream<UIMessageChunk>({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(chunk);
      controller.close();
    },
  });
  for await (const message of readUIMessageStream({ stream, onError: (error) => errors.push(error) }))
    last = message;
  const sent = chunks.flatMap((chunk) => (chunk.type === 'error' ? [chunk.errorText] : []));
  expect(errors.map((error) => (error as Error).message)).toEqual(sent);
  return last && last.parts.length > 0 ? last : undefined;
}

const historyOf = (events: readonly SessionEvent[]) => {
  const fold = new HistoryFold();
  for (const event of events) fold.add(event);
  return fold.page(2_000, { isLatest: true, isFirst: true }).messages;
};

/** In the history, unanswered approvals have no outcome, and unfinished arguments are left out. */
const comparable = (message: UIMessage | undefined): unknown => {
  const [copy] = shown(message ? [message] : []) as {
    parts: { state?: string; approval?: { approved?: boolean } }[];
  }[];
  if (!copy) return undefined;
  for (const part of copy.parts)
    if (/^output-(error|available)$/.test(part.state ?? '') && part.approval?.approved !== true)
      delete part.approval;
  return { ...copy, parts: copy.parts.filter(({ state }) => state !== 'input-streaming') };
};

describe.each(Object.keys(SCENARIOS))('%s', (name) => {
  const events = readTranscript(name);

  test('is accepted by the package as a history, from stored events alone', async () => {
    const messages = historyOf(events.filter(isDurable));
    const result = await safeValidateUIMessages({ messages });
    if (messages.length > 0) expect(result).toMatchObject({ success: true });
    expect(new Set(messages.map(({ id }) => id)).size).toBe(messages.length);
  });

  test('is assembled by the client like the history', async () => {
    const history = new Map(historyOf(events).map((message) => [message.id, message as UIMessage]));
    for (const [turn, chunks] of chunksOf(events)) {
      const message = await read(chunks);
      const stored = history.get(turn);
      // A turn that was replaced or cleared is not part of the history.
      if (stored) expect(comparable(message)).toEqual(comparable(stored));
    }
  });
});
