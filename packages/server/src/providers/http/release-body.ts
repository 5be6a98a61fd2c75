/** Reads the beginning of a body, and releases its connection. */
import type { Body } from './body.ts';

/** How long to wait for the end of a stream after the answer is complete. */
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

/** Reads the last bytes, so that the connection can be reused. Runs in the background and never rejects. */
export async function releaseBody(body: Body, readOn: boolean): Promise<void> {
  if (!readOn) return body.cancel();
  const timer = setTimeout(() => body.cancel(), LAST_BYTES_MS);
  try {
    while ((await body.read()) !== null);
  } catch {
    // The answer is already complete.
  } finally {
    clearTimeout(timer);
  }
}
