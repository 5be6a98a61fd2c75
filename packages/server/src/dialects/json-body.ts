/** The JSON of a body. Dialects have words of their own for what is wrong with it. */
import { jsonNestsDeeper } from '@parlance/protocol';

export type JsonBody =
  | { readonly value: unknown }
  | { readonly problem: 'is not valid JSON' | 'is nested too deeply'; readonly cause?: unknown };

/** Depth is checked first: parsing deeply nested JSON holds up everyone. */
export function parseBody(bytes: Uint8Array): JsonBody {
  const text = new TextDecoder().decode(bytes);
  if (jsonNestsDeeper(text)) return { problem: 'is nested too deeply' };
  try {
    return { value: JSON.parse(text) };
  } catch (cause) {
    return { problem: 'is not valid JSON', cause };
  }
}
