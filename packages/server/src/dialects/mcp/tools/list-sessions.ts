import { z } from 'zod';
import { titleOf } from '../resources.ts';
import { dataResult, defineTool } from './tool.ts';

export const listSessions = defineTool({
  name: 'list_sessions',
  title: 'List sessions',
  description: 'Lists the sessions of the user, most recently changed first.',
  input: z.object({
    limit: z.int().min(1).max(100).default(20).describe('maximum number of sessions'),
    cursor: z.string().optional().describe('`next` of the previous page'),
  }),
  output: z.object({
    sessions: z.array(
      z.object({
        id: z.string(),
        title: z.string(),
        status: z.enum(['idle', 'running', 'waiting', 'failed']),
        updatedAt: z.string().describe('ISO 8601'),
      }),
    ),
    next: z.string().optional().describe('cursor of the next page; absent on the last'),
  }),
  readOnly: true,
  async run({ engine }, { principal }, { limit, cursor }) {
    const page = await engine.list(principal, { limit, cursor });
    const sessions = page.sessions.map((record) => ({
      id: record.ref.id,
      title: titleOf(record),
      status: record.status,
      updatedAt: new Date(record.updatedAt).toISOString(),
    }));
    const lines = sessions.map(
      ({ id, title, status, updatedAt }) => `${id} (${status}, ${updatedAt}) ${title}`,
    );
    return dataResult(
      { sessions, ...(page.next && { next: page.next }) },
      lines.join('\n') || 'There are no sessions.',
    );
  },
});
