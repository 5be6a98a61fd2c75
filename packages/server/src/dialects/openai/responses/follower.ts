/** Follows a segment: the response and the events of its stream, until the turn waits or ends. */
import { Fault, type HistoryItem, type Principal, type Usage } from '@parlance/protocol';
import { addUsage, type SessionRef } from '../../../core/index.ts';
import { cancelTurn, FallbackModel } from '../../kit/request-turn.ts';
import {
  type Blocked,
  type RequestedApproval,
  type RequestedCall,
  readUpdates,
  type TurnUpdate,
  type UpdateReader,
  unanswered,
} from '../../kit/turn-updates.ts';
import type { VendorContext } from '../../kit/vendor-requests.ts';
import { errorBody } from '../contract.ts';
import { historyItems } from '../input.ts';
import {
  approvalItem,
  functionCallItem,
  IN_PROGRESS,
  type ItemKind,
  itemId,
  type MessagePhase,
  mcpCallItem,
  messageItem,
  type NamedCall,
  type OutputItem,
  type ResponseObject,
  type ResponseStatus,
  reasoningItem,
  responseObject,
  type Segment,
  summaryText,
  textContent,
} from './objects.ts';

type ItemEvent = { readonly type: string } & Readonly<Record<string, unknown>>;

export type NumberedEvent = ItemEvent & { readonly sequence_number: number };

type FollowOptions = {
  /** called with every event of the stream, starting with the first */
  readonly emit: (event: NumberedEvent) => void;
  readonly restarts: Restarts;
  /** the last event number that the reader has received; absent if there is none */
  readonly after?: number;
};

export class ResponseFollower {
  /** Resolves when the response has ended, even if it failed. */
  readonly done: Promise<void>;
  /** the reason of a failure, or null */
  fault: Fault | null = null;
  /** the last event of the response, once it has ended */
  endSeq = 0;
  readonly #ends = Promise.withResolvers<void>();
  readonly #gate: EventGate<NumberedEvent>;
  readonly #callersTools: ReadonlySet<string>;
  readonly #writer: OutputWriter;
  #status: ResponseStatus = 'queued';
  #endedAt: number | null = null;
  #sequence = 0;
  readonly #fallback = new FallbackModel();

  private constructor(
    readonly segment: Segment,
    private readonly reader: UpdateReader,
    private readonly watching: FollowOptions | null,
  ) {
    const { session, terms } = segment.head;
    this.done = this.#ends.promise;
    this.#gate = new EventGate((event) => watching?.emit(event));
    this.#callersTools = new Set(terms.tools?.map(({ name }) => name));
    this.#writer = new OutputWriter(session, this.#callersTools, (event) => this.#emit(event));
  }

  static async open(
    ctx: Pick<VendorContext, 'engine'>,
    segment: Segment,
    watching: FollowOptions | null = null,
  ): Promise<ResponseFollower> {
    const { ref, start, state, target } = segment;
    const reader = await readUpdates(ctx.engine, ref, { after: start.seq - 1, state });
    const follower = new ResponseFollower(segment, reader, watching);
    follower.#lifecycle('response.created');
    follower.#lifecycle('response.in_progress');
    if (target.turn !== null) follower.#status = 'in_progress';
    reader.follow(target, {
      update: (update) => follower.#take(update),
      status: (status) => {
        if (status.kind === 'blocked' && reader.follows(status.turn))
          follower.#blocked({ ...status, since: reader.state.changed ?? reader });
      },
      ended: (fault) => follower.#turnEnded(fault),
    });
    // Deleted between its acceptance and now: nothing would follow.
    if (reader.seq < start.seq) follower.#turnEnded(new Fault('not_found', 'The session was deleted.'));
    return follower;
  }

  get isOver(): boolean {
    return this.#endedAt !== null;
  }

  get response(): ResponseObject {
    const { output, usage, stop } = this.#writer;
    const status = this.#status;
    const reason = stop === 'length' ? 'max_output_tokens' : 'content_filter';
    const { head } = this.segment;
    return responseObject(
      { ...head, model: this.#fallback.name ?? head.model },
      {
        status,
        output,
        usage: this.isOver ? usage : null,
        completedAt: status === 'completed' ? this.#endedAt : null,
        error: status === 'failed' && this.fault ? errorOf(this.fault) : null,
        reason: status === 'incomplete' ? reason : null,
      },
    );
  }

  /** the answer as history items, as a client sends it back */
  get items(): HistoryItem[] {
    return this.#writer.output.flatMap((item) => historyItems(item, 'output'));
  }

  /** The client no longer waits for the response. */
  abandon(): void {
    this.#turnEnded(new Fault('cancelled', 'The client has disconnected.'));
  }

  stop(): void {
    this.reader.stop();
  }

  /** Cancels the turn of an unfinished response, even if it has not started. */
  async cancel(ctx: Pick<VendorContext, 'engine' | 'log'>, principal: Principal): Promise<void> {
    const { ref, start } = this.segment;
    const turn = this.reader.turn ?? (start.type === 'input.accepted' ? start.turn : null);
    if (turn && !this.isOver) await cancelTurn(ctx, ref, { principal, dialect: 'openai' }, turn);
  }

  #take(update: TurnUpdate): void {
    if (this.#status === 'queued') this.#status = 'in_progress';
    if (update.kind === 'blocked') return void this.#blocked(update);
    this.#fallback.add(update);
    const wasShown = update.kind === 'restarted' && (update.shown || this.#writer.isOpen);
    const isExact = this.#writer.isOpen;
    this.#writer.add(update);
    if (wasShown) this.#renumber(isExact);
  }

  /**
   * After a restart, numbering continues after the events that were sent. `isExact`: all of those are known
   * here.
   */
  #renumber(isExact: boolean): void {
    const { reader, watching } = this;
    if (!watching) return;
    const { restarts, after = -1 } = watching;
    const now: Position = { number: this.#sequence, index: this.#writer.next };
    const known = restarts.at(reader.seq);
    const next = known ?? (isExact ? now : positionAfter(now, after));
    // Fills the gap of discarded events.
    while (this.#sequence < next.number) this.#emit({ type: 'keepalive' });
    this.#writer.next = Math.max(this.#writer.next, next.index);
    if (!known) this.#gate.holdUntil(restarts.keep(reader.seq, next));
  }

  #blocked(blocked: Blocked): void {
    const open = unanswered(blocked, this.segment.target.answered);
    if (this.isOver || !open) return;
    // Calls that other clients execute do not end the response.
    if (
      open.questions.length === 0 &&
      open.approvals.length === 0 &&
      !open.deferred.some(({ tool }) => this.#callersTools.has(tool))
    )
      return;
    this.#writer.ask(open.approvals);
    this.#end('completed', open.since);
  }

  #turnEnded(fault: Fault | null): void {
    if (this.isOver) return;
    this.fault = fault;
    const { seq, at } = this.reader;
    if (fault) this.#end(fault.code === 'cancelled' ? 'cancelled' : 'failed', { seq, at });
    else this.#end(this.#writer.stop === 'done' ? 'completed' : 'incomplete', { seq, at });
  }

  #end(status: ResponseStatus, { seq, at }: { readonly seq: number; readonly at: number }): void {
    if (this.isOver) return;
    this.reader.stop();
    this.#writer.end(status === 'completed' ? 'completed' : 'incomplete');
    this.#status = status;
    this.#endedAt = at;
    this.endSeq = seq;
    this.#lifecycle(`response.${status === 'cancelled' ? 'failed' : status}`);
    void this.#gate.idle.then(() => this.#ends.resolve());
  }

  #lifecycle(type: string): void {
    if (!this.watching) return;
    const begins = type === 'response.created' || type === 'response.in_progress';
    this.#emit({ type, response: begins ? responseObject(this.segment.head, IN_PROGRESS) : this.response });
  }

  #emit({ type, ...rest }: ItemEvent): void {
    const sequence_number = this.#sequence++;
    if (this.watching) this.#gate.send({ type, sequence_number, ...rest });
  }
}

function errorOf(fault: Fault): { readonly code: string; readonly message: string } {
  const { code, message } = errorBody(fault).error;
  return { code: code ?? 'server_error', message };
}

/** Passes events on in order, and holds them back until something is stored. */
class EventGate<Event> {
  #held: Event[] = [];
  #waiting = 0;
  /** Resolves when nothing is held back. */
  idle: Promise<void> = Promise.resolve();

  constructor(private readonly pass: (event: Event) => void) {}

  send(event: Event): void {
    if (this.#waiting > 0) this.#held.push(event);
    else this.pass(event);
  }

  /** Holds events back until the promise has settled. */
  holdUntil(stored: Promise<void>): void {
    this.#waiting++;
    const release = () => {
      this.#waiting--;
      if (this.#waiting === 0) for (const event of this.#held.splice(0)) this.pass(event);
    };
    this.idle = Promise.all([this.idle, stored.then(release, release)]).then(() => undefined);
  }
}

// Numbering of the streams of a session after a restarted step. Discarded output is not stored, so the log alone does
// not tell how many events and items were sent: a label stores the numbers with which the first stream continued.

/** The number of the next event, and the index of the next item. */
type Position = { readonly number: number; readonly index: number };

const LABEL = 'openai.restarts';
const MAX_CHARACTERS = 2_000;
/** The most events of a discarded step that a reader can have received. */
const MAX_VOID = 100_000;

/** A session, and who reads it. */
type SessionAccess = { readonly ref: SessionRef; readonly principal: Principal };

export class Restarts {
  private constructor(
    private readonly ctx: Pick<VendorContext, 'engine' | 'log'>,
    private readonly named: SessionAccess,
    private readonly known: ReadonlyMap<number, Position>,
  ) {}

  static async of(ctx: Pick<VendorContext, 'engine' | 'log'>, named: SessionAccess): Promise<Restarts> {
    return new Restarts(ctx, named, positionsIn(await labelOf(ctx, named)));
  }

  /** Null if no stream has continued after that event. */
  at(restarted: number): Position | null {
    return this.known.get(restarted) ?? null;
  }

  /** Resolves when the position is stored, or storing it has failed. */
  async keep(restarted: number, { number, index }: Position): Promise<void> {
    const { engine, log } = this.ctx;
    const { ref, principal } = this.named;
    try {
      const entries = (await labelOf(this.ctx, this.named)).split(' ').filter((entry) => entry !== '');
      if (entries.some((entry) => entry.startsWith(`${restarted}:`))) return;
      entries.push([restarted, number, index].join(':'));
      while (entries.join(' ').length > MAX_CHARACTERS) entries.shift();
      const labels = { [LABEL]: entries.join(' ') };
      await engine.send(ref, { type: 'session.label', labels }, { principal, dialect: 'openai' });
    } catch (thrown) {
      log.warn({ err: thrown, session: ref.id }, 'failed to store stream position');
    }
  }
}

const labelOf = async ({ engine }: Pick<VendorContext, 'engine'>, { ref }: SessionAccess): Promise<string> =>
  (await engine.record(ref))?.labels[LABEL] ?? '';

const positionsIn = (label: string): Map<number, Position> =>
  new Map(
    label.split(' ').map((entry) => {
      const [restarted = 0, number = 0, index = 0] = entry.split(':').map(Number);
      return [restarted, { number, index }];
    }),
  );

/**
 * The position of a stream whose reader may have received unknown discarded events, the last with number
 * `after`.
 */
function positionAfter(now: Position, after: number): Position {
  const unknown = after + 1 - now.number;
  if (unknown <= 0 || unknown > MAX_VOID) return now;
  // Each of these events may have started an item.
  return { number: after + 1, index: now.index + unknown };
}

// Converts the updates of a turn to the output of a response and the events of its stream. The same updates give the
// same events with the same numbers, whether streamed or read from the log.

/** How an item ends: complete, or incomplete because its step was restarted. */
type Ending = 'completed' | 'incomplete';

type Entry = {
  readonly id: string;
  readonly index: number;
  /** null once the item is done */
  open: OpenItem | null;
  item: OutputItem;
  /** its step has ended, so the item stays */
  settled: boolean;
};

type Updates<Kind extends TurnUpdate['kind']> = Extract<TurnUpdate, { kind: Kind }>;

class OutputWriter {
  usage: Usage = { inputTokens: 0, outputTokens: 0 };
  /** why the model last stopped */
  stop: 'done' | 'length' | 'refused' = 'done';
  #entries: Entry[] = [];
  /** the block being written */
  #block: string | null = null;
  /** index of the next item */
  next = 0;

  constructor(
    private readonly session: string,
    private readonly callersTools: ReadonlySet<string>,
    private readonly emit: (event: ItemEvent) => void,
  ) {}

  get output(): OutputItem[] {
    return this.#entries.map(({ item }) => item);
  }

  /** an item is being written */
  get isOpen(): boolean {
    return this.#entries.some(({ open }) => open !== null);
  }

  add(update: TurnUpdate): void {
    switch (update.kind) {
      case 'text':
      case 'reasoning':
        this.#say(update);
        break;
      case 'arguments':
        this.#write(update);
        break;
      case 'requested':
        this.#request(update);
        break;
      case 'deferred':
        this.#close(this.#find('fc', update.call), 'completed');
        break;
      case 'running':
        this.#run(update);
        break;
      case 'result':
        this.#result(update);
        break;
      case 'restarted':
        this.#restart();
        break;
      case 'step':
        this.#closeBlock('completed', update.stop === 'calls' ? 'commentary' : 'final_answer');
        for (const entry of this.#entries) entry.settled = true;
        this.usage = addUsage(this.usage, update.usage);
        this.stop = update.stop === 'calls' ? 'done' : update.stop;
        break;
      // A block ends with the update after it, which shows whether it was the answer.
      default:
    }
  }

  /** Adds the approvals that the turn waits for as the last items. */
  ask(approvals: readonly RequestedApproval[]): void {
    for (const approval of approvals) {
      const item = approvalItem(approval);
      this.#done(this.#push(item), item);
    }
  }

  /** Closes open items. */
  end(ending: Ending): void {
    this.#closeBlock(ending);
    for (const entry of this.#entries) this.#close(entry, ending);
  }

  #say({ kind, block, text }: Updates<'text' | 'reasoning'>): void {
    if (text === '') return;
    if (this.#block !== block) {
      this.#closeBlock('completed');
      this.#block = block;
      this.#begin(kind === 'text' ? message(this.#id('msg', block)) : reasoning(this.#id('rs', block)));
    }
    this.#append(this.#entries.at(-1), text);
  }

  #write({ call, tool, offset, text }: Updates<'arguments'>): void {
    if (!this.callersTools.has(tool)) return;
    this.#closeBlock('completed', 'commentary');
    const known = this.#find('fc', call);
    if (!known && offset > 0) return;
    this.#append(known ?? this.#beginCall({ call, tool }), text);
  }

  #request({ call, tool, input }: RequestedCall): void {
    if (!this.callersTools.has(tool)) return;
    this.#closeBlock('completed', 'commentary');
    const entry = this.#find('fc', call) ?? this.#beginCall({ call, tool });
    if (entry.open) this.#emitAll(entry, entry.open.complete(JSON.stringify(input)));
  }

  #beginCall(called: Omit<NamedCall, 'id'>): Entry {
    return this.#begin(functionCall({ ...called, id: this.#id('fc', called.call) }));
  }

  #run(call: RequestedCall): void {
    if (this.callersTools.has(call.tool) || this.#find('mcp', call.call)) return;
    const entry = this.#push(mcpCallItem({ ...call, id: this.#id('mcp', call.call) }, null));
    this.#emitAll(entry, [{ type: 'response.mcp_call.in_progress' }]);
  }

  #result(result: Updates<'result'>): void {
    const { call, tool, outcome, before } = result;
    // A client has executed it.
    if (before === 'deferred') return;
    // A call that the caller was never asked to execute is not part of the answer.
    if (this.callersTools.has(tool)) this.#drop(this.#find('fc', call));
    else this.#run(result);
    const entry = this.#find('mcp', call);
    if (!entry) return;
    const item = mcpCallItem({ ...result, id: entry.id }, result);
    this.#emitAll(entry, [
      { type: 'response.mcp_call_arguments.done', arguments: item.arguments },
      { type: outcome === 'ok' ? 'response.mcp_call.completed' : 'response.mcp_call.failed' },
    ]);
    this.#done(entry, item);
  }

  #restart(): void {
    this.#closeBlock('incomplete');
    const left = this.#entries.filter(({ settled }) => !settled);
    for (const entry of left) this.#close(entry, 'incomplete');
    this.#entries = this.#entries.filter(({ settled }) => settled);
    // The output of the step may not have been stored: its index is not reused.
    if (left.length === 0) this.next++;
  }

  #find(kind: 'fc' | 'mcp', call: string): Entry | undefined {
    const id = this.#id(kind, call);
    return this.#entries.find((entry) => entry.id === id);
  }

  #id(kind: ItemKind, id: string): string {
    return itemId(kind, { session: this.session, id });
  }

  #begin(kind: WrittenItem): Entry {
    const entry = this.#push(kind.added);
    entry.open = new OpenItem(kind);
    entry.settled = false;
    this.#emitAll(entry, kind.begin);
    return entry;
  }

  #push(item: OutputItem): Entry {
    const entry: Entry = { id: item.id, index: this.next++, open: null, item, settled: true };
    this.#entries.push(entry);
    this.emit({ type: 'response.output_item.added', output_index: entry.index, item });
    return entry;
  }

  #append(entry: Entry | undefined, text: string): void {
    if (entry?.open) this.#emitAll(entry, entry.open.write(text));
  }

  #closeBlock(ending: Ending, phase?: MessagePhase): void {
    if (this.#block === null) return;
    const ids = [this.#id('msg', this.#block), this.#id('rs', this.#block)];
    const open = this.#entries.findLast(({ id }) => ids.includes(id));
    this.#block = null;
    this.#close(open, ending, phase);
  }

  #close(entry: Entry | undefined, ending: Ending, phase?: MessagePhase): void {
    if (!entry?.open) return;
    const { item, events } = entry.open.end(ending, phase);
    this.#emitAll(entry, events);
    entry.open = null;
    this.#done(entry, item);
  }

  #drop(entry: Entry | undefined): void {
    if (!entry?.open) return;
    this.#close(entry, 'incomplete');
    this.#entries = this.#entries.filter((other) => other !== entry);
  }

  #done(entry: Entry, item: OutputItem): void {
    entry.item = item;
    this.emit({ type: 'response.output_item.done', output_index: entry.index, item });
  }

  #emitAll({ id, index }: Entry, events: readonly ItemEvent[]): void {
    for (const { type, ...rest } of events) this.emit({ type, item_id: id, output_index: index, ...rest });
  }
}

// Items that are being written.

/** A kind of item that is written in pieces, and its events. */
type WrittenItem = {
  /** the item when it is added */
  readonly added: OutputItem;
  readonly begin: readonly ItemEvent[];
  /** the part of the text that is shown; default: all of it */
  shown?(text: string): string;
  delta(delta: string): ItemEvent;
  done(text: string): readonly ItemEvent[];
  item(text: string, ending: Ending, phase?: MessagePhase): OutputItem;
};

const message = (id: string): WrittenItem => ({
  added: messageItem(id, null, { status: 'in_progress' }),
  begin: [{ type: 'response.content_part.added', content_index: 0, part: textContent('') }],
  delta: (delta) => ({ type: 'response.output_text.delta', content_index: 0, delta, logprobs: [] }),
  done: (text) => [
    { type: 'response.output_text.done', content_index: 0, text, logprobs: [] },
    { type: 'response.content_part.done', content_index: 0, part: textContent(text) },
  ],
  item: (text, status, phase) => messageItem(id, text, { status, phase }),
});

const reasoning = (id: string): WrittenItem => ({
  added: reasoningItem(id, null),
  begin: [{ type: 'response.reasoning_summary_part.added', summary_index: 0, part: summaryText('') }],
  delta: (delta) => ({ type: 'response.reasoning_summary_text.delta', summary_index: 0, delta }),
  done: (text) => [
    { type: 'response.reasoning_summary_text.done', summary_index: 0, text },
    { type: 'response.reasoning_summary_part.done', summary_index: 0, part: summaryText(text) },
  ],
  item: (text) => reasoningItem(id, text),
});

function functionCall(call: NamedCall): WrittenItem {
  const compact = new CompactJson();
  return {
    added: functionCallItem(call, '', 'in_progress'),
    begin: [],
    shown: (text) => compact.add(text),
    delta: (delta) => ({ type: 'response.function_call_arguments.delta', delta }),
    done: (text) => [{ type: 'response.function_call_arguments.done', name: call.tool, arguments: text }],
    item: (text, ending) => functionCallItem(call, text, ending),
  };
}

class OpenItem {
  #text = '';
  readonly #pieces = new TextPieces();

  constructor(private readonly kind: WrittenItem) {}

  write(text: string): ItemEvent[] {
    const shown = this.kind.shown?.(text) ?? text;
    this.#text += shown;
    return this.#pieces.add(shown).map(this.kind.delta);
  }

  /** The text is known: writes the missing rest. */
  complete(whole: string): ItemEvent[] {
    const rest = whole.startsWith(this.#text) ? whole.slice(this.#text.length) : '';
    this.#text += rest;
    return [...this.#pieces.add(rest), ...this.#pieces.end()].map(this.kind.delta);
  }

  end(
    ending: Ending,
    phase?: MessagePhase,
  ): { readonly item: OutputItem; readonly events: readonly ItemEvent[] } {
    const { delta, done, item } = this.kind;
    return {
      item: item(this.#text, ending, phase),
      events: [...this.#pieces.end().map(delta), ...done(this.#text)],
    };
  }
}

/**
 * Removes whitespace between JSON tokens while they are streamed, so that streamed and stored arguments are the
 * same.
 */
class CompactJson {
  #inString = false;
  #escapes = false;

  add(text: string): string {
    let compact = '';
    for (const character of text) {
      if (this.#inString || !/\s/.test(character)) compact += character;
      if (this.#escapes) this.#escapes = false;
      else if (character === '"') this.#inString = !this.#inString;
      else if (character === '\\') this.#escapes = this.#inString;
    }
    return compact;
  }
}

const MAX_LENGTH = 32;
/** Scripts from this code point on are written without spaces. */
const UNSPACED = 0x2e80;

/**
 * Splits a text into the pieces of its delta events. The positions depend on the text alone, not on how the
 * model streams it: a stored text has the same events, with the same numbers, as when it was streamed.
 */
class TextPieces {
  #rest = '';
  /** length of the rest that is known to have no end of a piece */
  #seen = 0;

  /** The pieces that are complete now. */
  add(text: string): string[] {
    this.#rest += text;
    const pieces: string[] = [];
    let from = 0;
    for (let at = this.#seen; at < this.#rest.length; at++) {
      if (!endsPiece(this.#rest, at, at - from + 1)) continue;
      pieces.push(this.#rest.slice(from, at + 1));
      from = at + 1;
    }
    this.#rest = this.#rest.slice(from);
    this.#seen = this.#rest.length;
    return pieces;
  }

  /** The last piece, unless the text ended with one. */
  end(): string[] {
    const last = this.#rest;
    this.#rest = '';
    this.#seen = 0;
    return last === '' ? [] : [last];
  }
}

function endsPiece(text: string, at: number, length: number): boolean {
  const code = text.charCodeAt(at);
  const isHalf = code >= 0xd800 && code < 0xdc00;
  if (isHalf) return false;
  return code <= 0x20 || code >= UNSPACED || length >= MAX_LENGTH;
}
