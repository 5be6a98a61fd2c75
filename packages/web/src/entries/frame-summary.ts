/** What a frame is, at a glance: its type, and what a person would want to read of it. */
import { oneLine } from './event-summary.ts';
import { memoize } from './memoize.ts';

export type FrameSummary = { readonly type: string; readonly words: string };

/** What is not JSON, or says no type, is still a frame that passed. */
const UNTYPED = 'untyped';
const NOT_JSON = 'not JSON';

/** In the order in which contracts use them for what is said. */
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
    return { type: NOT_JSON, words: oneLine(text) };
  }
  if (!isObject(value)) return { type: UNTYPED, words: oneLine(text) };
  const named = value.type ?? value.event ?? requestOf(value);
  const inner = innerOf(value);
  const kind = typeof named === 'string' ? named : UNTYPED;
  const innerKind = typeof inner?.type === 'string' ? ` ${inner.type}` : '';
  return { type: `${kind}${innerKind}`, words: wordsOf(inner) ?? wordsOf(value) ?? rest(inner ?? value) };
}

/** Where contracts put what a message is about. */
const innerOf = ({ payload, data, body }: Record<string, unknown>): Record<string, unknown> | undefined =>
  [payload, data, isObject(body) ? body.data : undefined, body].find(isObject);

/** Requests and answers of a contract over HTTP, as the playground writes them. */
function requestOf({ method, path, status }: Record<string, unknown>): string | undefined {
  if (typeof method === 'string' && typeof path === 'string') return `${method} ${path.split('?')[0]}`;
  return typeof status === 'number' ? `answer ${status}` : undefined;
}

function wordsOf(value: Record<string, unknown> | undefined): string | undefined {
  for (const key of TELLING) {
    const words = worded(value?.[key]);
    if (words !== undefined) return oneLine(words);
  }
  return undefined;
}

/** Text as it is; of a list the text of its items, which may themselves have lists of content. */
function worded(value: unknown): string | undefined {
  if (typeof value === 'string') return value === '' ? undefined : value;
  if (!Array.isArray(value)) return undefined;
  const words = value.flatMap((item) => {
    if (typeof item === 'string') return [item];
    return isObject(item) ? (worded(item.text) ?? worded(item.content) ?? []) : [];
  });
  return words.length === 0 ? undefined : words.join(' ');
}

function rest({ type: _type, event: _event, id: _id, ...others }: Record<string, unknown>): string {
  const shown = JSON.stringify(others);
  return shown === '{}' ? '' : oneLine(shown);
}

export const summaryOfFrame: (frame: { readonly text: string }) => FrameSummary = memoize(
  (frame: { readonly text: string }) => frameSummary(frame.text),
);
