/** Schemas of responses, for the descriptions. */
import { JsonValue } from '@parlance/protocol';
import { z } from 'zod';
import { named } from '../shared/description.ts';
import { TASK_STATES } from './objects.ts';
import { RpcId } from './rpc.ts';

export const AgentCard = named(
  'A2aAgentCard',
  z.object({
    name: z.string(),
    description: z.string(),
    version: z.string(),
    supportedInterfaces: z.array(
      z.object({
        url: z.string().describe('absolute, at the address under which the card was requested'),
        protocolBinding: z.literal('JSONRPC'),
        protocolVersion: z.literal('1.0'),
      }),
    ),
    capabilities: z.object({
      streaming: z.literal(true),
      pushNotifications: z.literal(false),
      extendedAgentCard: z.literal(false),
    }),
    securitySchemes: z.object({
      bearer: z.object({
        httpAuthSecurityScheme: z.object({ scheme: z.literal('Bearer'), description: z.string() }),
      }),
    }),
    securityRequirements: z.array(
      z.object({ schemes: z.object({ bearer: z.object({ list: z.array(z.string()) }) }) }),
    ),
    defaultInputModes: z.array(z.string()),
    defaultOutputModes: z.array(z.string()),
    skills: z
      .array(
        z.object({
          id: z.string(),
          name: z.string(),
          description: z.string(),
          tags: z.array(z.string()).describe('the domains of the agent'),
        }),
      )
      .describe('one for each agent'),
  }),
);

const About = { mediaType: z.string().optional(), filename: z.string().optional() };

const Part = z.union([
  z.object({ text: z.string(), ...About }),
  z.object({ data: JsonValue, ...About }),
  z.object({ url: z.string(), ...About }),
  z.object({ raw: z.string().describe('base64'), ...About }),
]);

const Message = named(
  'A2aMessage',
  z.object({
    messageId: z.string(),
    contextId: z.string(),
    taskId: z.string(),
    role: z.enum(['ROLE_USER', 'ROLE_AGENT']),
    parts: z.array(Part),
  }),
);

export const Task = named(
  'A2aTask',
  z.object({
    id: z.string(),
    contextId: z.string().describe('the session'),
    status: z.object({
      state: z.enum(TASK_STATES),
      message: Message.optional(),
      timestamp: z.string(),
    }),
    artifacts: z
      .array(z.object({ artifactId: z.string(), parts: z.array(Part) }))
      .optional()
      .describe('the text of the answer'),
    history: z.array(Message).optional(),
  }),
);

const TaskPage = named(
  'A2aTaskPage',
  z.object({
    tasks: z.array(Task),
    totalSize: z.int(),
    pageSize: z.int(),
    nextPageToken: z.string().describe('empty on the last page'),
  }),
);

export const RpcError = z.object({
  code: z.int(),
  message: z.string(),
  data: z.array(z.record(z.string(), z.string())).optional(),
});

export const RpcFailure = named(
  'A2aError',
  z.object({ jsonrpc: z.literal('2.0'), id: RpcId, error: RpcError }),
);

export const RpcAnswer = named(
  'A2aResponse',
  z.union([
    z.object({
      jsonrpc: z.literal('2.0'),
      id: RpcId,
      result: z.union([z.object({ task: Task }), Task, TaskPage]),
    }),
    RpcFailure,
  ]),
);
