/** Parses a frame as JSON, or returns the reason for the failure. */
import { jsonRefusal } from '@parlance/protocol';

export function readFrame(
  raw: string | Buffer,
  limit: number,
  decoder: TextDecoder,
): { frame: unknown } | { reason: string } {
  const size = typeof raw === 'string' ? Buffer.byteLength(raw) : raw.byteLength;
  if (size > limit) return { reason: `the message is larger than ${limit} bytes` };
  let text: string;
  try {
    text = typeof raw === 'string' ? raw : decoder.decode(raw);
  } catch {
    return { reason: 'the message is not valid UTF-8' };
  }
  const refusal = jsonRefusal(text);
  if (refusal !== null) return { reason: `the message ${refusal}` };
  try {
    return { frame: JSON.parse(text) };
  } catch {
    return { reason: 'the message is not valid JSON' };
  }
}
