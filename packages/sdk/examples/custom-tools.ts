// Two tools of your own, for agents of every client: parlance serve --tools custom-tools.ts
import { existsSync } from 'node:fs';
import { appendFile, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { defineTool, ToolError, z } from '@parlance/sdk/tools';

const fileIn = (folder: string) => join(folder, 'expenses.jsonl');

export const addExpense = defineTool({
  name: 'add_expense',
  description: 'Records an expense of the user.',
  parameters: z.object({
    amount: z.number().positive().describe('In euros.'),
    purpose: z.string().min(1),
  }),
  approval: ({ amount, purpose }) => (amount < 10 ? null : `Records ${amount} € for ${purpose}.`),
  async run({ amount, purpose }, { folder, user }) {
    if (amount > 10_000) throw new ToolError('Expenses above 10,000 € need a signed form.');
    await appendFile(fileIn(folder), `${JSON.stringify({ user, amount, purpose })}\n`);
    return `Recorded ${amount} € for ${purpose}.`;
  },
});

export const listExpenses = defineTool({
  name: 'list_expenses',
  description: 'Lists all recorded expenses.',
  parameters: z.object({}),
  approval: 'never',
  repeatable: true,
  async run(_, { folder }) {
    const file = fileIn(folder);
    const lines = existsSync(file) ? (await readFile(file, 'utf8')).trim().split('\n') : [];
    return lines.map((line) => JSON.parse(line));
  },
});
