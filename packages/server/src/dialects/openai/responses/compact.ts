/** `POST /responses/compact`: a shorter input that stands for a conversation. Nothing is stored. */
import type { Principal } from '@parlance/protocol';
import type { z } from 'zod';
import { invalid } from '../../kit/chat-request.ts';
import { importable } from '../../kit/history.ts';
import type { VendorContext } from '../../kit/vendor-requests.ts';
import type { CompactRequest } from '../contract.ts';
import { compactedContent, inputConversation } from '../input.ts';
import { ResponseFollower } from './follower.ts';
import { usageObject, userMessage } from './objects.ts';
import { previousSegment, resolved } from './request.ts';

/** The messages of the user, and a summary of everything else. */
export async function compactConversation(
  ctx: VendorContext,
  { principal, signal }: { readonly principal: Principal; readonly signal: AbortSignal },
  body: z.output<typeof CompactRequest>,
) {
  const { agent } = ctx.models.choose(body.model);
  const input = inputConversation(await resolved(ctx, principal, body.input ?? undefined));
  const { previous_response_id: previous } = body;
  const before = previous == null ? [] : await conversationOf(ctx, principal, previous);
  const items = importable([...before, ...input.items]);
  if (items.length === 0) throw invalid('input', 'There is nothing to compact.');
  const instructions = [body.instructions, input.instructions].filter(Boolean).join('\n\n');
  const said = instructions === '' ? [] : [{ type: 'system' as const, text: instructions }];
  const conversation = { agent, items: [...said, ...items] };
  const { text, usage } = await ctx.engine.summariseConversation(principal, conversation, signal);
  return {
    id: `resp_${ctx.newId()}`,
    object: 'response.compaction' as const,
    created_at: Math.floor(ctx.now() / 1000),
    output: [
      ...items.flatMap((item) =>
        item.type === 'user' ? [userMessage(`msg_${ctx.newId()}`, item.parts)] : [],
      ),
      { id: `cmp_${ctx.newId()}`, type: 'compaction' as const, encrypted_content: compactedContent(text) },
    ],
    usage: usageObject(usage),
  };
}

/** The conversation up to the end of a response. */
async function conversationOf(ctx: VendorContext, principal: Principal, previous: string) {
  const segment = await previousSegment(ctx, { principal, previous });
  const follower = await ResponseFollower.open(ctx, segment);
  follower.stop();
  if (!follower.isOver) throw invalid('previous_response_id', 'The response is not complete.');
  return (await ctx.engine.conversation(segment.ref, follower.endSeq)).items;
}
