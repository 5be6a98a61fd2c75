/** The input of a call, as a model wrote it. */
import type { JsonObject } from '@parlance/protocol';
import { jsonObject } from './json.ts';

/** Nothing at all means none; what is not an object is kept as written. */
export function callInput(written: string): { input: JsonObject; malformed?: string } {
  if (written.trim() === '') return { input: {} };
  const input = jsonObject(written);
  return input ? { input: input as JsonObject } : { input: {}, malformed: written };
}
