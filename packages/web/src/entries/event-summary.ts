/** One-line summaries of events. They may omit fields but never add anything; the exact event is one click away. */
import type { DurableEvent, DurableEventType, Part } from '@parlance/protocol';

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
  'session.cleared': ({ by }) => `context cleared by ${by}`,
  'session.rewound': ({ from, by }) => `rewound to before event ${from} by ${by}`,
  'session.configured': ({ model, approval, agent, by }) =>
    `${[...changed('model', model), ...changed('approval', approval), ...changed('agent', agent?.name)].join(', ') || 'nothing'}; by ${by}`,
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
  'step.restarted': ({ attempt, delayMs, fault }) =>
    `attempt ${attempt} in ${duration(delayMs)}, after ${fault.code}: ${oneLine(fault.message)}`,
  'step.ended': ({ usage, stop }) => `${STOPS[stop]}; ${tokens(usage)}`,
  'call.requested': ({ tool, input, malformed }) =>
    `${tool} ${malformed === undefined ? oneLine(JSON.stringify(input)) : 'with malformed JSON input'}`,
  'approval.requested': ({ ask }) => `${ask.kind}: ${oneLine(ask.description || ask.command.join(' '))}`,
  'approval.explained': ({ text }) => quoted(text),
  'approval.answered': ({ answer, by, dialect, reason }) =>
    `${answer}, by ${by} in ${dialect}${reason === undefined ? '' : `: ${oneLine(reason)}`}`,
  'tool.started': ({ call }) => `call ${call} started`,
  'call.deferred': ({ call }) => `call ${call} is deferred to a client; the session waits for its result`,
  'tool.ended': ({ outcome, parts, durationMs, untrusted }) =>
    `${outcome} after ${duration(durationMs)}: ${partsText(parts)}${untrusted ? ' (untrusted content)' : ''}`,
  'grant.revoked': ({ grant, by }) => `${grant} revoked by ${by}`,
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
