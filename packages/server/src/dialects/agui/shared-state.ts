/**
 * The state that the application shares with the agent. The client sends it with its messages; the model reads it in its prompt and
 * changes it with a tool whose calls are in the log, so that it can be made again from there. Changes are merged (RFC 7396), which
 * succeeds with any state, and shown as JSON Patch.
 */
import type { JsonPatchOperation } from '@ag-ui/core';
import { type CallerTool, isObject, type Json, type JsonObject } from '@parlance/protocol';

export const STATE_TOOL: CallerTool = {
  name: 'update_state',
  description:
    'Changes the state that you share with the application, which shows it to the user at once. `changes` is merged into the state: fields that it does not name stay as they are, lists are replaced as a whole, and null removes a field.',
  parameters: {
    type: 'object',
    properties: { changes: { type: 'object', description: 'The fields of the state to change' } },
    required: ['changes'],
  },
};

/** Clients send an empty object if they have no state. */
export const isShared = (state: Json | undefined): state is JsonObject =>
  isObject(state) && Object.keys(state).length > 0;

export const stateContext = (state: JsonObject): string =>
  `The state that you share with the application, as JSON. Change it with ${STATE_TOOL.name}:\n${JSON.stringify(state)}`;

/** Null if the call of the tool has none. */
export const changesOf = ({ changes }: JsonObject): JsonObject | null =>
  isObject(changes) ? (changes as JsonObject) : null;

/** Names that clients do not patch. */
const REFUSED: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype']);

const entriesOf = (changes: JsonObject): [string, Json][] =>
  Object.entries(changes).filter(([name]) => !REFUSED.has(name));

/** The state after the changes. */
export function merged(state: JsonObject, changes: JsonObject): JsonObject {
  const fields = new Map(Object.entries(state));
  for (const [name, value] of entriesOf(changes)) {
    if (value === null) fields.delete(name);
    else fields.set(name, isObject(value) ? merged(objectOf(fields.get(name)), value as JsonObject) : value);
  }
  return Object.fromEntries(fields);
}

/** The same as JSON Patch. */
export function patchOf(state: JsonObject, changes: JsonObject, path = ''): JsonPatchOperation[] {
  return entriesOf(changes).flatMap(([name, value]): JsonPatchOperation[] => {
    const at = `${path}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`;
    const isKnown = Object.hasOwn(state, name);
    const before = isKnown ? state[name] : undefined;
    if (value === null) return isKnown ? [{ op: 'remove', path: at }] : [];
    if (isObject(value) && isObject(before)) return patchOf(before as JsonObject, value as JsonObject, at);
    const next = isObject(value) ? merged({}, value as JsonObject) : value;
    if (Bun.deepEquals(before, next)) return [];
    return [{ op: isKnown ? 'replace' : 'add', path: at, value: next }];
  });
}

const objectOf = (value: Json | undefined): JsonObject => (isObject(value) ? (value as JsonObject) : {});
