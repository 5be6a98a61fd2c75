/** Items of a session that a request refers to, found in its events. */
import type { DurableEvent, JsonObject, Part } from '@parlance/protocol';
import { userMessage } from './input-items.ts';
import { functionCallItem, mcpCallItem, messageItem } from './items.ts';
import type { ItemPosition } from './response-id.ts';
import type { KnownItem } from './schemas.ts';
import { requestData } from './segment.ts';

type Call = {
  readonly tool: string;
  readonly input: JsonObject;
  result: Pick<DurableEvent<'tool.ended'>, 'outcome' | 'parts'> | null;
};

export class StoredItems {
  readonly #inputs = new Map<string, readonly Part[]>();
  readonly #texts = new Map<string, string>();
  readonly #reasoning = new Set<string>();
  readonly #calls = new Map<string, Call>();
  /** inputs and turns of responses with `store: false` */
  readonly #forgotten = new Set<string>();

  constructor(private readonly wanted: ReadonlySet<string>) {}

  add(event: DurableEvent): void {
    switch (event.type) {
      case 'history.imported':
        for (const [at, item] of event.items.entries()) {
          if (item.type === 'user') this.#inputs.set(`${event.id}-${at}`, item.parts);
          if (item.type === 'text') this.#texts.set(`${event.id}-${at}`, item.text);
        }
        break;
      case 'input.accepted':
        if (requestData(event)?.store === false) this.#forgotten.add(event.input);
        else if (this.wanted.has(event.input)) this.#inputs.set(event.input, event.parts);
        break;
      case 'turn.started':
        if (this.#forgotten.has(event.input)) this.#forgotten.add(event.turn);
        break;
      case 'text.ended':
        if (this.#keeps(event.turn, event.block)) this.#texts.set(event.block, event.text);
        break;
      case 'reasoning.ended':
        if (this.#keeps(event.turn, event.block)) this.#reasoning.add(event.block);
        break;
      case 'call.requested':
        if (this.#keeps(event.turn, event.call))
          this.#calls.set(event.call, { tool: event.tool, input: event.input, result: null });
        break;
      case 'approval.answered':
        this.#continued(event);
        break;
      case 'tool.ended': {
        this.#continued(event);
        const call = this.#calls.get(event.call);
        if (call) call.result = event;
        break;
      }
      default:
    }
  }

  /** Undefined if the item does not exist. */
  item({ kind, id }: ItemPosition, item: string): KnownItem | undefined {
    const [parts, text, call] = [this.#inputs.get(id), this.#texts.get(id), this.#calls.get(id)];
    if (kind === 'rs') return this.#reasoning.has(id) ? { type: 'reasoning' } : undefined;
    if (kind === 'msg')
      return parts
        ? userMessage(item, parts)
        : text === undefined
          ? text
          : messageItem(item, text, 'completed');
    if (!call) return undefined;
    if (kind === 'mcp') return call.result ? mcpCallItem({ id: item, ...call }, call.result) : undefined;
    const named = { id: item, call: id as DurableEvent<'tool.ended'>['call'], tool: call.tool };
    return functionCallItem(named, JSON.stringify(call.input), 'completed');
  }

  #keeps(turn: string, id: string): boolean {
    return this.wanted.has(id) && !this.#forgotten.has(turn);
  }

  /** The turn continues with another request. */
  #continued(event: DurableEvent<'approval.answered' | 'tool.ended'>): void {
    const data = requestData(event);
    if (data?.store === false) this.#forgotten.add(event.turn);
    else if (data) this.#forgotten.delete(event.turn);
  }
}
