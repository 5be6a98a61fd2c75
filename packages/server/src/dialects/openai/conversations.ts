/** What the endpoints of conversations do. A conversation is a session, and its metadata are labels. */
import type { Principal } from '@parlance/protocol';
import type { z } from 'zod';
import type { SessionRecord } from '../../core/index.ts';
import { invalid, RequestFault } from '../kit/chat-request.ts';
import { importable } from '../kit/history.ts';
import type { VendorContext } from '../kit/vendor-requests.ts';
import type { ConversationCreate, ConversationUpdate } from './contract.ts';
import { inputConversation } from './input.ts';
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
  const { items: given, approvals } = inputConversation(await resolved(ctx, principal, items ?? undefined));
  if (approvals.length > 0) throw invalid('items', 'A new conversation has nothing to approve.');
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

export async function deleteConversation(ctx: VendorContext, named: NamedConversation) {
  const { ref } = await findConversation(ctx, named);
  await ctx.engine.send(ref, { type: 'session.archive' }, caller(named));
  return { id: ref.id as string, object: 'conversation.deleted' as const, deleted: true as const };
}
