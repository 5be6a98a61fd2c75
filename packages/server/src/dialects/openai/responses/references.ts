/** References to items of earlier responses and conversations, instead of the items themselves. */
import type { DurableEvent, Principal } from '@parlance/protocol';
import { RequestFault } from '../../shared/exchange/request-fault.ts';
import type { Context } from '../context.ts';
import { StoredItems } from './referenced-items.ts';
import { type ItemPosition, itemPosition } from './response-id.ts';
import type { InputItem, ResponseRequest } from './schemas.ts';

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
