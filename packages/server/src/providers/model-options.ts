/** Maps the options of a prompt to the fields of each vendor's API. Options without a field are left out. */
import type { ModelOptions, ReasoningEffort } from '@parlance/protocol';
import type { Prompt } from '../core/ports/provider.ts';

type OptionsInPrompt = Pick<Prompt, 'options' | 'tools'>;

const given = (fields: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));

/** Vendors refuse a tool choice if no tools are offered. */
const choiceIn = ({ options, tools }: OptionsInPrompt): ModelOptions['toolChoice'] =>
  tools.length > 0 ? options?.toolChoice : undefined;

const parallelIn = ({ options, tools }: OptionsInPrompt): boolean | undefined =>
  tools.length > 0 ? options?.parallelToolCalls : undefined;

/**
 * `own`: OpenAI itself, whose newer models reject `max_tokens`; compatible servers only know that field.
 * `plain`: without fields that not all models support.
 */
export function chatOptions(
  prompt: OptionsInPrompt,
  { own, plain }: { own: boolean; plain: boolean },
): object {
  const { temperature, topP, maxOutputTokens, stop, reasoningEffort, responseFormat } = prompt.options ?? {};
  const choice = choiceIn(prompt);
  return given({
    temperature,
    top_p: topP,
    [own ? 'max_completion_tokens' : 'max_tokens']: maxOutputTokens,
    stop,
    reasoning_effort: plain ? undefined : reasoningEffort,
    response_format: responseFormat && chatFormat(responseFormat),
    tool_choice: typeof choice === 'object' ? { type: 'function', function: { name: choice.tool } } : choice,
    parallel_tool_calls: parallelIn(prompt),
  });
}

function chatFormat(format: NonNullable<ModelOptions['responseFormat']>): object {
  if (format.type !== 'json_schema') return { type: format.type === 'json' ? 'json_object' : 'text' };
  const { name = 'answer', schema, strict } = format;
  return { type: 'json_schema', json_schema: given({ name, schema, strict }) };
}

/** `reasoning`: the reasoning options of the request; absent if the model has none. The API has no stop sequences. */
export function responsesOptions(prompt: OptionsInPrompt, reasoning: object | undefined): object {
  const { temperature, topP, maxOutputTokens, reasoningEffort, responseFormat } = prompt.options ?? {};
  const choice = choiceIn(prompt);
  return given({
    temperature,
    top_p: topP,
    max_output_tokens: maxOutputTokens,
    reasoning: reasoning && reasoningEffort ? { ...reasoning, effort: reasoningEffort } : reasoning,
    text: responseFormat && { format: responsesFormat(responseFormat) },
    tool_choice: typeof choice === 'object' ? { type: 'function', name: choice.tool } : choice,
    parallel_tool_calls: parallelIn(prompt),
  });
}

function responsesFormat(format: NonNullable<ModelOptions['responseFormat']>): object {
  if (format.type !== 'json_schema') return { type: format.type === 'json' ? 'json_object' : 'text' };
  const { name = 'answer', schema, strict } = format;
  return given({ type: 'json_schema', name, schema, strict });
}

/** The vendor refuses thinking together with a temperature, a `top_p` or a forced tool choice. */
export function anthropicOptions(
  prompt: OptionsInPrompt,
  takesEffort: boolean,
): { readonly thinks: boolean; readonly fields: object } {
  const { temperature, topP, stop, reasoningEffort, reasoningTokens, responseFormat } = prompt.options ?? {};
  const choice = choiceIn(prompt);
  const forced = choice === 'required' || typeof choice === 'object';
  const parallel = parallelIn(prompt);
  const isOff = reasoningEffort === 'none' || reasoningTokens === 0;
  const thinks = temperature === undefined && topP === undefined && !forced && !isOff;
  const schema = responseFormat?.type === 'json_schema' ? responseFormat.schema : undefined;
  return {
    thinks,
    fields: given({
      temperature: temperature === undefined ? undefined : Math.min(1, temperature),
      top_p: topP,
      stop_sequences: stop,
      output_config: configOf(
        schema && { type: 'json_schema', schema },
        takesEffort ? EFFORTS[reasoningEffort ?? 'none'] : undefined,
      ),
      tool_choice:
        choice === undefined && parallel === undefined
          ? undefined
          : {
              ...anthropicChoice(choice ?? 'auto'),
              ...(parallel === false && choice !== 'none' ? { disable_parallel_tool_use: true } : {}),
            },
    }),
  };
}

/** The vendor's names. Without thinking there is no effort. */
const EFFORTS: Readonly<Record<ReasoningEffort, string | undefined>> = {
  none: undefined,
  minimal: 'low',
  low: 'low',
  medium: 'medium',
  high: 'high',
  xhigh: 'xhigh',
  max: 'max',
};

const configOf = (format: object | undefined, effort: string | undefined): object | undefined =>
  format || effort ? given({ format, effort }) : undefined;

function anthropicChoice(choice: NonNullable<ModelOptions['toolChoice']>): object {
  if (typeof choice === 'object') return { type: 'tool', name: choice.tool };
  return { type: choice === 'required' ? 'any' : choice };
}

export function googleGeneration({ options }: OptionsInPrompt): object {
  const { temperature, topP, maxOutputTokens, stop, responseFormat } = options ?? {};
  const json = responseFormat && responseFormat.type !== 'text';
  return given({
    temperature,
    topP,
    maxOutputTokens,
    stopSequences: stop,
    responseMimeType: json ? 'application/json' : undefined,
    responseJsonSchema: responseFormat?.type === 'json_schema' ? responseFormat.schema : undefined,
  });
}

export function googleToolConfig(prompt: OptionsInPrompt): object {
  const choice = choiceIn(prompt);
  if (choice === undefined) return {};
  const config =
    typeof choice === 'object'
      ? { mode: 'ANY', allowedFunctionNames: [choice.tool] }
      : { mode: choice === 'required' ? 'ANY' : choice.toUpperCase() };
  return { toolConfig: { functionCallingConfig: config } };
}
