/**
 * Out: converts the pieces of a turn to the output of a response and the events of its stream. The same pieces
 * give the same events with the same numbers, whether streamed or read from the log.
 */
import type { Usage } from '@parlance/protocol';
import type { Piece, RequestedApproval, RequestedCall } from '../../shared/exchange/pieces.ts';
import { approvalItem, mcpCallItem, type OutputItem } from './items.ts';
import {
  type Ending,
  type ItemEvent,
  OpenFunctionCall,
  type OpenItem,
  OpenMessage,
  OpenReasoning,
} from './open-items.ts';
import { type ItemKind, itemId } from './response-id.ts';

type Entry = {
  readonly id: string;
  readonly index: number;
  /** null once the item is done */
  open: OpenItem | null;
  item: OutputItem;
  /** its step has ended, so the item stays */
  settled: boolean;
};

type Pieces<Kind extends Piece['kind']> = Extract<Piece, { kind: Kind }>;

export class OutputWriter {
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

  add(piece: Piece): void {
    switch (piece.kind) {
      case 'text':
      case 'reasoning':
        this.#say(piece);
        break;
      case 'closed':
        if (this.#block === piece.block) this.#closeBlock('completed');
        break;
      case 'arguments':
        this.#write(piece);
        break;
      case 'requested':
        this.#request(piece);
        break;
      case 'deferred':
        this.#close(this.#find('fc', piece.call), 'completed');
        break;
      case 'running':
        this.#run(piece);
        break;
      case 'result':
        this.#result(piece);
        break;
      case 'restarted':
        this.#restart();
        break;
      case 'step':
        this.#endStep(piece);
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

  #say({ kind, block, text }: Pieces<'text' | 'reasoning'>): void {
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

  #write({ call, tool, offset, text }: Pieces<'arguments'>): void {
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

  #result(result: Pieces<'result'>): void {
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

  #endStep({ usage, stop }: Pieces<'step'>): void {
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
