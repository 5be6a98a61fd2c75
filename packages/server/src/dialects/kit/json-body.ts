/** Parses a JSON body. Each dialect has its own error messages. */
import { jsonRefusal } from '@parlance/protocol';

export type JsonBody =
  | { readonly value: unknown }
  | {
      readonly problem: 'is not valid JSON' | 'is nested too deeply' | 'has too many keys';
      readonly cause?: unknown;
    };

/** Depth and number of keys are checked first: parsing a hostile body would block the event loop. */
export function parseBody(bytes: Uint8Array): JsonBody {
  const text = new TextDecoder().decode(bytes);
  const problem = jsonRefusal(text);
  if (problem !== null) return { problem };
  try {
    return { value: JSON.parse(text) };
  } catch (cause) {
    return { problem: 'is not valid JSON', cause };
  }
}
