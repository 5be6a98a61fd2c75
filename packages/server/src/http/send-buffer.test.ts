import { expect, test } from 'bun:test';
import type { Pieces } from './connection.ts';
import { SendBuffer } from './send-buffer.ts';

type Piece = { block: string; text: string };
const PIECES: Pieces = {
  key: (frame) => (frame as Piece).block,
  text: (frame) => (frame as Piece).text,
  with: (frame, text) => ({ ...frame, text }),
};

/** A writer whose reader reads on demand; `room` is the number of frames that fit before. */
function harness(limit = 1_000) {
  const sent: string[] = [];
  const seen = { room: 1, coalesced: 0, caughtUp: 0, gaveUp: 0, closed: 0 };
  const sendBuffer = new SendBuffer(
    {
      sendText(text) {
        sent.push(text);
        return seen.room-- > 0 ? text.length : -1;
      },
      disconnect: () => void seen.closed++,
    },
    {
      coalesced: () => void seen.coalesced++,
      caughtUp: () => void seen.caughtUp++,
      gaveUp: () => void seen.gaveUp++,
    },
    limit,
  );
  const send = (block: string, text: string) =>
    sendBuffer.send(JSON.stringify({ block, text }), { block, text }, PIECES);
  const drain = (room: number) => {
    seen.room = room;
    sendBuffer.drained();
  };
  const texts = () => sent.map((text) => JSON.parse(text) as Piece);
  return { sendBuffer, sent, seen, send, drain, texts };
}

test('frames of a slow reader are joined, and sent in order when it has caught up', () => {
  const { sendBuffer, seen, send, drain, texts } = harness();
  send('a', '1');
  expect(sendBuffer.behind).toBe(false);
  for (const text of ['2', '3', '4']) send('a', text);
  send('b', '5');
  send('b', '6');
  send('a', '7');
  expect(sendBuffer.behind).toBe(true);
  expect(texts().length).toBe(2);
  drain(10);
  expect(texts().map(({ block, text }) => block + text)).toEqual(['a1', 'a2', 'a34', 'b56', 'a7']);
  expect(seen).toMatchObject({ coalesced: 2, caughtUp: 1, gaveUp: 0 });
  expect(sendBuffer.behind).toBe(false);
});

test('a reader that falls behind again while catching up loses nothing', () => {
  const { sendBuffer, seen, send, drain, texts } = harness();
  for (const block of ['a', 'b', 'c', 'd', 'e']) send(block, '.');
  drain(0);
  expect(sendBuffer.behind).toBe(true);
  send('e', '!');
  drain(0);
  drain(5);
  expect(texts().map(({ block, text }) => block + text)).toEqual(['a.', 'b.', 'c.', 'd.', 'e.!']);
  expect(seen.caughtUp).toBe(1);
});

test('frames that cannot be joined wait individually, between those that can', () => {
  const { sendBuffer, send, drain, sent } = harness();
  send('a', '1');
  send('a', '2');
  send('a', '3');
  sendBuffer.send('"own"');
  send('a', '4');
  drain(10);
  expect(sent.slice(2)).toEqual(['{"block":"a","text":"3"}', '"own"', '{"block":"a","text":"4"}']);
});

test('joined pieces count as their text, regardless of their number', () => {
  const { seen, send, drain, texts } = harness(5_000);
  const numbers = Array.from({ length: 1_200 }, (_, index) => `${index} `);
  for (const text of numbers) send('a', text);
  expect(seen.gaveUp).toBe(0);
  drain(10);
  expect(
    texts()
      .map(({ text }) => text)
      .join(''),
  ).toBe(numbers.join(''));
  for (const text of numbers) send('a', text.repeat(10));
  expect(seen.gaveUp).toBe(1);
});

test('a reader that is too far behind is disconnected once, and receives nothing more', () => {
  const { sendBuffer, seen, send, drain, sent } = harness(1_000);
  for (let index = 0; index < 200; index++) send(`block-${index}`, 'some text');
  expect(seen).toMatchObject({ gaveUp: 1, closed: 1 });
  const before = sent.length;
  send('late', 'text');
  drain(10);
  expect(sent.length).toBe(before);
  expect(sendBuffer.behind).toBe(false);
});

test('a single large frame does not disconnect a reader', () => {
  const { seen, sendBuffer, drain, sent } = harness(1_000);
  sendBuffer.send('1');
  sendBuffer.send('2');
  sendBuffer.send('x'.repeat(5_000));
  expect(seen.gaveUp).toBe(0);
  drain(10);
  expect(sent.at(-1)?.length).toBe(5_000);
});

const unsent = (sendBuffer: SendBuffer, cut: boolean) =>
  (sendBuffer.unsent(cut) as Piece[]).map(({ block, text }) => block + text);

test('unsent frames include buffered ones, and after a cut the one in flight', () => {
  const { sendBuffer, send, drain } = harness();
  send('a', '1');
  expect(unsent(sendBuffer, true)).toEqual([]);
  send('a', '2');
  expect(unsent(sendBuffer, false)).toEqual([]);
  expect(unsent(sendBuffer, true)).toEqual(['a2']);
  send('a', '3');
  send('a', '4');
  send('b', '5');
  expect(unsent(sendBuffer, false)).toEqual(['a34', 'b5']);
  expect(unsent(sendBuffer, true)).toEqual(['a2', 'a34', 'b5']);
  drain(0);
  expect(unsent(sendBuffer, false)).toEqual(['b5']);
  expect(unsent(sendBuffer, true)).toEqual(['a34', 'b5']);
  drain(10);
  expect(unsent(sendBuffer, true)).toEqual([]);
});

test('unsent frames of a disconnected reader include the one that exceeded the limit', () => {
  const { sendBuffer, seen, send } = harness(30);
  for (const text of ['1', '2', '3', '4']) send('a', text);
  for (const text of ['5', '6']) send('b', text);
  expect(seen.gaveUp).toBe(1);
  expect(unsent(sendBuffer, false)).toEqual(['a34', 'b5', 'b6']);
});
