/** Starts sub-agents and talks to them. The engine does the work: `core/engine/sub-agents.ts`. */
import { Fault } from '@parlance/protocol';
import { z } from 'zod';
import { type AgentRequest, defineTool, type Tool } from '../core/ports/tool.ts';

const Input = z
  .object({
    action: z
      .enum(['spawn', 'message', 'wait', 'cancel'])
      .describe('spawn: a new sub-agent with a task. message, wait, cancel: one that you have.'),
    agent: z
      .string()
      .min(1)
      .max(100)
      .describe('To spawn: the id of an agent. Otherwise: the name of the sub-agent.'),
    task: z
      .string()
      .max(100_000)
      .optional()
      .describe('The task or message. A new sub-agent knows nothing else of this conversation.'),
    name: z.string().max(100).optional().describe('A short name for a new sub-agent, such as tests.'),
    background: z
      .boolean()
      .optional()
      .describe('true: go on at once; the result arrives later as a message.'),
    worktree: z
      .boolean()
      .optional()
      .describe('true: it works in a copy of the folder, and the user decides about its changes.'),
  })
  .superRefine(({ action, task }, context) => {
    if ((action === 'spawn' || action === 'message') && !task?.trim())
      context.addIssue({ code: 'custom', path: ['task'], message: `is needed to ${action}` });
  });

type Agents = () => readonly { readonly id: string; readonly description: string }[];

export const agentTool = (agents: Agents): Tool =>
  defineTool({
    name: 'agent',
    get description() {
      const offered = agents().map(({ id, description }) => `${id} (${description.replace(/\.$/, '')})`);
      return `Gives a part of the work to a sub-agent, which has its own context and answers once. Calls of one answer work in parallel. Agents: ${offered.join('; ')}.`;
    },
    input: Input,
    repeatable: true,
    approval: () => null,
    subAgent({ action, agent, task = '', name, background, worktree }): AgentRequest {
      switch (action) {
        case 'spawn':
          return { action, agent, task, name, background, worktree };
        case 'message':
          return { action, agent, text: task, background };
        case 'wait':
        case 'cancel':
          return { action, agent };
      }
    },
    run: async () => {
      throw new Fault('tool_failed', 'Sub-agents are not available here.');
    },
  });
