/** JSON that a vendor or its model wrote: anything is possible. */
import { isObject } from '@parlance/protocol';

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
