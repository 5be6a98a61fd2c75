/** The JSON of a body. Dialects have words of their own for what is wrong with it. */
import { jsonRefusal } from '@parlance/protocol';

export type JsonBody =
  | { readonly value: unknown }
  | {
      readonly problem: 'is not valid JSON' | 'is nested too deeply' | 'has too many keys';
      readonly cause?: unknown;
    };

/** Depth and keys are checked first: parsing too many of them holds up everyone. */
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
