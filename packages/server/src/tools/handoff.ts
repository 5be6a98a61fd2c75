/** Hands the conversation over to another agent of the domain. */
import { Fault, textPart } from '@parlance/protocol';
import { z } from 'zod';
import { defineTool, type Tool } from '../core/ports/tool.ts';

const Input = z.object({
  agent: z.string().min(1).describe('The id of the agent that continues.'),
  reason: z.string().min(1).max(2_000).describe('Why, in one sentence.'),
});

export const handoff = (agents: () => readonly string[]): Tool =>
  defineTool({
    name: 'handoff',
    exclusive: 'always',
    get description() {
      return `Hands the conversation over to another agent. Agents: ${agents().join(', ')}.`;
    },
    input: Input,
    repeatable: true,
    available: () => agents().length > 0,
    approval: () => null,
    run: async ({ agent, reason }) => {
      if (!agents().includes(agent)) {
        throw new Fault(
          'tool_invalid',
          `There is no agent named ${JSON.stringify(agent)}; there are: ${agents().join(', ')}.`,
        );
      }
      return { parts: [textPart(`Handed over to ${agent}: ${reason}`)], handoff: { agent, reason } };
    },
  });
