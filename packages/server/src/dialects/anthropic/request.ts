/** In: converts the body of a request to a `ChatRequest`. */
import { ReasoningEffort, type TurnOptions } from '@parlance/protocol';
import { invalid } from '../kit/request-fault.ts';
import type { ChatRequest } from '../kit/request-sessions.ts';
import type { AuthenticatedRequest } from '../kit/vendor-requests.ts';
import type { Context } from './context.ts';
import { conversationOf, systemText } from './conversation.ts';
import type { CountRequest, MessageRequest } from './schemas.ts';
import type { Setup } from './threads.ts';

/** Sessions of a coding client can be found by the client's own id. Several sessions may share an id. */
const CLIENT_SESSION_HEADER = 'x-claude-code-session-id';
const CLIENT_SESSION = 'claude-code.session';

export function chatRequestOf(
  { models }: Context,
  incoming: AuthenticatedRequest,
  body: MessageRequest,
): ChatRequest {
  const { principal, session, key, request } = incoming;
  const { agent } = models.choose(body.model);
  const client = request.headers.get(CLIENT_SESSION_HEADER);
  return {
    dialect: 'anthropic',
    principal,
    session,
    key,
    ...conversationOf(body.messages),
    terms: { ...termsOf(setupOf(body)), options: optionsOf(body) },
    agent,
    ...(client && { labels: { [CLIENT_SESSION]: client.slice(0, 200) } }),
  };
}

/** The caller's instructions and tools. Unsupported kinds of tools are left out. */
export function setupOf({ system, tools }: Pick<CountRequest, 'system' | 'tools'>): Setup {
  const own = (tools ?? []).flatMap((tool) => ('input_schema' in tool ? [tool] : []));
  return {
    ...(system != null && { system: systemText(system) }),
    ...(own.length > 0 && {
      tools: own.map(({ name, description, input_schema: parameters }) => ({
        name,
        description: description ?? '',
        parameters,
      })),
    }),
  };
}

/** A caller with tools acts as the agent: no other tools are offered. */
export const termsOf = ({ system, tools }: Setup): TurnOptions => ({
  ...(system && { instructions: system }),
  ...(tools && { tools, agentTools: false }),
});

function optionsOf(body: MessageRequest): TurnOptions['options'] {
  const { temperature, top_p: topP, stop_sequences: stop } = body;
  const format = body.output_config?.format ?? body.output_format;
  const effort = ReasoningEffort.safeParse(body.output_config?.effort).data;
  const budget = budgetOf(body);
  return {
    maxOutputTokens: body.max_tokens,
    ...(temperature != null && { temperature }),
    ...(topP != null && { topP }),
    ...(stop != null && stop.length > 0 && { stop }),
    ...(effort && { reasoningEffort: effort }),
    ...(budget !== undefined && { reasoningTokens: budget }),
    ...(format?.schema && { responseFormat: { type: 'json_schema', schema: format.schema } }),
    ...choiceOf(body),
  };
}

function budgetOf({ thinking }: MessageRequest): number | undefined {
  if (thinking?.type === 'disabled') return 0;
  return thinking?.type === 'enabled' ? (thinking.budget_tokens ?? undefined) : undefined;
}

const CHOICES = { auto: 'auto', any: 'required', none: 'none' } as const;

function choiceOf({ tool_choice: choice }: MessageRequest): TurnOptions['options'] {
  if (!choice) return {};
  const { type, name, disable_parallel_tool_use: single } = choice;
  if (type === 'tool' && !name) throw invalid('tool_choice.name', 'The name of a tool is missing.');
  return {
    toolChoice: type === 'tool' ? { tool: name ?? '' } : CHOICES[type],
    ...(single != null && { parallelToolCalls: !single }),
  };
}

/** Thinking is shown if it is requested and not omitted. */
export const showsThinking = ({ thinking }: MessageRequest): boolean =>
  (thinking?.type === 'enabled' || thinking?.type === 'adaptive') && thinking.display !== 'omitted';
