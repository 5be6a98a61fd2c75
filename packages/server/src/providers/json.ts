/** JSON that a vendor or its model wrote. */
import { isObject, type JsonObject } from '@parlance/protocol';

/** Null where it is not an object. */
export function jsonObject(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : null;
  } catch (thrown) {
    if (thrown instanceof SyntaxError) return null;
    throw thrown;
  }
}

/** What a model wrote as the input of a call. Nothing at all means none; what is not an object is kept as written. */
export function callInput(written: string): { input: JsonObject; malformed?: string } {
  if (written.trim() === '') return { input: {} };
  const input = jsonObject(written);
  return input ? { input: input as JsonObject } : { input: {}, malformed: written };
}
