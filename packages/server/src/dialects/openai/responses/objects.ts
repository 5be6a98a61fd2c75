/** The response object. */
import type { TurnOptions, Usage } from '@parlance/protocol';
import type { OutputItem } from './items.ts';
import { SERVER_LABEL } from './items.ts';
import type { RequestData } from './schemas.ts';

export type Status = 'queued' | 'in_progress' | 'completed' | 'incomplete' | 'failed' | 'cancelled';

/** The fields that do not change while the response is created. */
export type Head = {
  readonly id: string;
  readonly session: string;
  /** in milliseconds */
  readonly createdAt: number;
  readonly model: string;
  readonly terms: TurnOptions;
  readonly data: RequestData;
};

export type Outcome = {
  readonly status: Status;
  readonly output: readonly OutputItem[];
  readonly usage: Required<Usage> | null;
  readonly completedAt: number | null;
  readonly error: { readonly code: string; readonly message: string } | null;
  readonly reason: 'max_output_tokens' | 'content_filter' | null;
};

export const IN_PROGRESS: Outcome = {
  status: 'in_progress',
  output: [],
  usage: null,
  completedAt: null,
  error: null,
  reason: null,
};

const seconds = (milliseconds: number): number => Math.floor(milliseconds / 1000);

export function responseObject({ id, session, createdAt, model, terms, data }: Head, outcome: Outcome) {
  const { options = {}, instructions } = terms;
  const { status, output, usage, completedAt, error, reason } = outcome;
  return {
    id,
    object: 'response' as const,
    created_at: seconds(createdAt),
    completed_at: completedAt === null ? null : seconds(completedAt),
    status,
    background: data.background,
    error,
    incomplete_details: reason === null ? null : { reason },
    instructions: data.instructions === null ? null : (instructions ?? '').slice(0, data.instructions),
    max_output_tokens: options.maxOutputTokens ?? null,
    metadata: data.metadata,
    model,
    output,
    parallel_tool_calls: options.parallelToolCalls ?? true,
    previous_response_id: data.previous,
    conversation: data.conversation ? { id: session } : null,
    reasoning: { effort: options.reasoningEffort ?? null, summary: null },
    store: data.store,
    temperature: options.temperature ?? 1,
    text: { format: formatObject(options.responseFormat) },
    tool_choice: choiceObject(options.toolChoice),
    tools: toolObjects(terms),
    top_p: options.topP ?? 1,
    truncation: 'disabled' as const,
    usage: usage && usageObject(usage),
  };
}
export type ResponseObject = ReturnType<typeof responseObject>;

const usageObject = ({ inputTokens, outputTokens, cachedTokens, reasoningTokens }: Required<Usage>) => ({
  input_tokens: inputTokens,
  input_tokens_details: { cached_tokens: cachedTokens, cache_write_tokens: 0 },
  output_tokens: outputTokens,
  output_tokens_details: { reasoning_tokens: reasoningTokens },
  total_tokens: inputTokens + outputTokens,
});

type Options = NonNullable<TurnOptions['options']>;

function formatObject(format: Options['responseFormat']) {
  if (format?.type === 'json_schema') {
    const { name = 'response', schema, strict = false } = format;
    return { type: 'json_schema' as const, name, schema, strict };
  }
  return { type: format?.type === 'json' ? ('json_object' as const) : ('text' as const) };
}

const choiceObject = (choice: Options['toolChoice']) =>
  typeof choice === 'object' ? { type: 'function' as const, name: choice.tool } : (choice ?? 'auto');

/** The agent's own tools are listed if the request asks for them beside its own. */
const toolObjects = ({ tools = [], agentTools }: TurnOptions) => [
  ...tools.map(({ name, description, parameters }) => ({
    type: 'function' as const,
    name,
    description,
    parameters,
    strict: false,
  })),
  ...(agentTools === true
    ? [{ type: 'mcp' as const, server_label: SERVER_LABEL, require_approval: 'always' as const }]
    : []),
];
