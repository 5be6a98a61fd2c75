/** JSON-RPC 2.0: messages in both directions. */
import { isObject, type JsonObject } from '@parlance/protocol';

export type Id = string | number | null;

export type Message =
  | { readonly kind: 'request'; readonly id: Id; readonly method: string; readonly params: unknown }
  | { readonly kind: 'notification'; readonly method: string; readonly params: unknown }
  | { readonly kind: 'response'; readonly id: Id; readonly result: unknown }
  | { readonly kind: 'invalid'; readonly id: Id; readonly reason: string };

export const CODES = {
  parse: -32700,
  invalidRequest: -32600,
  noMethod: -32601,
  invalidParams: -32602,
  internal: -32603,
  authentication: -32000,
  notFound: -32002,
} as const;

const isId = (value: unknown): value is Id =>
  value === null || typeof value === 'string' || (typeof value === 'number' && Number.isFinite(value));

/** The `result` of a response is undefined if the client reported an error. */
export function messageOf(frame: unknown): Message {
  if (Array.isArray(frame)) return { kind: 'invalid', id: null, reason: 'batches are not supported' };
  if (!isObject(frame)) return { kind: 'invalid', id: null, reason: 'a message is a JSON object' };
  const { id, method, params } = frame;
  const known = isId(id) ? id : null;
  if (frame.jsonrpc !== '2.0') return { kind: 'invalid', id: known, reason: 'jsonrpc must be "2.0"' };
  if (id !== undefined && !isId(id))
    return { kind: 'invalid', id: null, reason: 'id must be a string or a number' };
  if (typeof method === 'string')
    return id === undefined
      ? { kind: 'notification', method, params }
      : { kind: 'request', id: known, method, params };
  if (method === undefined && id !== undefined && ('result' in frame || 'error' in frame))
    return { kind: 'response', id: known, result: frame.result };
  return { kind: 'invalid', id: known, reason: 'method must be a string' };
}

export const result = (id: Id, value: object): JsonObject => ({
  jsonrpc: '2.0',
  id,
  result: value as JsonObject,
});

export const failure = (id: Id, code: number, message: string): JsonObject => ({
  jsonrpc: '2.0',
  id,
  error: { code, message },
});
