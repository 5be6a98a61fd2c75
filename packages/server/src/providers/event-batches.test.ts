import { describe, expect, test } from 'bun:test';
import { eventBatches } from './event-batches.ts';
import { byteByByte, recut } from './suite/recut.ts';
import type { VendorEvent } from './wire.ts';

const stream = (pieces: readonly Uint8Array[]): ReadableStream<Uint8Array> =>
  new ReadableStream({
    start(controller) {
      for (const piece of pieces) controller.enqueue(piece);
      controller.close();
    },
  });

async function read(pieces: readonly Uint8Array[]): Promise<VendorEvent[]> {
  const events: VendorEvent[] = [];
  for await (const batch of eventBatches(
    stream(pieces).getReader(),
    () => undefined,
    () => false,
  ))
    events.push(...batch);
  return events;
}

const bytes = (text: string) => new TextEncoder().encode(text);

const LINES =
  ': hello\n\nevent: greeting\ndata: Grüße, 世界 👩‍👩‍👧\n\nid: 7\ndata: {"two":\ndata: "lines"}\n\nretry: 10\nnonsense\n\ndata: last\n\n';
const EVENTS: VendorEvent[] = [
  { event: 'greeting', data: 'Grüße, 世界 👩‍👩‍👧' },
  { event: undefined, data: '{"two":\n"lines"}' },
  { event: undefined, data: 'last' },
];

describe('server-sent events', () => {
  for (const [name, text] of [
    ['line feeds', LINES],
    ['carriage returns and line feeds', LINES.replaceAll('\n', '\r\n')],
  ] as const) {
    test(`with ${name} are the same, wherever they are cut`, async () => {
      expect(await read([bytes(text)])).toEqual(EVENTS);
      expect(await read(byteByByte(bytes(text)))).toEqual(EVENTS);
      for (let seed = 0; seed < 200; seed++) expect(await read(recut(bytes(text), seed))).toEqual(EVENTS);
    });
  }

  test('are read to the end where the last one was not ended', async () => {
    expect(await read([bytes('data: one\n\ndata: two')])).toEqual([
      { event: undefined, data: 'one' },
      { event: undefined, data: 'two' },
    ]);
  });

  test('that grow without end are given up', async () => {
    const megabyte = bytes('x'.repeat(1024 * 1024));
    const endless = [bytes('data: '), ...Array<Uint8Array>(40).fill(megabyte)];
    await expect(read(endless)).rejects.toThrow();
  });
});
