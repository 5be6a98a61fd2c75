import { Fault } from '@parlance/protocol';
import { z } from 'zod';
import { latestMessages, transcript } from '../messages.ts';
import { dataResult, defineTool } from './tool.ts';

export const readSession = defineTool({
  name: 'read_session',
  title: 'Read a session',
  description: 'Returns the latest messages of a session, oldest first.',
  input: z.object({
    session: z.string().describe('id of the session'),
    limit: z.int().min(1).max(500).default(50).describe('maximum number of messages'),
  }),
  output: z.object({
    messages: z.array(
      z.object({
        role: z.enum(['user', 'assistant']),
        text: z.string(),
        at: z.string().describe('ISO 8601'),
      }),
    ),
  }),
  readOnly: true,
  async run({ engine }, { principal }, { session, limit }) {
    const ref = await engine.find(principal, session);
    const record = ref && (await engine.record(ref));
    if (!record) throw new Fault('not_found', 'There is no such session.');
    const messages = await latestMessages(engine, record, limit);
    return dataResult({ messages }, transcript(messages) || 'The session has no messages.');
  },
});
