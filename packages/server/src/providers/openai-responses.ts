/**
 * The Responses API. Nothing is stored at the vendor: reasoning that it wants back comes encrypted, is stored with the
 * conversation, and is sent again at its original position.
 */
import {
  isObject,
  type Json,
  type JsonObject,
  nestsDeeper,
  type PromptPart,
  parsedObject,
  type Sealed,
  textOf,
  type Usage,
} from '@parlance/protocol';
import { z } from 'zod';
import type { Prompt, PromptItem } from '../core/ports/provider.ts';
import { callInput } from './call-input.ts';
import { MALFORMED_EVENT, STREAM_ENDED_EARLY } from './faults.ts';
import { type ApiEvent, type ApiRequest, failed, type ModelApi, PIECE_OVERHEAD } from './model-api.ts';
import { responsesOptions } from './model-options.ts';
import { cacheKey, type OpenaiOptions, openaiRequest, type Vendor, vendorOf } from './openai.ts';
import { refusedFault, streamFault } from './openai-faults.ts';
import { dataUrl, fileText, notShown, shortId, summaryText } from './part-text.ts';

type State = {
  readonly calls: number;
  /** the started calls, by the index of their item */
  readonly begun: ReadonlyMap<
    unknown,
    { readonly index: number; readonly call: string; readonly tool: string }
  >;
  readonly messages: number;
  readonly refused: boolean;
  /** encrypted reasoning of a call that is still to come */
  readonly reasoning: readonly Json[];
  /** characters of arguments, and of the reasoning above */
  readonly written: number;
};

type Step = readonly [State, readonly ApiEvent[]];

export function openaiResponses(options: OpenaiOptions): ModelApi<State> {
  const vendor = vendorOf(options);
  return {
    acceptsLink: () => true,
    request: (prompt, plain = false) => request(options, prompt, plain),
    start: () => ({ calls: 0, begun: new Map(), messages: 0, refused: false, reasoning: [], written: 0 }),
    step: (state, { data }) => step(vendor, state, data),
    buffered: ({ calls, written }) => ({ calls, characters: written }),
    finish: () => failed(STREAM_ENDED_EARLY),
    refused: (status, body) => refusedFault(vendor, status, body),
  };
}

// Request

const SEALER = 'openai-responses';
const MAX_CALL_ID_LENGTH = 64;

/** Models without reasoning refuse the option. */
const reasons = (model: string): boolean =>
  /^(?:.*\/)?(?:o\d|gpt-(?:[5-9]|\d\d)|codex)/.test(model) && !/-chat\b/.test(model);

function request(options: OpenaiOptions, prompt: Prompt, plain: boolean): ApiRequest {
  const { model } = options;
  const input = prompt.items.flatMap((item, at) => inputItems(item, prompt.items[at + 1], plain));
  const tools = prompt.tools.map(({ name, description, parameters }) => ({
    type: 'function',
    name,
    description,
    parameters,
    strict: false,
  }));
  const include = ['reasoning.encrypted_content'];
  const reasoning = reasons(model) && !plain ? { reasoning: { summary: 'auto' }, include } : {};
  return openaiRequest(options, 'responses', {
    model,
    // Instructions and tools first, then the growing conversation: the prefix is cached.
    ...(prompt.instructions ? { instructions: prompt.instructions } : {}),
    ...(tools.length > 0 ? { tools } : {}),
    input,
    ...responsesOptions(prompt, reasoning.reasoning),
    ...(reasoning.include ? { include: reasoning.include } : {}),
    ...(plain ? {} : { prompt_cache_key: cacheKey(prompt) }),
    store: false,
    stream: true,
  });
}

function inputItems(item: PromptItem, next: PromptItem | undefined, plain: boolean): object[] {
  switch (item.kind) {
    case 'user':
      return [{ role: 'user', content: item.parts.map(inputPart) }];
    case 'summary':
      return [{ role: 'user', content: [{ type: 'input_text', text: summaryText(item.text) }] }];
    case 'system':
      return [{ role: 'developer', content: [{ type: 'input_text', text: item.text }] }];
    case 'text':
      return [{ role: 'assistant', content: [{ type: 'output_text', text: item.text }] }];
    case 'reasoning':
      // Reasoning of a cancelled or lost answer leads to nothing, and would be refused.
      return plain || !next || !FOLLOWS.has(next.kind) ? [] : unsealed(item.sealed);
    case 'call': {
      const { call, tool, input, sealed } = item;
      const call_id = shortId(call, MAX_CALL_ID_LENGTH);
      const made = { type: 'function_call', call_id, name: tool, arguments: JSON.stringify(input) };
      return plain ? [made] : [...unsealed(sealed), made];
    }
    case 'result': {
      const call_id = shortId(item.call, MAX_CALL_ID_LENGTH);
      return [{ type: 'function_call_output', call_id, output: output(item.parts) }];
    }
  }
}

const FOLLOWS: ReadonlySet<PromptItem['kind']> = new Set(['reasoning', 'text', 'call']);

/** The original items without ids, which do not exist at the vendor. */
function unsealed(sealed: Sealed | undefined): object[] {
  if (sealed?.provider !== SEALER) return [];
  const items = Array.isArray(sealed.data) ? sealed.data : [sealed.data];
  return items.flatMap((item) => (isObject(item) ? [{ ...item, id: undefined, status: undefined }] : []));
}

const output = (parts: readonly PromptPart[]): string | object[] =>
  parts.every((part) => part.type === 'text' && !part.link) ? textOf(parts) : parts.map(inputPart);

function inputPart(part: PromptPart): object {
  if (part.type === 'text' && part.link) {
    const { kind, url } = part.link;
    return kind === 'image' ? { type: 'input_image', image_url: url } : { type: 'input_file', file_url: url };
  }
  if (part.type === 'text') return { type: 'input_text', text: part.text };
  if (part.type === 'image') return { type: 'input_image', image_url: dataUrl(part) };
  if (part.mime === 'application/pdf')
    return { type: 'input_file', filename: part.name, file_data: dataUrl(part) };
  return { type: 'input_text', text: fileText(part) ?? notShown(part) };
}

// Schema of the vendor's event

const ReasoningItem = z.looseObject({
  type: z.literal('reasoning'),
  encrypted_content: z.string().nullish(),
});
const CallItem = z.object({
  type: z.literal('function_call'),
  call_id: z.string(),
  name: z.string(),
  arguments: z.string(),
});
const OutputItem = z.object({ item: z.union([ReasoningItem, CallItem]) });

const End = z.object({
  response: z.object({
    incomplete_details: z.object({ reason: z.string().nullish() }).nullish(),
    error: z.unknown().optional(),
    usage: z
      .object({
        input_tokens: z.number(),
        output_tokens: z.number(),
        input_tokens_details: z.object({ cached_tokens: z.number().nullish() }).nullish(),
        output_tokens_details: z.object({ reasoning_tokens: z.number().nullish() }).nullish(),
      })
      .nullish(),
  }),
});

// Step

function step(vendor: Vendor, state: State, data: string): Step {
  if (data === '[DONE]') return [state, []];
  const event = parsedObject(data);
  if (!event) return [state, failed(MALFORMED_EVENT)];
  const delta = typeof event.delta === 'string' ? event.delta : '';
  switch (event.type) {
    case 'response.output_text.delta':
      return [state, [{ type: 'text', text: delta }]];
    case 'response.refusal.delta':
      return [state.refused ? state : { ...state, refused: true }, [{ type: 'text', text: delta }]];
    case 'response.reasoning_summary_text.delta':
    case 'response.reasoning_text.delta':
      return [state, [{ type: 'reasoning', text: delta }]];
    case 'response.function_call_arguments.delta':
      return argumentsDelta(state, event.output_index, delta);
    case 'response.reasoning_summary_part.added':
      return [state, event.summary_index === 0 ? [] : [{ type: 'reasoning', text: '\n\n' }]];
    case 'response.output_item.added':
      return itemBegan(state, event);
    case 'response.output_item.done':
      return itemEnded(state, event);
    case 'response.completed':
    case 'response.incomplete':
      return [state, ended(state, event, event.type === 'response.incomplete')];
    case 'response.failed': {
      const end = End.safeParse(event);
      return [state, failed(streamFault(vendor, end.data?.response.error))];
    }
    case 'error':
      return [state, failed(streamFault(vendor, event.error ?? event))];
    default:
      return [state, []];
  }
}

function itemBegan(state: State, { item, output_index }: Record<string, unknown>): Step {
  if (!isObject(item)) return [state, []];
  if (item.type === 'message') return messageBegan(state);
  const { type, call_id: call, name: tool } = item;
  if (type !== 'function_call' || typeof call !== 'string' || typeof tool !== 'string') return [state, []];
  const begun = { index: state.begun.size, call, tool };
  return [
    { ...state, begun: new Map(state.begun).set(output_index, begun) },
    [{ type: 'arguments', ...begun, text: '' }],
  ];
}

function argumentsDelta(state: State, item: unknown, text: string): Step {
  const next = { ...state, written: state.written + text.length };
  const begun = state.begun.get(item);
  return [next, begun && text !== '' ? [{ type: 'arguments', ...begun, text }] : []];
}

/** An answer may have several messages, shown as paragraphs of one. */
function messageBegan(state: State): Step {
  const next = { ...state, messages: state.messages + 1, reasoning: [] };
  const gap: ApiEvent[] = state.messages === 0 ? [] : [{ type: 'text', text: '\n\n' }];
  return [next, [...sealed(state.reasoning), ...gap]];
}

const sealed = (items: readonly Json[]): ApiEvent[] =>
  items.map((data) => ({ type: 'sealed', sealed: { provider: SEALER, data } }));

function itemEnded(state: State, event: Record<string, unknown>): Step {
  const parsed = OutputItem.safeParse(event);
  if (!parsed.success) return [state, []];
  const { item } = parsed.data;
  if (item.type === 'reasoning') {
    if (!item.encrypted_content || nestsDeeper(item)) return [state, []];
    // Calls are recorded after all reasoning: reasoning between two calls is stored with the second.
    if (state.calls > 0) {
      const written = state.written + item.encrypted_content.length + PIECE_OVERHEAD;
      return [{ ...state, reasoning: [...state.reasoning, item as JsonObject], written }, []];
    }
    return [state, sealed([item as JsonObject])];
  }
  const reasoning =
    state.reasoning.length > 0 ? { sealed: { provider: SEALER, data: [...state.reasoning] } } : {};
  return [
    { ...state, calls: state.calls + 1, reasoning: [] },
    [{ type: 'call', call: item.call_id, tool: item.name, ...callInput(item.arguments), ...reasoning }],
  ];
}

function ended(state: State, event: Record<string, unknown>, incomplete: boolean): ApiEvent[] {
  const end = End.safeParse(event);
  const filtered = end.data?.response.incomplete_details?.reason === 'content_filter';
  const usage = usageOf(end.data?.response.usage);
  const stop =
    state.refused || filtered ? 'refused' : incomplete ? 'length' : state.calls > 0 ? 'calls' : 'done';
  return [{ type: 'ended', usage, stop }];
}

const usageOf = (usage: z.infer<typeof End>['response']['usage']): Usage => ({
  inputTokens: usage?.input_tokens ?? 0,
  outputTokens: usage?.output_tokens ?? 0,
  cachedTokens: usage?.input_tokens_details?.cached_tokens ?? undefined,
  reasoningTokens: usage?.output_tokens_details?.reasoning_tokens ?? undefined,
});
