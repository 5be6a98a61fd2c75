/** Follows a segment: converts its pieces to output and stream events, until the turn waits or ends. */
import { Fault, type HistoryItem, type Principal, type Usage } from '@parlance/protocol';
import {
  type Blocked,
  type RequestedApproval,
  type RequestedCall,
  readUpdates,
  type TurnUpdate,
  type UpdateReader,
  unanswered,
} from '../../kit/turn-updates.ts';
import type { Context } from '../context.ts';
import { errorBody } from '../faults.ts';

import { approvalItem, historyItems, mcpCallItem, type OutputItem } from './items.ts';
import { IN_PROGRESS, type Outcome, type ResponseObject, responseObject, type Status } from './objects.ts';
import {
  type Ending,
  type ItemEvent,
  OpenFunctionCall,
  type OpenItem,
  OpenMessage,
  OpenReasoning,
} from './open-items.ts';
import { type ItemKind, itemId } from './response-id.ts';
import { type Position, positionAfter, type Restarts } from './restarts.ts';
import type { Segment } from './segment.ts';

export type NumberedEvent = ItemEvent & { readonly sequence_number: number };

export type FollowOptions = {
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
  readonly #writer: OutputWriter;
  #status: Status = 'queued';
  #endedAt: number | null = null;
  #sequence = 0;

  private constructor(
    readonly segment: Segment,
    private readonly parts: { readonly reader: UpdateReader; readonly watching: FollowOptions | null },
  ) {
    this.done = this.#ends.promise;
    this.#gate = new EventGate((event) => parts.watching?.emit(event));
    const names = new Set(segment.head.terms.tools?.map(({ name }) => name));
    this.#writer = new OutputWriter(
      segment.head.session,
      (tool) => names.has(tool),
      (event) => this.#emit(event),
    );
  }

  static async open(
    ctx: Pick<Context, 'engine'>,
    segment: Segment,
    watching: FollowOptions | null = null,
  ): Promise<ResponseFollower> {
    const { ref, start, state, target } = segment;
    const reader = await readUpdates(ctx.engine, ref, { after: start.seq - 1, state });
    const follower = new ResponseFollower(segment, { reader, watching });
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
    return follower;
  }

  get isOver(): boolean {
    return this.#endedAt !== null;
  }

  get turn() {
    const { start } = this.segment;
    return this.parts.reader.turn ?? (start.type === 'input.accepted' ? (start.turn ?? null) : null);
  }

  get response(): ResponseObject {
    return responseObject(this.segment.head, this.#outcome());
  }

  /** the answer as history items, as a client sends it back */
  get items(): HistoryItem[] {
    return this.#writer.output.flatMap(historyItems);
  }

  /** The client no longer waits for the response. */
  abandon(): void {
    this.#turnEnded(new Fault('cancelled', 'The client has disconnected.'));
  }

  stop(): void {
    this.parts.reader.stop();
  }

  #outcome(): Outcome {
    const { output, usage, stop } = this.#writer;
    const isFailed = this.#status === 'failed';
    return {
      status: this.#status,
      output,
      usage: this.isOver ? usage : null,
      completedAt: this.#status === 'completed' ? this.#endedAt : null,
      error: isFailed && this.fault ? errorOf(this.fault) : null,
      reason:
        this.#status !== 'incomplete' ? null : stop === 'length' ? 'max_output_tokens' : 'content_filter',
    };
  }

  #take(update: TurnUpdate): void {
    if (this.#status === 'queued') this.#status = 'in_progress';
    if (update.kind === 'blocked') return void this.#blocked(update);
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
    const { reader, watching } = this.parts;
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
    const { head, target } = this.segment;
    const open = unanswered(blocked, target.answered);
    const names = new Set(head.terms.tools?.map(({ name }) => name));
    // Calls that other clients execute do not end the response.
    if (this.isOver || !open) return;
    if (open.approvals.length === 0 && !open.deferred.some(({ tool }) => names.has(tool))) return;
    this.#writer.ask(open.approvals);
    this.#end('completed', open.since);
  }

  #turnEnded(fault: Fault | null): void {
    if (this.isOver) return;
    this.fault = fault;
    const { seq, at } = this.parts.reader;
    if (fault) this.#end(fault.code === 'cancelled' ? 'cancelled' : 'failed', { seq, at });
    else this.#end(this.#writer.stop === 'done' ? 'completed' : 'incomplete', { seq, at });
  }

  #end(status: Status, { seq, at }: { readonly seq: number; readonly at: number }): void {
    if (this.isOver) return;
    this.parts.reader.stop();
    this.#writer.end(status === 'completed' ? 'completed' : 'incomplete');
    this.#status = status;
    this.#endedAt = at;
    this.endSeq = seq;
    this.#lifecycle(`response.${status === 'cancelled' ? 'failed' : status}`);
    void this.#gate.idle.then(() => this.#ends.resolve());
  }

  #lifecycle(type: string): void {
    if (!this.parts.watching) return;
    const begins = type === 'response.created' || type === 'response.in_progress';
    this.#emit({ type, response: begins ? responseObject(this.segment.head, IN_PROGRESS) : this.response });
  }

  #emit({ type, ...rest }: ItemEvent): void {
    const sequence_number = this.#sequence++;
    if (this.parts.watching) this.#gate.send({ type, sequence_number, ...rest });
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

// Out: converts the pieces of a turn to the output of a response and the events of its stream. The same pieces
// give the same events with the same numbers, whether streamed or read from the log.

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
  readonly usage: Required<Usage> = { inputTokens: 0, outputTokens: 0, cachedTokens: 0, reasoningTokens: 0 };
  /** why the model last stopped */
  stop: 'done' | 'length' | 'refused' = 'done';
  #entries: Entry[] = [];
  /** the block being written */
  #block: string | null = null;
  /** index of the next item */
  next = 0;

  constructor(
    private readonly session: string,
    private readonly isCallers: (tool: string) => boolean,
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
      case 'closed':
        if (this.#block === update.block) this.#closeBlock('completed');
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
        this.#endStep(update);
        break;
      default:
    }
  }

  /** Adds the approvals that the turn waits for as the last items. */
  ask(approvals: readonly RequestedApproval[]): void {
    for (const approval of approvals) this.#whole(approvalItem(approval));
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
      this.#begin(
        kind === 'text' ? new OpenMessage(this.#id('msg', block)) : new OpenReasoning(this.#id('rs', block)),
      );
    }
    this.#append(this.#entries.at(-1), text);
  }

  #write({ call, tool, offset, text }: Updates<'arguments'>): void {
    if (!this.isCallers(tool)) return;
    this.#closeBlock('completed');
    const known = this.#find('fc', call);
    if (!known && offset > 0) return;
    this.#append(known ?? this.#begin(new OpenFunctionCall({ call, tool, id: this.#id('fc', call) })), text);
  }

  #request(call: RequestedCall): void {
    if (!this.isCallers(call.tool)) return;
    this.#closeBlock('completed');
    const id = this.#id('fc', call.call);
    const entry = this.#find('fc', call.call) ?? this.#begin(new OpenFunctionCall({ ...call, id }));
    if (entry.open instanceof OpenFunctionCall) this.#emitAll(entry, entry.open.complete(call.input));
  }

  #run(call: RequestedCall): void {
    if (this.isCallers(call.tool) || this.#find('mcp', call.call)) return;
    const entry = this.#push(mcpCallItem({ ...call, id: this.#id('mcp', call.call) }, null));
    this.#emitAll(entry, [{ type: 'response.mcp_call.in_progress' }]);
  }

  #result(result: Updates<'result'>): void {
    const { call, tool, outcome, before } = result;
    // A client has executed it.
    if (before === 'deferred') return;
    // A call that the caller was never asked to execute is not part of the answer.
    if (this.isCallers(tool)) this.#drop(this.#find('fc', call));
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
    const isVoid = ({ settled }: Entry) => !settled;
    const left = this.#entries.filter(isVoid);
    for (const entry of left) this.#close(entry, 'incomplete');
    this.#entries = this.#entries.filter(({ settled }) => settled);
    // The output of the step may not have been stored: its index is not reused.
    if (left.length === 0) this.next++;
  }

  #endStep({ usage, stop }: Updates<'step'>): void {
    this.#closeBlock('completed');
    for (const entry of this.#entries) entry.settled = true;
    this.usage.inputTokens += usage.inputTokens;
    this.usage.outputTokens += usage.outputTokens;
    this.usage.cachedTokens += usage.cachedTokens ?? 0;
    this.usage.reasoningTokens += usage.reasoningTokens ?? 0;
    this.stop = stop === 'calls' ? 'done' : stop;
  }

  #find(kind: 'fc' | 'mcp', call: string): Entry | undefined {
    const id = this.#id(kind, call);
    return this.#entries.find((entry) => entry.id === id);
  }

  #id(kind: ItemKind, id: string): string {
    return itemId(kind, { session: this.session, id });
  }

  #begin(open: OpenItem): Entry {
    const entry = this.#push(open.added);
    entry.open = open;
    entry.settled = false;
    this.#emitAll(entry, open.begin());
    return entry;
  }

  #push(item: OutputItem): Entry {
    const entry: Entry = { id: item.id, index: this.next++, open: null, item, settled: true };
    this.#entries.push(entry);
    this.emit({ type: 'response.output_item.added', output_index: entry.index, item });
    return entry;
  }

  #whole(item: OutputItem): void {
    this.#done(this.#push(item), item);
  }

  #append(entry: Entry | undefined, text: string): void {
    if (entry?.open) this.#emitAll(entry, entry.open.write(text));
  }

  #closeBlock(ending: Ending): void {
    if (this.#block === null) return;
    const ids = [this.#id('msg', this.#block), this.#id('rs', this.#block)];
    const open = this.#entries.findLast(({ id }) => ids.includes(id));
    this.#block = null;
    this.#close(open, ending);
  }

  #close(entry: Entry | undefined, ending: Ending): void {
    if (!entry?.open) return;
    const { item, events } = entry.open.end(ending);
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

/** Cancels the turn of an unfinished response, even if it has not started. */
export async function cancelTurn(
  { engine, log }: Context,
  principal: Principal,
  follower: ResponseFollower,
): Promise<void> {
  const { ref } = follower.segment;
  const { turn } = follower;
  if (turn === null || follower.isOver) return;
  try {
    await engine.send(ref, { type: 'turn.cancel', turn }, { principal, dialect: 'openai' });
  } catch (thrown) {
    if (!(thrown instanceof Fault)) log.error({ err: thrown, session: ref.id }, 'failed to cancel turn');
  }
}
