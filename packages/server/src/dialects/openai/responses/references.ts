/** References to items of earlier responses and conversations, instead of the items themselves. */
import type { DurableEvent, JsonObject, Part, Principal } from '@parlance/protocol';
import { RequestFault } from '../../kit/request-fault.ts';
import type { Context } from '../context.ts';
import { userMessage } from './input-items.ts';
import { functionCallItem, mcpCallItem, messageItem } from './items.ts';
import { type ItemPosition, itemPosition } from './response-id.ts';
import type { InputItem, KnownItem, ResponseRequest } from './schemas.ts';
import { requestData } from './segment.ts';

type Input = ResponseRequest['input'];
type Reference = Extract<InputItem, { type: 'item_reference' }>;

/** Replaces references in the input with their items. Throws `not_found` if the caller has no such item. */
export async function resolved(ctx: Context, principal: Principal, input: Input): Promise<Input> {
  if (!Array.isArray(input) || !input.some(isReference)) return input;
  const places = new Map<string, ItemPosition>();
  for (const { id } of input.filter(isReference)) {
    const place = itemPosition(id);
    if (place) places.set(id, place);
  }
  const found = await itemsAt(ctx, principal, [...places.values()]);
  const answered = new Set(
    input.map((item) => ('approval_request_id' in item ? item.approval_request_id : '')),
  );
  return input.flatMap((item, index): InputItem[] => {
    if (!isReference(item)) return [item];
    // The answer itself is validated, so the request that it answers need not be looked up.
    if (answered.has(item.id)) return [{ type: 'mcp_approval_request', id: item.id }];
    const place = places.get(item.id);
    const stored = place && found.get(place.session)?.item(place, item.id);
    if (!stored) throw notFound(item.id, `input[${index}].id`);
    return [stored];
  });
}

const isReference = (item: InputItem): item is Reference => item.type === 'item_reference';

const notFound = (id: string, param: string): RequestFault =>
  new RequestFault(
    'not_found',
    `Item with id '${id.slice(0, 200)}' not found. Items are not kept if \`store\` is false.`,
    { param },
  );

const PAGE = 500;

/** The wanted items in each session of the caller. */
async function itemsAt(
  { engine }: Context,
  principal: Principal,
  wanted: readonly ItemPosition[],
): Promise<Map<string, StoredItems>> {
  const found = new Map<string, StoredItems>();
  for (const [session, places] of Map.groupBy(wanted, (place) => place.session)) {
    const ref = await engine.find(principal, session);
    if (!ref) continue;
    const items = new StoredItems(new Set(places.map(({ id }) => id)));
    found.set(session, items);
    let events: DurableEvent[] = [];
    for (let after = 0; after === 0 || events.length === PAGE; after = events.at(-1)?.seq ?? 0) {
      events = await engine.events(ref, after, PAGE);
      for (const event of events) items.add(event);
    }
  }
  return found;
}

// Items of a session that a request refers to, found in its events.

type Call = {
  readonly tool: string;
  readonly input: JsonObject;
  result: Pick<DurableEvent<'tool.ended'>, 'outcome' | 'parts'> | null;
};

class StoredItems {
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
