/** Parses the input of a call as a model wrote it. */
import {
  isObject,
  type JsonObject,
  jsonNestsDeeper,
  MAX_LEVELS,
  nestsDeeper,
  parsedObject,
} from '@parlance/protocol';

type CallInput = { readonly input: JsonObject; readonly malformed?: string };

const TOO_DEEP: CallInput = { input: {}, malformed: `(nested deeper than ${MAX_LEVELS} levels)` };

/** Empty text means no input; anything but an object is stored verbatim. */
export function callInput(written: string): CallInput {
  if (written.trim() === '') return { input: {} };
  if (jsonNestsDeeper(written)) return TOO_DEEP;
  const input = parsedObject(written);
  return input ? { input: input as JsonObject } : { input: {}, malformed: written };
}

/** Like `callInput`, for a vendor that sends the input as JSON in its event. */
export function parsedInput(given: unknown): CallInput {
  if (nestsDeeper(given)) return TOO_DEEP;
  if (isObject(given)) return { input: given as JsonObject };
  return { input: {}, malformed: typeof given === 'string' ? given : JSON.stringify(given) };
}
