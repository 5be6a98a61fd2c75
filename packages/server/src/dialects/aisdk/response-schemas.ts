import { z } from 'zod';
import { named } from '../shared/description.ts';

export const ChatView = named(
  'AisdkChat',
  z.object({
    id: z.string(),
    title: z.string().optional(),
    before: z.string().optional().describe('the messages before these: `?before=`; absent if there are none'),
    messages: z
      .array(
        z.object({
          id: z.string().describe('of an answer: its turn'),
          role: z.enum(['user', 'assistant']),
          metadata: z.json().optional().describe('as the page sent it'),
          parts: z.array(z.looseObject({ type: z.string() })),
        }),
      )
      .describe('UI messages, as `validateUIMessages` of the SDK accepts them'),
  }),
);

export const Sentence = z.string().describe('one sentence for the user');
