/** Responses about search, tags and links. */
import { SessionId } from '@parlance/protocol';
import { z } from 'zod';
import { named } from '../shared/description.ts';

export const FoundMessages = named(
  'FoundMessages',
  z.object({
    messages: z.array(
      z.object({
        session: SessionId,
        title: z.string(),
        archived: z.boolean(),
        seq: z.number().int().describe('the event with the message'),
        at: z.iso.datetime(),
        from: z.enum(['user', 'agent', 'history']),
        excerpt: z.array(z.object({ text: z.string(), match: z.boolean() })),
      }),
    ),
    next: z.string().nullable(),
    complete: z.boolean().describe('false: not every message is indexed yet; a later search may find more'),
  }),
);
const Share = z.object({
  id: z.string(),
  seq: z.number().int().describe('the last event that it shows'),
  createdAt: z.iso.datetime(),
});
export const ShareList = named('ShareList', z.object({ shares: z.array(Share) }));
export const MadeShare = named('MadeShare', Share.extend({ path: z.string() }));
export const TagList = named(
  'TagList',
  z.object({ tags: z.array(z.object({ tag: z.string(), sessions: z.number().int() })) }),
);
