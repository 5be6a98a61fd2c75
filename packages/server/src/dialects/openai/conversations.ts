/** What the endpoints of conversations do. A conversation is a session, and its metadata are labels. */
import type { HistoryItem, Principal } from '@parlance/protocol';
import type { z } from 'zod';
import type { SessionRecord } from '../../core/index.ts';
import { invalid, RequestFault } from '../kit/chat-request.ts';
import { importable } from '../kit/history.ts';
import type { VendorContext } from '../kit/vendor-requests.ts';
import type { ConversationCreate, ConversationUpdate, ItemsCreate, ResponseRequest } from './contract.ts';
import { conversationItem, itemsOf, type LogReader } from './conversation-items.ts';
import { inputConversation } from './input.ts';
import { itemList } from './responses/objects.ts';
import { resolved } from './responses/request.ts';

/** Labels that the server sets. */
const OWN = /^(?:@|exchange\.|client\.|openai\.|anthropic\.|claude-code\.)/;
/** Labels cannot be removed: one without a value is hidden. */
const REMOVED = '';

const caller = ({ principal }: Pick<NamedConversation, 'principal'>) => ({ principal, dialect: 'openai' });

const conversationObject = ({ ref, createdAt, labels }: SessionRecord) => ({
  id: ref.id as string,
  object: 'conversation' as const,
  created_at: Math.floor(createdAt / 1000),
  metadata: metadataOf(labels),
});

const metadataOf = (labels: SessionRecord['labels']): Record<string, string> =>
  Object.fromEntries(Object.entries(labels).filter(([name, value]) => !OWN.test(name) && value !== REMOVED));

function labelsOf(metadata: Readonly<Record<string, string>>): Record<string, string> {
  const reserved = Object.keys(metadata).find((name) => OWN.test(name));
  if (reserved !== undefined) throw invalid(`metadata.${reserved}`, 'The server sets labels of this name.');
  return { ...metadata };
}

export type NamedConversation = { readonly principal: Principal; readonly id: string };

export async function findConversation(
  { engine }: VendorContext,
  { principal, id }: NamedConversation,
): Promise<SessionRecord> {
  const ref = await engine.find(principal, id);
  const record = ref && (await engine.record(ref));
  if (record && !record.archived) return record;
  throw new RequestFault('not_found', `Conversation with id '${id.slice(0, 200)}' not found.`, {
    param: 'conversation_id',
  });
}

export async function createConversation(
  ctx: VendorContext,
  principal: Principal,
  { metadata, items }: z.output<typeof ConversationCreate>,
) {
  const given = await historyOf(ctx, principal, items ?? undefined);
  const ref = await ctx.engine.resolve(principal, `conv_${ctx.newId().replaceAll('-', '')}`);
  const labels = labelsOf(metadata ?? {});
  const command = { type: 'session.create', history: importable(given), labels } as const;
  await ctx.engine.send(ref, command, caller({ principal }));
  return retrieveConversation(ctx, { principal, id: ref.id });
}

export const retrieveConversation = async (ctx: VendorContext, named: NamedConversation) =>
  conversationObject(await findConversation(ctx, named));

/** Replaces the metadata. */
export async function updateConversation(
  ctx: VendorContext,
  named: NamedConversation,
  { metadata }: z.output<typeof ConversationUpdate>,
) {
  const { ref, labels } = await findConversation(ctx, named);
  const removed = Object.fromEntries(Object.keys(metadataOf(labels)).map((name) => [name, REMOVED]));
  const command = { type: 'session.label', labels: labelsOf({ ...removed, ...metadata }) } as const;
  await ctx.engine.send(ref, command, caller(named));
  return retrieveConversation(ctx, named);
}

/** Adds items. No model is called. Returns them as the conversation has them. */
export async function createItems(
  ctx: VendorContext & LogReader,
  named: NamedConversation,
  { items }: z.output<typeof ItemsCreate>,
) {
  const { ref } = await findConversation(ctx, named);
  const history = await historyOf(ctx, named.principal, items);
  if (history.length === 0) return itemList([], false);
  const { events } = await ctx.engine.send(ref, { type: 'history.append', items: history }, caller(named));
  return itemList(events.flatMap(itemsOf), false);
}

async function historyOf(
  ctx: VendorContext,
  principal: Principal,
  given: ResponseRequest['input'],
): Promise<HistoryItem[]> {
  const { items, instructions, approvals } = inputConversation(await resolved(ctx, principal, given));
  if (approvals.length > 0) throw invalid('items', 'An approval is answered with a request for a response.');
  // At the beginning of a request, these are its instructions. Here, they are an item.
  return instructions ? [{ type: 'system', text: instructions }, ...items] : [...items];
}

/** Throws `not_found` if the conversation has no such item. */
export async function findItem(
  ctx: VendorContext & LogReader,
  named: NamedConversation & { readonly item: string },
) {
  const found = await conversationItem(ctx, await findConversation(ctx, named), named.item);
  if (found) return found;
  throw new RequestFault('not_found', `Item with id '${named.item.slice(0, 200)}' not found.`, {
    param: 'item_id',
  });
}

/** The item leaves the list and the context of the model. The log keeps it. */
export async function deleteItem(
  ctx: VendorContext & LogReader,
  named: NamedConversation & { readonly item: string },
) {
  const { position } = await findItem(ctx, named);
  const { ref } = await findConversation(ctx, named);
  await ctx.engine.send(ref, { type: 'history.remove', ...position }, caller(named));
  return retrieveConversation(ctx, named);
}

export async function deleteConversation(ctx: VendorContext, named: NamedConversation) {
  const { ref } = await findConversation(ctx, named);
  await ctx.engine.send(ref, { type: 'session.archive' }, caller(named));
  return { id: ref.id as string, object: 'conversation.deleted' as const, deleted: true as const };
}
