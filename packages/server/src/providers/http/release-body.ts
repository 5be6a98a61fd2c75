/** The ends of a body: what is read of it, and how its connection is given back. */
import type { Body } from './body.ts';

/** How long the end of a stream is waited for after the answer is complete. */
const LAST_BYTES_MS = 1_000;

/** The first characters of a body; the rest is not read. */
export async function readBeginning(body: Body, length: number): Promise<string> {
  let text = '';
  for (let piece = await body.read(); piece !== null; piece = await body.read()) {
    text += piece;
    if (text.length >= length) break;
  }
  body.cancel();
  return text.slice(0, length);
}

/** A connection whose last bytes were read is used again. Nobody waits for this, and how it ends is all the same. */
export async function releaseBody(body: Body, readOn: boolean): Promise<void> {
  if (!readOn) return body.cancel();
  const timer = setTimeout(() => body.cancel(), LAST_BYTES_MS);
  try {
    while ((await body.read()) !== null);
  } catch {
    // The answer was complete without them.
  } finally {
    clearTimeout(timer);
  }
}
