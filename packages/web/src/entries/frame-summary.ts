/** Summary of a frame: its type and its main text. */
import { oneLine } from './event-summary.ts';
import { memoize } from './memoize.ts';

export type FrameSummary = { readonly type: string; readonly text: string };

/** Frames that are not JSON or have no type are shown, too. */
const UNTYPED = 'untyped';
const NOT_JSON = 'not JSON';

/** Fields that contain the main text, in order of preference. */
const TELLING = [
  'content',
  'input',
  'message',
  'text',
  'action',
  'thought',
  'error',
  'query',
  'status',
  'reason',
  'delta',
  'chunk',
  'review',
  'command',
  'channel',
  'tool_name',
  'toolName',
  'name',
] as const;

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export function frameSummary(text: string): FrameSummary {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { type: NOT_JSON, text: oneLine(text) };
  }
  if (!isObject(value)) return { type: UNTYPED, text: oneLine(text) };
  const named = value.type ?? value.event ?? requestOf(value) ?? rpcOf(value);
  const inner = innerOf(value);
  const kind = typeof named === 'string' ? named : UNTYPED;
  const innerKind = typeof inner?.type === 'string' ? ` ${inner.type}` : '';
  return { type: `${kind}${innerKind}`, text: textOf(inner) ?? textOf(value) ?? rest(inner ?? value) };
}

/** Fields in which contracts nest their payload. */
const innerOf = (frame: Record<string, unknown>): Record<string, unknown> | undefined => {
  const { payload, data, body, jsonrpc, params, result, error } = frame;
  const nested = [payload, data, isObject(body) ? body.data : undefined, body];
  return [...nested, ...(jsonrpc === undefined ? [] : [params, result, error])].find(isObject);
};

/** JSON-RPC: a call by its method, and its outcome. */
function rpcOf({ jsonrpc, method, result, error }: Record<string, unknown>): string | undefined {
  if (jsonrpc === undefined) return undefined;
  if (typeof method === 'string') return method;
  if (error !== undefined) return 'error';
  return result === undefined ? undefined : 'result';
}

/** Requests and responses over HTTP, as the playground writes them. */
function requestOf({ method, path, status }: Record<string, unknown>): string | undefined {
  if (typeof method === 'string' && typeof path === 'string') return `${method} ${path.split('?')[0]}`;
  return typeof status === 'number' ? `answer ${status}` : undefined;
}

function textOf(value: Record<string, unknown> | undefined): string | undefined {
  for (const key of TELLING) {
    const text = plainText(value?.[key]);
    if (text !== undefined) return oneLine(text);
  }
  return undefined;
}

/** Text as it is; for a list, the joined text of its items. */
function plainText(value: unknown): string | undefined {
  if (typeof value === 'string') return value === '' ? undefined : value;
  if (!Array.isArray(value)) return undefined;
  const text = value.flatMap((item) => {
    if (typeof item === 'string') return [item];
    return isObject(item) ? (plainText(item.text) ?? plainText(item.content) ?? []) : [];
  });
  return text.length === 0 ? undefined : text.join(' ');
}

function rest({ type: _type, event: _event, id: _id, ...others }: Record<string, unknown>): string {
  const shown = JSON.stringify(others);
  return shown === '{}' ? '' : oneLine(shown);
}

export const summaryOfFrame: (frame: { readonly text: string }) => FrameSummary = memoize(
  (frame: { readonly text: string }) => frameSummary(frame.text),
);
