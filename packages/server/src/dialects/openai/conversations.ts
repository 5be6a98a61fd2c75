/** Conversations: a conversation is a session, and its metadata are labels. */
import { z } from 'zod';
import type { SessionRecord } from '../../core/index.ts';
import { importable } from '../kit/history.ts';
import { invalid, RequestFault } from '../kit/request-fault.ts';
import type { Context } from './context.ts';
import { conversationPage } from './conversation-page.ts';
import { inputConversation } from './responses/input.ts';
import type { PageQuery } from './responses/list.ts';
import { resolved } from './responses/references.ts';
import { Metadata, ResponseRequest } from './responses/schemas.ts';
import type { ResponseRef } from './responses/stored.ts';

export const ConversationCreate = z.object({
  metadata: Metadata.nullish(),
  items: ResponseRequest.shape.input.nullish(),
});
export const ConversationUpdate = z.object({ metadata: Metadata.nullable() });

/** Labels that the server sets. */
const OWN = /^(?:@|exchange\.|client\.|openai\.|anthropic\.|claude-code\.)/;
/** Labels cannot be removed: one without a value is hidden. */
const REMOVED = '';

const caller = ({ principal }: Pick<ResponseRef, 'principal'>) => ({ principal, dialect: 'openai' });

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

async function found({ engine }: Context, { principal, id }: ResponseRef): Promise<SessionRecord> {
  const ref = await engine.find(principal, id);
  const record = ref && (await engine.record(ref));
  if (record && !record.archived) return record;
  throw new RequestFault('not_found', `Conversation with id '${id.slice(0, 200)}' not found.`, {
    param: 'conversation_id',
  });
}

export async function createConversation(
  ctx: Context,
  { principal, request }: Omit<ResponseRef, 'id'>,
  { metadata, items }: z.output<typeof ConversationCreate>,
): Promise<Response> {
  const { items: given, approvals } = inputConversation(await resolved(ctx, principal, items ?? undefined));
  if (approvals.length > 0) throw invalid('items', 'A new conversation has nothing to approve.');
  const ref = await ctx.engine.resolve(principal, `conv_${ctx.newId().replaceAll('-', '')}`);
  const labels = labelsOf(metadata ?? {});
  const command = { type: 'session.create', history: importable(given), labels } as const;
  await ctx.engine.send(ref, command, caller({ principal }));
  return Response.json(conversationObject(await found(ctx, { principal, request, id: ref.id })));
}

export const retrieveConversation = async (ctx: Context, named: ResponseRef): Promise<Response> =>
  Response.json(conversationObject(await found(ctx, named)));

/** Replaces the metadata. */
export async function updateConversation(
  ctx: Context,
  named: ResponseRef,
  { metadata }: z.output<typeof ConversationUpdate>,
): Promise<Response> {
  const { ref, labels } = await found(ctx, named);
  const removed = Object.fromEntries(Object.keys(metadataOf(labels)).map((name) => [name, REMOVED]));
  const command = { type: 'session.label', labels: labelsOf({ ...removed, ...metadata }) } as const;
  await ctx.engine.send(ref, command, caller(named));
  return retrieveConversation(ctx, named);
}

export async function deleteConversation(ctx: Context, named: ResponseRef): Promise<Response> {
  const { ref } = await found(ctx, named);
  await ctx.engine.send(ref, { type: 'session.archive' }, caller(named));
  return Response.json({ id: ref.id, object: 'conversation.deleted', deleted: true });
}

export async function listConversationItems(
  ctx: Context,
  named: ResponseRef,
  query: PageQuery,
): Promise<Response> {
  return Response.json(await conversationPage(ctx, await found(ctx, named), query));
}
