/** One-line summaries of events and frames. They may omit fields but never add anything; the exact one is one click away. */

import type { DurableEvent, DurableEventType, Part } from '@parlance/protocol';
import { instructionsText } from '@parlance/protocol/instructions';
import { isObject, parsedJson } from '@parlance/protocol/json-text';
import { amountsText, limitNotice } from '@parlance/protocol/spending';

const LONGEST = 160;

/** One line, truncated. */
export function oneLine(text: string, longest: number = LONGEST): string {
  // Truncate first: tool results can have megabytes.
  const line = text
    .slice(0, longest * 4)
    .replace(/\s+/g, ' ')
    .trim();
  return line.length > longest || text.length > longest * 4 ? `${line.slice(0, longest)}…` : line;
}

const quoted = (text: string): string => (text.trim() === '' ? 'nothing' : `“${oneLine(text)}”`);

function partText(part: Part): string {
  switch (part.type) {
    case 'text':
      return quoted(part.text);
    case 'image':
      return `an image (${part.mime})`;
    case 'file':
      return `the file ${part.name}`;
    case 'page':
      return `the page ${quoted(part.title || part.url)}`;
  }
}

const partsText = (parts: readonly Part[]): string =>
  parts.length === 0 ? 'nothing' : parts.map(partText).join(', ');

export function duration(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  return ms < 60_000
    ? `${(ms / 1_000).toFixed(1)} s`
    : `${Math.floor(ms / 60_000)} min ${Math.round((ms % 60_000) / 1_000)} s`;
}

const tokens = ({ inputTokens, outputTokens }: { inputTokens: number; outputTokens: number }): string =>
  `${inputTokens} tokens in, ${outputTokens} out`;

const changed = (name: string, value: string | null | undefined): string[] =>
  value === undefined ? [] : [`${name}: ${value ?? 'server default'}`];

const STOPS = {
  done: 'the model finished',
  calls: 'the model requested tool calls',
  length: 'output limit reached',
  refused: 'the model refused',
} as const;

const CANCELS = {
  cancelled: 'stopped',
  superseded: 'superseded by a newer message',
  denied: 'a call was denied, which ended the turn',
} as const;

const SUMMARIES: { readonly [Type in DurableEventType]: (event: DurableEvent<Type>) => string } = {
  'session.created': ({ dialect, domain, agent }) =>
    `created by ${dialect}, agent ${agent.name} of ${domain}`,
  'history.imported': ({ items, dialect }) => `${items.length} items imported from ${dialect}`,
  'history.removed': ({ item }) => `item of event ${item}`,
  'session.cleared': ({ by }) => `context cleared by ${by}`,
  'session.restored': ({ from, by }) => `rewind to before event ${from} undone by ${by}`,
  'rewind.started': ({ by }) => `${by} rewinds files`,
  'files.rewound': ({ restored, kept, failed }) =>
    `${restored.length} files restored, ${kept.length} kept${failed === undefined ? '' : `: ${failed}`}`,
  'session.rewound': ({ from, by }) => `rewound to before event ${from} by ${by}`,
  'session.configured': ({ model, approval, agent, limit, by }) =>
    `${[...changed('model', model), ...changed('approval', approval), ...changed('agent', agent?.name), ...changed('limit', limit && amountsText(limit))].join(', ') || 'nothing'}; by ${by}`,
  'usage.recorded': ({ task, model, usage, estimated }) =>
    `${task} by ${model}; ${tokens(usage)}${estimated ? ', estimated: the answer was broken off' : ''}`,
  'limit.approached': ({ limit }) => limitNotice(limit),
  'session.renamed': ({ title, by }) => `${quoted(title)}, by ${by}`,
  'session.archived': ({ by }) => `by ${by}`,
  'session.unarchived': ({ by }) => `by ${by}`,
  'session.pinned': ({ pinned, by }) => `${pinned ? 'pinned' : 'unpinned'} by ${by}`,
  'session.tagged': ({ tags, by }) => `${oneLine(tags.join(', ')) || 'no tags'}, by ${by}`,
  'session.labelled': ({ labels }) =>
    oneLine(
      Object.entries(labels)
        .map(([name, value]) => `${name}: ${value}`)
        .join(', ') || 'no labels',
    ),
  'input.accepted': ({ parts, dialect, call }) =>
    `${call ? `calls ${call.tool}` : partsText(parts)}, from ${dialect}`,
  'input.joined': () => 'read by the model from the next step on',
  'input.cancelled': ({ by }) => `cancelled by ${by}`,
  'turn.started': ({ agent }) => `${agent.name} begins`,
  'turn.resumed': () => 'resumed after a server restart',
  'turn.ended': ({ usage, durationMs, context }) =>
    `after ${duration(durationMs)}: ${tokens(usage)}; context ${context.tokens} of ${context.limit}`,
  'turn.failed': ({ fault, durationMs }) =>
    `${fault.code}: ${oneLine(fault.message)} (after ${duration(durationMs)})`,
  'turn.cancelled': ({ reason }) => CANCELS[reason],
  'agent.changed': ({ from, to, reason }) => `${from.name} hands over to ${to.name}: ${oneLine(reason)}`,
  'reasoning.ended': ({ text, durationMs, interrupted }) =>
    `${quoted(text)} (${duration(durationMs)}${interrupted ? ', interrupted' : ''})`,
  'text.ended': ({ text, interrupted }) => `${quoted(text)}${interrupted ? ' (interrupted)' : ''}`,
  'step.restarted': ({ attempt, delayMs, fault, fallback }) =>
    `${fallback ? `${fallback.model} answers instead` : `attempt ${attempt} in ${duration(delayMs)}`}, after ${fault.code}: ${oneLine(fault.message)}`,
  'step.ended': ({ usage, stop, model }) =>
    `${STOPS[stop]}${model === undefined ? '' : `, by ${model}`}; ${tokens(usage)}`,
  'call.requested': ({ tool, input, malformed }) =>
    `${tool} ${malformed === undefined ? oneLine(JSON.stringify(input)) : 'with malformed JSON input'}`,
  'approval.requested': ({ ask }) => `${ask.kind}: ${oneLine(ask.description || ask.command.join(' '))}`,
  'approval.explained': ({ text }) => quoted(text),
  'approval.answered': ({ answer, by, dialect, reason }) =>
    `${answer}, by ${by} in ${dialect}${reason === undefined ? '' : `: ${oneLine(reason)}`}`,
  'question.asked': ({ questions }) => oneLine(questions.map(({ text }) => text).join(' ')),
  'question.repeated': ({ problem }) => oneLine(problem),
  'question.answered': ({ outcome, answers = {}, by, dialect }) =>
    `${outcome}, by ${by} in ${dialect}${outcome === 'answered' ? `: ${oneLine(Object.values(answers).flat().join(', '))}` : ''}`,
  'tool.started': ({ call }) => `call ${call} started`,
  'call.deferred': ({ call }) => `call ${call} is deferred to a client; the session waits for its result`,
  'call.delegated': ({ call, child }) => `call ${call} waits for sub-agent ${child}`,
  'child.stopped': ({ child }) => `sub-agent ${child} was told to stop`,
  'parent.informed': ({ turns, waits }) =>
    waits === null ? `the outcome of ${turns.length} turns` : `${waits} waits for an answer`,
  'tool.ended': ({ outcome, parts, durationMs, untrusted }) =>
    `${outcome} after ${duration(durationMs)}: ${partsText(parts)}${untrusted ? ' (untrusted content)' : ''}`,
  'grant.revoked': ({ grant, by }) => `${grant} revoked by ${by}`,
  'instructions.changed': ({ files }) => instructionsText(files) || 'none',
  'context.compacted': ({ oldTokens, newTokens }) => `${oldTokens} tokens became ${newTokens}`,
};

/** Falls back to the event's own fields for types of a newer server. */
export function eventSummary(event: DurableEvent): string {
  if (!Object.hasOwn(SUMMARIES, event.type)) {
    const { type: _type, seq: _seq, session: _session, id: _id, at: _at, ...rest } = event as DurableEvent;
    return oneLine(JSON.stringify(rest));
  }
  const summary = SUMMARIES[event.type] as (event: DurableEvent) => string;
  return oneLine(summary(event), LONGEST * 2);
}

export const SUMMARISED = Object.keys(SUMMARIES) as readonly DurableEventType[];

// Summary of a frame: its type and its main text.

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

export function frameSummary(text: string): FrameSummary {
  const value = parsedJson(text);
  if (value === undefined) return { type: NOT_JSON, text: oneLine(text) };
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

/** Caches a derived value per object. Events and frames are immutable. */
export function memoize<Key extends object, Value>(make: (key: Key) => Value): (key: Key) => Value {
  const made = new WeakMap<Key, Value>();
  return (key) => {
    const known = made.get(key);
    if (known !== undefined) return known;
    const value = make(key);
    made.set(key, value);
    return value;
  };
}
