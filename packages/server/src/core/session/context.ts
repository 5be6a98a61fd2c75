/** The context of the model: folded from events, and cut if it grows too large. */
import {
  type CallId,
  type DurableEvent,
  type InputId,
  type JsonObject,
  type Part,
  textPart,
} from '@parlance/protocol';

import type { ContextItem } from '../ports/provider.ts';
import { promptItems } from './history.ts';
import { itemTokens } from './tokens.ts';

type Entry = {
  readonly item: ContextItem;
  readonly turn: number;
  readonly tokens: number;
  /** the event that it is of, and the position in an imported history */
  readonly from: { readonly seq: number; readonly index: number };
  readonly untrusted?: true;
};

type WaitingInput = {
  readonly input: InputId;
  readonly parts: readonly Part[];
  readonly seq: number;
  readonly data?: JsonObject;
  readonly system?: DurableEvent<'input.accepted'>['system'];
  readonly untrusted: boolean;
};

export type ModelContext = {
  readonly entries: readonly Entry[];
  readonly tokens: number;
  /** inputs whose turn has not started */
  readonly waiting: readonly WaitingInput[];
  /** the first event of each turn in the context, and the event of its input */
  readonly turns: readonly { readonly started: number; readonly input: number; readonly id: InputId }[];
  /** entries before this index belong to finished steps; the others are discarded after a crash */
  readonly settled: number;
  /** the vendor's count, including instructions and tools, and our estimate of the same content */
  readonly counted: { readonly tokens: number; readonly estimate: number } | null;
  /** the context before a rewind, until something is added */
  readonly undo?: ModelContext | undefined;
};

export const EMPTY: ModelContext = {
  entries: [],
  tokens: 0,
  waiting: [],
  turns: [],
  settled: 0,
  counted: null,
};

function add(
  context: ModelContext,
  item: ContextItem,
  {
    seq,
    settles,
    untrusted = false,
  }: { readonly seq: number; readonly settles: boolean; readonly untrusted?: boolean | undefined },
): ModelContext {
  const tokens = itemTokens(item);
  const turn = context.turns.at(-1)?.started ?? 0;
  const entry = { item, tokens, turn, from: { seq, index: 0 }, ...(untrusted && { untrusted }) };
  const entries = [...context.entries, entry];
  return {
    ...context,
    entries,
    tokens: context.tokens + tokens,
    settled: settles ? entries.length : context.settled,
  };
}

/** Adds an input whose turn starts, or that joins the running turn. Without parts, the model continues from the existing context. */
function spoken(context: ModelContext, input: WaitingInput | undefined): ModelContext {
  const { parts = [], data, system, untrusted, seq = 0 } = input ?? {};
  const before = instructed(context, system?.before);
  const withInput =
    parts.length > 0 ? add(before, { kind: 'user', parts, data }, { seq, settles: true, untrusted }) : before;
  return instructed(withInput, system?.after);
}

/** It cannot be removed on its own, so it has no event. */
const instructed = (context: ModelContext, text: string | undefined): ModelContext =>
  text ? add(context, { kind: 'system', text }, { seq: 0, settles: true }) : context;

/** Sorts the results at the end in the order of their calls, before instructions that came with them. */
function inCallOrder(context: ModelContext): ModelContext {
  const { entries } = context;
  const first = entries.findLastIndex(({ item }) => item.kind !== 'result' && item.kind !== 'system') + 1;
  if (entries.length - first < 2) return context;
  const callPositions = new Map(entries.map(({ item }, at) => [item.kind === 'call' ? item.call : null, at]));
  const place = ({ item }: Entry) =>
    item.kind === 'result' ? (callPositions.get(item.call) ?? 0) : entries.length;
  const results = entries.slice(first).sort((a, b) => place(a) - place(b));
  return { ...context, entries: [...entries.slice(0, first), ...results] };
}

const keep = (context: ModelContext, entries: readonly Entry[]): ModelContext => ({
  ...context,
  entries,
  tokens: entries.reduce((sum, entry) => sum + entry.tokens, 0),
  settled: entries.length,
});

/** The context without the turn of that input and all later turns. */
function before(context: ModelContext, input: number): ModelContext {
  const first = context.turns.find((turn) => turn.input >= input);
  if (!first) return context;
  const turns = context.turns.filter((turn) => turn.started < first.started);
  return keep(
    { ...context, turns, counted: null },
    context.entries.filter((entry) => entry.turn < first.started),
  );
}

/** The context without an item: model APIs refuse a call without its result, and vice versa. */
function without(context: ModelContext, { item: seq, index }: DurableEvent<'history.removed'>): ModelContext {
  const isIt = ({ from }: Entry) => from.seq === seq && from.index === index;
  const removed = context.entries.find(isIt)?.item;
  if (!removed) return context;
  const call = 'call' in removed ? removed.call : null;
  const rest = context.entries.filter(
    (entry) => !isIt(entry) && (call === null || !('call' in entry.item) || entry.item.call !== call),
  );
  return keep({ ...context, counted: null }, rest);
}

/** The characters of all texts, files and arguments in the context: about its size in memory. */
export const contextCharacters = ({ entries, waiting }: ModelContext): number =>
  charactersIn([entries, waiting]);

function charactersIn(value: unknown): number {
  if (typeof value === 'string') return value.length;
  if (typeof value !== 'object' || value === null) return 0;
  let sum = 0;
  for (const inner of Object.values(value)) sum += charactersIn(inner);
  return sum;
}

/** A page, or a file on the web that the vendor of the model fetches. */
const isFromElsewhere = (part: Part): boolean =>
  part.type === 'page' || (part.type === 'text' && part.link !== undefined);

/**
 * Whether the model had untrusted content in its context when it made this call; without a call, whether it has now. Ends when the
 * content leaves the context: a summary that replaces it does not count.
 */
export function isTainted({ entries }: ModelContext, call?: CallId): boolean {
  // Some models use the id of a call again.
  const made = entries.findLastIndex(({ item }) => item.kind === 'call' && item.call === call);
  return (made === -1 ? entries : entries.slice(0, made)).some(({ untrusted }) => untrusted);
}

/** A direct call may have no text, and models reject empty messages. */
function partsOf({ parts, call }: DurableEvent<'input.accepted'>): readonly Part[] {
  if (parts.length > 0 || !call) return parts;
  return [textPart(`/tool ${call.tool} ${JSON.stringify(call.input)}`)];
}

const FILES_REWOUND =
  'The user has restored files of the working folder to an earlier state. Read files again before you rely on their content.';

/** The context after the event. */
export function evolveContext(context: ModelContext, event: DurableEvent): ModelContext {
  switch (event.type) {
    case 'input.accepted': {
      // The model reads the answer in the result of the call that asked.
      if (event.answers !== undefined) return context;
      const { input, seq, data, system } = event;
      const untrusted = event.untrusted === true || event.parts.some(isFromElsewhere);
      const waiting = context.waiting.concat({ input, parts: partsOf(event), seq, data, system, untrusted });
      return { ...context, waiting, undo: undefined };
    }
    case 'input.cancelled':
      return { ...context, waiting: context.waiting.filter(({ input }) => input !== event.input) };
    case 'turn.started': {
      const input = context.waiting.find((waiting) => waiting.input === event.input);
      const waiting = context.waiting.filter((other) => other !== input);
      const turns = [
        ...context.turns,
        { started: event.seq, input: input?.seq ?? event.seq, id: event.input },
      ];
      return spoken({ ...context, waiting, turns }, input);
    }
    case 'input.joined': {
      const input = context.waiting.find((waiting) => waiting.input === event.input);
      return spoken({ ...context, waiting: context.waiting.filter((other) => other !== input) }, input);
    }
    case 'history.imported': {
      const { seq, input, items } = event;
      // Results were not made by a tool of this server.
      const untrusted =
        event.untrusted ??
        items.some(
          (item) => item.type === 'result' || (item.type === 'user' && item.parts.some(isFromElsewhere)),
        );
      const turns = input ? context.turns.concat({ started: seq, input: seq, id: input }) : context.turns;
      const turn = turns.at(-1)?.started ?? 0;
      const added = promptItems(items).map(
        ({ item, index }): Entry => ({
          item,
          tokens: itemTokens(item),
          turn,
          from: { seq, index },
          ...(untrusted && { untrusted }),
        }),
      );
      // `concat` and an incremental sum: a history may have thousands of these events.
      const entries = context.entries.concat(added);
      const tokens = added.reduce((sum, entry) => sum + entry.tokens, context.tokens);
      return { ...context, turns, entries, tokens, settled: entries.length, undo: undefined };
    }
    case 'reasoning.ended':
      return add(
        context,
        { kind: 'reasoning', text: event.text, sealed: event.sealed },
        { seq: event.seq, settles: event.interrupted === true },
      );
    case 'text.ended':
      return add(
        context,
        { kind: 'text', text: event.text },
        { seq: event.seq, settles: event.interrupted === true },
      );
    case 'call.requested':
      // Calls are recorded with the end of their step, and direct calls have no step: they are never
      // discarded.
      return add(
        context,
        { kind: 'call', call: event.call, tool: event.tool, input: event.input, sealed: event.sealed },
        { seq: event.seq, settles: true },
      );
    case 'tool.ended': {
      const { call, parts, data, outcome, seq } = event;
      const item: ContextItem = { kind: 'result', call, parts, failed: outcome !== 'ok', data };
      const untrusted = event.untrusted === true || parts.some(isFromElsewhere);
      const answered = add(context, item, { seq, settles: true, untrusted });
      return inCallOrder(instructed(answered, event.system));
    }
    case 'step.ended': {
      const { inputTokens, outputTokens } = event.usage;
      const { estimate } = event;
      // Servers without token counts report zero.
      const counted =
        event.counted && inputTokens > 0 && estimate !== undefined
          ? { tokens: inputTokens + outputTokens, estimate }
          : context.counted;
      return { ...context, counted, settled: context.entries.length };
    }
    case 'turn.failed':
    case 'turn.cancelled':
      return { ...context, settled: context.entries.length };
    case 'turn.resumed':
    case 'step.restarted':
      return keep(context, context.entries.slice(0, context.settled));
    case 'history.removed':
      return { ...without(context, event), undo: undefined };
    case 'session.cleared':
      return { ...EMPTY, waiting: context.waiting };
    case 'context.compacted': {
      const stays = (entry: Entry) => entry.turn >= event.keepFrom && entry.item.kind !== 'summary';
      const summary: ContextItem = { kind: 'summary', text: event.summary };
      const from = { seq: event.seq, index: 0 };
      const entry = { item: summary, tokens: itemTokens(summary), turn: event.keepFrom, from };
      const turns = context.turns.filter((turn) => turn.started >= event.keepFrom);
      const kept = keep({ ...context, turns, undo: undefined }, [entry, ...context.entries.filter(stays)]);
      // Uses this event alone: a reader that starts at `readFrom` has not seen earlier counts.
      const { newTokens: tokens, estimate } = event;
      return {
        ...kept,
        counted: estimate === undefined ? null : { tokens, estimate },
        // Entries of an unfinished step stay unsettled.
        settled: 1 + context.entries.slice(0, context.settled).filter(stays).length,
      };
    }
    case 'session.rewound': {
      const rewound = before(context, event.from);
      return event.rewind === undefined ? rewound : { ...rewound, undo: { ...context, undo: undefined } };
    }
    case 'session.restored':
      return context.undo ?? context;
    case 'files.rewound':
      // Without the names: they come from the folder, and this is an instruction.
      return event.restored.length === 0 ? context : instructed(context, FILES_REWOUND);
    case 'rewind.started':
    case 'session.created':
    case 'session.configured':
    case 'session.renamed':
    case 'session.archived':
    case 'session.unarchived':
    case 'session.pinned':
    case 'session.tagged':
    case 'session.labelled':
    case 'usage.recorded':
    case 'limit.approached':
    case 'turn.ended':
    case 'agent.changed':
    case 'approval.requested':
    case 'approval.explained':
    case 'approval.answered':
    case 'question.asked':
    case 'question.repeated':
    case 'question.answered':
    case 'tool.started':
    case 'call.deferred':
    case 'call.delegated':
    case 'child.stopped':
    case 'parent.informed':
    case 'grant.revoked':
    case 'instructions.changed':
      return context;
  }
}

/** The items that a compaction summarises, and where the kept part starts. */
export type Cut = {
  readonly dropped: readonly ContextItem[];
  readonly droppedTokens: number;
  readonly keepFrom: number;
  readonly readFrom: number;
};

/**
 * Keeps the last complete turns that fit into `budget` tokens, and always those from `atLeastFrom` on. A call
 * and its result belong to one turn, so they are never separated. Null if nothing would be gained.
 */
export function cutContext(
  context: ModelContext,
  budget: number,
  atLeastFrom = Number.POSITIVE_INFINITY,
): Cut | null {
  // Also keep turns that start later.
  let keepFrom = Math.min(atLeastFrom, (context.turns.at(-1)?.started ?? 0) + 1);
  let readFrom = context.turns.find((turn) => turn.started >= keepFrom)?.input ?? keepFrom;
  // Queued inputs were accepted earlier, and readers of the context need them.
  for (const { seq } of context.waiting) readFrom = Math.min(readFrom, seq);
  let left = budget;
  for (const turn of [...context.turns].reverse()) {
    if (turn.started >= atLeastFrom) continue;
    const cost = context.entries.reduce(
      (sum, entry) => (entry.turn === turn.started ? sum + entry.tokens : sum),
      0,
    );
    if (cost > left) break;
    left -= cost;
    keepFrom = turn.started;
    readFrom = Math.min(readFrom, turn.input);
  }
  const dropped = context.entries.filter((entry) => entry.turn < keepFrom || entry.item.kind === 'summary');
  // A summary of only the last summary would lose information.
  if (dropped.every((entry) => entry.item.kind === 'summary')) return null;
  return {
    dropped: dropped.map((entry) => entry.item),
    droppedTokens: dropped.reduce((sum, entry) => sum + entry.tokens, 0),
    keepFrom,
    readFrom,
  };
}
