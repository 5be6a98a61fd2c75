import { expect, test } from 'bun:test';
import { byteByByte, recut } from './recut.ts';
import { upstream } from './upstream.ts';

const BYTES = new TextEncoder().encode('data: Grüße, 世界 👩‍👩‍👧\r\n\r\n'.repeat(20));

test('splits are deterministic per seed, and some are inside characters and line ends', () => {
  const pieces = recut(BYTES, 7);
  expect(recut(BYTES, 7)).toEqual(pieces);
  expect(Buffer.concat(pieces)).toEqual(Buffer.from(BYTES));
  const starts = pieces.flatMap(([first]) => (first === undefined ? [] : [first]));
  expect(starts.some((byte) => (byte & 0xc0) === 0x80)).toBe(true);
  expect(starts).toContain(0x0a);
});

test('chunks arrive complete, however the network joins them', async () => {
  const vendor = upstream();
  const pieces = byteByByte(BYTES.subarray(0, 40));
  vendor.answer = { status: 200, type: 'text/event-stream', pieces };
  const response = await fetch(vendor.url, { method: 'POST', body: '{}' });
  const chunks: Uint8Array[] = [];
  for await (const chunk of response.body ?? []) chunks.push(chunk);
  await vendor.stop();
  // Their number depends on the network; `server-sent-events.test.ts` splits without one.
  expect(Buffer.concat(chunks)).toEqual(Buffer.from(BYTES.subarray(0, 40)));
});
