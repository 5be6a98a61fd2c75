/** The messages of a session, made from the same frames as the streams. */
import {
  type DurableEvent,
  Fault,
  type HistoryItem,
  type InputId,
  type Json,
  type SessionEvent,
  type TurnId,
  textOf,
  withoutPages,
} from '@parlance/protocol';
import type { Engine, SessionRef, SessionSnapshot } from '../../core/index.ts';
import type { Frame } from '../kit/projection.ts';
import { firstWholeTurn, latestEvents } from '../kit/replay.ts';
import { rewoundText } from '../kit/texts.ts';
import type { Chunk, ToolChunk } from './contract.ts';
import { messageId, metadataOf, type StoredInput } from './log.ts';
import { type Body, joined, START, step, userPart } from './outbound.ts';

type History = {
  readonly messages: readonly UIMessage[];
  /** the position of the page before; null if this is the first */
  readonly before: Position | null;
};

const READ_AT_ONCE = 500;

/** The latest messages, or those before a position. An answer under way is shown as far as it is known. */
export async function historyOf(
  engine: Engine,
  ref: SessionRef,
  { limit, position }: { readonly limit: number; readonly position: Position | undefined },
): Promise<History & { readonly title: string }> {
  let snapshot = await engine.snapshot(ref);
  const { before, hidden } = position ?? LATEST;
  const end = Math.min(before, snapshot.seq + 1);
  const window = await windowOf(engine, ref, { before: end, hidden, limit });
  const fold = new HistoryFold(window.from, hidden);
  if (position) {
    for (let after = window.first - 1; after < end - 1; ) {
      const events = await engine.events(ref, after, Math.min(READ_AT_ONCE, end - 1 - after));
      for (const event of events) fold.add(event);
      after = events.at(-1)?.seq ?? end;
    }
  } else {
    let isPresent = false;
    const watch = await engine.watch(ref, (event) => isPresent || fold.add(event), {
      after: window.first - 1,
      begin(now) {
        isPresent = true;
        snapshot = now.snapshot();
        fold.join(snapshot);
      },
    });
    watch.stop();
  }
  return { title: snapshot.title, ...fold.page(limit, { isLatest: !position, isFirst: window.whole }) };
}

type Entry = {
  readonly message: UIMessage;
  /** the event that accepted the input, and the one with which its turn is shown */
  readonly input: number;
  readonly turn: number;
};

export class HistoryFold {
  #state = START;
  #entries: Entry[] = [];
  /** by the last rewind */
  #removed: Entry[] = [];
  /** queued messages */
  readonly #waiting = new Map<InputId, { readonly message: UIMessage; readonly seq: number }>();
  readonly #builders = new Map<TurnId, MessageBuilder>();
  readonly #rewinds: Pick<DurableEvent<'session.rewound'>, 'seq' | 'from'>[] = [];

  /** Turns are shown from event `from` on, and without inputs from `hidden` on. */
  constructor(
    private readonly from = 1,
    private readonly hidden = LATEST.hidden,
  ) {}

  add(event: SessionEvent): void {
    switch (event.type) {
      case 'history.imported':
        if (event.seq >= this.from) this.#entries.push(...importedEntries(event));
        break;
      case 'input.accepted': {
        const message = userMessage(event);
        if (message) this.#waiting.set(event.input, { message, seq: event.seq });
        break;
      }
      case 'input.cancelled':
      case 'input.joined':
        this.#waiting.delete(event.input);
        break;
      case 'turn.started':
        this.#begin(event);
        break;
      case 'session.rewound':
        this.#removed = this.#entries.filter(({ input }) => input >= event.from);
        this.#entries = this.#entries.filter(({ input }) => input < event.from);
        this.#rewinds.push(event);
        break;
      case 'session.restored':
        this.#entries.push(...this.#removed);
        this.#rewinds.pop();
        break;
      case 'files.rewound': {
        const parts = [{ type: 'text' as const, text: rewoundText(event), state: 'done' as const }];
        const message: UIMessage = { id: event.id, role: 'assistant', parts };
        if (event.seq >= this.from) this.#entries.push({ message, input: event.seq, turn: event.seq });
        break;
      }
      case 'session.cleared':
        this.#entries = [];
    }
    const [state, frames] = step(this.#state, event);
    this.#state = state;
    this.#show(frames);
  }

  /** Adds the block being streamed. */
  join(now: SessionSnapshot): void {
    this.#show(joined(this.#state, now)[1]);
  }

  /** The messages of the last turns, `limit` of them or one more, and where those before end. */
  page(
    limit: number,
    { isLatest, isFirst }: { readonly isLatest: boolean; readonly isFirst: boolean },
  ): History {
    const shown = this.#entries.filter(
      ({ message, input }) => message.parts.length > 0 && input < this.hidden,
    );
    const waiting = isLatest ? [...this.#waiting.values()].map(({ message }) => message) : [];
    const first = shown.at(-Math.max(1, limit - waiting.length))?.turn ?? this.from;
    const page = shown.filter(({ turn }) => turn >= first);
    const isAll = page.length === shown.length;
    const before = isAll ? this.from : first;
    // What is replaced later than this page begins is not part of the pages before it.
    const replaced = this.#rewinds.filter(({ seq }) => seq >= before).map(({ from }) => from);
    return {
      messages: [...page.map(({ message }) => message), ...waiting],
      before: isAll && isFirst ? null : { before, hidden: Math.min(this.hidden, ...replaced) },
    };
  }

  #begin({ turn, input, seq }: DurableEvent<'turn.started'>): void {
    const asked = this.#waiting.get(input);
    this.#waiting.delete(input);
    if (seq < this.from) return;
    const place = { input: asked?.seq ?? seq, turn: seq };
    if (asked) this.#entries.push({ ...place, message: asked.message });
    const builder = new MessageBuilder(turn);
    this.#builders.clear();
    this.#builders.set(turn, builder);
    this.#entries.push({ ...place, message: builder.message });
  }

  #show(frames: readonly Frame<Body>[]): void {
    for (const { body } of frames) if ('chunk' in body) this.#builders.get(body.turn)?.add(body.chunk);
  }
}

/** Null if the input has no message: it lets the model continue. */
function userMessage(event: DurableEvent<'input.accepted'>): UIMessage | null {
  const { parts, call } = event;
  if (parts.length === 0 && !call) return null;
  const called = call ? `${call.tool} ${JSON.stringify(call.input)}` : '';
  const metadata = metadataOf(event);
  return {
    id: idOf(event),
    role: 'user',
    ...(metadata !== undefined && { metadata }),
    parts: parts.length > 0 ? withoutPages(parts).map(userPart) : [{ type: 'text', text: called }],
  };
}

const idOf = (event: StoredInput): string => messageId(event) ?? event.id;

/** The message of the user, and the reply to it as one message. */
function importedEntries(event: DurableEvent<'history.imported'>): Entry[] {
  const { input, items, seq } = event;
  const place = { input: seq, turn: seq };
  const [first, ...rest] = items;
  const user = first?.type === 'user' ? first : null;
  const answer = importedParts(user ? rest : items);
  const messages: UIMessage[] = [];
  if (user && input)
    messages.push({ id: idOf(event), role: 'user', parts: withoutPages(user.parts).map(userPart) });
  if (answer.length > 0) messages.push({ id: answerId(event), role: 'assistant', parts: answer });
  return messages.map((message) => ({ ...place, message }));
}

/** The id of the page, if the history came from one. */
const answerId = ({ id, dialect, items }: DurableEvent<'history.imported'>): string =>
  (dialect === 'aisdk' && items.flatMap((item) => ('id' in item ? (item.id ?? []) : []))[0]) || id;

function importedParts(items: readonly HistoryItem[]): UIPart[] {
  const results = new Map(items.flatMap((item) => (item.type === 'result' ? [[item.call, item]] : [])));
  return items.flatMap((item): UIPart[] => {
    if (item.type === 'text' || item.type === 'reasoning')
      return [{ type: item.type, text: item.text, state: 'done' }];
    if (item.type !== 'call') return [];
    const { call: toolCallId, tool: toolName, input } = item;
    const result = results.get(toolCallId);
    const text = textOf(result?.parts ?? []);
    const outcome =
      result && !result.failed
        ? { state: 'output-available' as const, output: text }
        : { state: 'output-error' as const, errorText: text || 'aborted' };
    return [{ type: 'dynamic-tool', toolCallId, toolName, providerExecuted: true, input, ...outcome }];
  });
}

// Builds a UI message from chunks, like the client.

type TextPart = {
  readonly type: 'text' | 'reasoning';
  /** for reasoning only */
  readonly id?: string;
  text: string;
  state?: 'streaming' | 'done';
};

type ToolPart = {
  readonly type: 'dynamic-tool' | `tool-${string}`;
  readonly toolName?: string;
  readonly toolCallId: string;
  readonly providerExecuted?: true;
  state:
    | 'input-streaming'
    | 'input-available'
    | 'approval-requested'
    | 'approval-responded'
    | 'output-available'
    | 'output-error'
    | 'output-denied';
  input?: Json;
  output?: Json;
  errorText?: string;
  approval?: { id: string; approved?: boolean; requestReason?: string; reason?: string } | undefined;
};

type UIPart =
  | TextPart
  | ToolPart
  | { readonly type: 'step-start' }
  | Extract<Chunk, { type: 'steering-message' }>
  | { readonly type: 'file'; readonly mediaType: string; readonly filename?: string; readonly url: string };

type UIMessage = {
  readonly id: string;
  readonly role: 'user' | 'assistant';
  metadata?: Json;
  readonly parts: UIPart[];
};

/** The message of a turn. */
class MessageBuilder {
  readonly message: UIMessage;
  readonly #texts = new Map<string, TextPart>();
  readonly #tools = new Map<string, ToolPart>();

  constructor(id: string) {
    this.message = { id, role: 'assistant', parts: [] };
  }

  add(chunk: Chunk): void {
    const { parts } = this.message;
    switch (chunk.type) {
      case 'steering-message':
        parts.push(chunk);
        break;
      case 'message-metadata':
        this.message.metadata = chunk.messageMetadata;
        break;
      case 'start-step':
        parts.push({ type: 'step-start' });
        break;
      case 'reset-step':
        parts.splice(parts.findLastIndex(({ type }) => type === 'step-start') + 1);
        break;
      case 'text-start':
      case 'reasoning-start': {
        const { type, id } = chunk;
        const part: TextPart = {
          ...(type === 'text-start' ? { type: 'text' } : { type: 'reasoning', id }),
          text: '',
          state: 'streaming',
        };
        this.#texts.set(id, part);
        parts.push(part);
        break;
      }
      case 'text-delta':
      case 'reasoning-delta': {
        const part = this.#texts.get(chunk.id);
        if (part) part.text += chunk.delta;
        break;
      }
      case 'text-end':
      case 'reasoning-end': {
        const part = this.#texts.get(chunk.id);
        if (part) part.state = 'done';
        break;
      }
      case 'start':
      case 'finish-step':
      case 'finish':
      case 'error':
      case 'abort':
      case 'data-limit':
      case 'data-instructions':
      case 'data-progress':
        break;
      default:
        this.#addToTool(chunk);
    }
  }

  #addToTool(chunk: ToolChunk): void {
    if (chunk.type === 'tool-input-start') {
      const { toolCallId, toolName, dynamic, providerExecuted } = chunk;
      const kind = dynamic
        ? { type: 'dynamic-tool' as const, toolName }
        : { type: `tool-${toolName}` as const };
      const part: ToolPart = {
        ...kind,
        toolCallId,
        state: 'input-streaming',
        ...(providerExecuted && { providerExecuted }),
      };
      this.#tools.set(toolCallId, part);
      this.message.parts.push(part);
      return;
    }
    const part = this.#tools.get(chunk.toolCallId);
    if (part) Object.assign(part, changeOf(part, chunk));
  }
}

/** The fields of the part that the chunk changes. */
function changeOf(
  { approval }: ToolPart,
  chunk: Exclude<ToolChunk, { type: 'tool-input-start' }>,
): Partial<ToolPart> {
  const isDenied = approval !== undefined && approval.approved !== true;
  switch (chunk.type) {
    case 'tool-input-delta':
      return {};
    case 'tool-input-available':
      return { state: 'input-available', input: chunk.input };
    case 'tool-approval-request':
      return {
        state: 'approval-requested',
        approval: { id: chunk.approvalId, requestReason: chunk.reason },
      };
    case 'tool-approval-response': {
      const { approvalId: id, approved, reason } = chunk;
      const answer = { id, approved, ...(reason !== undefined && { reason }) };
      return { state: 'approval-responded', approval: { ...approval, ...answer } };
    }
    // Only a granted approval may be combined with an outcome. A call whose sub-agent was denied something has one, too.
    case 'tool-output-available':
      return { state: 'output-available', output: chunk.output, ...(isDenied && { approval: undefined }) };
    case 'tool-output-error':
      return { state: 'output-error', errorText: chunk.errorText, ...(isDenied && { approval: undefined }) };
    case 'tool-output-denied':
      return { state: 'output-denied' };
  }
}

// Which events a page of the history is made of: read from the end, so that a long chat costs no more than a short one.

const PAGE = 500;
/** The message of the user and the answer. */
const MESSAGES_OF_TURN = 2;

/** The end of a page: the turns that started before this event, without inputs from `hidden` on, which were replaced. */
type Position = { readonly before: number; readonly hidden: number };

type Window = {
  /** the first event to read, and the first that a turn or an imported history is shown from */
  readonly first: number;
  readonly from: number;
  /** nothing before it is shown */
  readonly whole: boolean;
};

/** The window of at least `limit` messages, or of all that there are. */
async function windowOf(
  engine: Pick<Engine, 'eventsBackwards'>,
  ref: SessionRef,
  { before, hidden, limit }: Position & { readonly limit: number },
): Promise<Window> {
  let window: Window = { first: 1, from: 1, whole: true };
  for await (const { events, whole } of latestEvents(engine, { ref, head: before - 1 }, PAGE)) {
    const cleared = events.findLastIndex(({ type }) => type === 'session.cleared');
    const shown = events.slice(cleared + 1);
    const isAll = whole || cleared >= 0;
    const from = shown[isAll ? 0 : firstWholeTurn(shown)]?.seq;
    if (from === undefined) continue;
    window = { first: shown[0]?.seq ?? 1, from, whole: isAll };
    if (isAll || turnsIn(shown, from, hidden) * MESSAGES_OF_TURN > limit) break;
  }
  return window;
}

/** How many of the turns are still part of the chat. */
function turnsIn(events: readonly DurableEvent[], from: number, hiddenFrom: number): number {
  let hidden = hiddenFrom;
  let count = 0;
  const undone = new Set<string>();
  for (const event of events.toReversed()) {
    if (event.type === 'session.restored') undone.add(event.rewind);
    if (event.type === 'session.rewound' && !undone.has(event.rewind ?? ''))
      hidden = Math.min(hidden, event.from);
    const isTurn = event.type === 'turn.started' || event.type === 'history.imported';
    if (isTurn && event.seq >= from && event.seq < hidden) count++;
  }
  return count;
}

const LATEST: Position = { before: Number.MAX_SAFE_INTEGER, hidden: Number.MAX_SAFE_INTEGER };

export const cursorOf = ({ before, hidden }: Position): string =>
  hidden < before ? `${before}-${hidden}` : `${before}`;

/** Throws `invalid`. */
export function positionOf(cursor: string): Position {
  const [, before, hidden] = /^(\d{1,15})(?:-(\d{1,15}))?$/.exec(cursor) ?? [];
  if (before === undefined) throw new Fault('invalid', 'before is not a cursor of this chat.');
  return { before: Number(before), hidden: Number(hidden ?? before) };
}
