/** Anthropic's Messages API, streamed. https://platform.claude.com/docs/en/build-with-claude/streaming */

import { isObject, type JsonObject, parsedObject, type Sealed, type Usage } from '@parlance/protocol';
import type { ServerSentEvent } from '@parlance/protocol/server-sent-events';
import { z } from 'zod';
import type { ProviderEvent } from '../core/ports/provider.ts';

import { ANTHROPIC, acceptsLink, requestBody, type Thinking } from './anthropic-request.ts';
import { callInput, parsedInput } from './call-input.ts';
import {
  type ApiFault,
  contextTooLong,
  MALFORMED_EVENT,
  rateLimited,
  refusedFault,
  refusedKey,
  refusedRequest,
  STREAM_ENDED_EARLY,
  type UsedKey,
  vendorFailed,
} from './faults.ts';
import {
  type ApiEvent,
  type ApiOptions,
  type BufferedOutput,
  failed,
  type ModelApi,
  NOTHING_BUFFERED,
  PIECE_OVERHEAD,
} from './model-api.ts';
import { vendorText } from './vendor-text.ts';

export type AnthropicOptions = ApiOptions & {
  /** default: derived from the model's name */
  readonly thinking?: Thinking;
};

// Request

export function anthropic(options: AnthropicOptions): ModelApi<AnthropicState> {
  const { key, model, baseUrl = 'https://api.anthropic.com', maxTokens = 32_000 } = options;
  const { thinking = takesAdaptive(model) ? 'adaptive' : 'off' } = options;
  return {
    acceptsLink,
    request: (prompt, plain = false) => ({
      url: `${baseUrl.replace(/\/+$/, '').replace(/\/v1$/, '')}/v1/messages`,
      headers: { ...(key ? { 'x-api-key': key } : {}), 'anthropic-version': '2023-06-01' },
      body: requestBody(prompt, { model, maxTokens, thinking }, plain),
    }),
    start: () => START,
    step: (state, event) => step(state, event, options),
    buffered: ({ buffered }) => buffered,
    finish: (state) => (state.stop === null ? failed(STREAM_ENDED_EARLY) : ended(state)),
    refused: (status, body) => anthropicRefusal(status, body, options),
  };
}

/** Models from 4.6 on decide how much they think. */
function takesAdaptive(model: string): boolean {
  const [, major = '', minor = '0'] = /claude-[a-z]+-(\d+)(?:-(\d{1,2}))?(?!\d)/.exec(model) ?? [];
  return Number(major) > 4 || (Number(major) === 4 && Number(minor) >= 6);
}

// Schema of the vendor's event

const count = z.number().nullish();
const Counts = z.object({
  input_tokens: count,
  cache_read_input_tokens: count,
  cache_creation_input_tokens: count,
  output_tokens: count,
  output_tokens_details: z.object({ thinking_tokens: count }).nullish(),
});
type Counts = z.infer<typeof Counts>;

const MessageStart = z.object({ message: z.object({ usage: Counts.nullish() }) });
const MessageDelta = z.object({
  delta: z.object({ stop_reason: z.string().nullish() }),
  usage: Counts.nullish(),
});
const BlockStart = z.object({ index: z.number(), content_block: z.looseObject({ type: z.string() }) });
const TextStart = z.object({ type: z.literal('text'), text: z.string() });
const ThinkingStart = z.object({
  type: z.literal('thinking'),
  thinking: z.string(),
  signature: z.string().default(''),
});
const RedactedStart = z.object({ type: z.literal('redacted_thinking'), data: z.string() });
const CallStart = z.object({
  type: z.literal('tool_use'),
  id: z.string(),
  name: z.string(),
  input: z.unknown().optional(),
});
const KnownStart = z.discriminatedUnion('type', [TextStart, ThinkingStart, RedactedStart, CallStart]);
const KNOWN = ['text', 'thinking', 'redacted_thinking', 'tool_use'];
const BlockStop = z.object({ index: z.number() });
// Step

type Call = Extract<ProviderEvent, { type: 'call' }>;
/** A streaming block that emits something at its end. */
type Open =
  | { readonly kind: 'thinking'; readonly signature: string }
  | {
      readonly kind: 'call';
      /** its position among the calls */
      readonly index: number;
      readonly id: string;
      readonly tool: string;
      /** initial content of the block */
      readonly start: ReturnType<typeof parsedInput>;
      readonly json: string;
    };

export type AnthropicState = {
  readonly counts: Counts;
  readonly open: ReadonlyMap<number, Open>;
  /** emitted at the end: a refused answer must not run calls */
  readonly calls: readonly Call[];
  readonly stop: string | null;
  readonly buffered: BufferedOutput;
};
type Step = readonly [AnthropicState, readonly ApiEvent[]];

const START: AnthropicState = {
  counts: {},
  open: new Map(),
  calls: [],
  stop: null,
  buffered: NOTHING_BUFFERED,
};
const NOTHING: readonly ApiEvent[] = [];

function step(state: AnthropicState, { data }: ServerSentEvent, used: UsedKey): Step {
  const event = parsedObject(data);
  if (!event) return [state, failed(MALFORMED_EVENT)];
  switch (event.type) {
    case 'content_block_delta':
      return delta(state, event);
    case 'content_block_start':
      return read(state, event, { schema: BlockStart, next: begin });
    case 'content_block_stop':
      return read(state, event, { schema: BlockStop, next: end });
    case 'message_start':
      return read(state, event, {
        schema: MessageStart,
        next: (_, { message: { usage } }) => {
          const next = counted(state, usage);
          return [next, usage ? [{ type: 'usage', usage: usageOf(next.counts) }] : NOTHING];
        },
      });
    case 'message_delta':
      return read(state, event, {
        schema: MessageDelta,
        next: (_, { delta: { stop_reason }, usage }) => [
          { ...counted(state, usage), stop: stop_reason ?? state.stop },
          NOTHING,
        ],
      });
    case 'message_stop':
      return [state, ended(state)];
    case 'error':
      return read(state, event, {
        schema: AnthropicError,
        next: (_, { error }) => [state, failed(anthropicStreamFault(error, used))],
      });
    default:
      return [state, NOTHING]; // a ping, or an unknown event
  }
}

/** Hot path: runs per token. */
function delta(state: AnthropicState, { index, delta: piece }: Record<string, unknown>): Step {
  if (!isObject(piece) || typeof index !== 'number') return [state, failed(MALFORMED_EVENT)];
  const { type, text, thinking, partial_json: json, signature } = piece;
  if (type === 'text_delta' && typeof text === 'string') return [state, [{ type: 'text', text }]];
  if (type === 'thinking_delta' && typeof thinking === 'string') {
    return [state, [{ type: 'reasoning', text: thinking }]];
  }
  const open = state.open.get(index);
  if (type === 'input_json_delta' && typeof json === 'string' && open?.kind === 'call') {
    const next = holding(withOpen(state, index, { ...open, json: open.json + json }), 0, json.length);
    return [next, json === '' ? NOTHING : [argumentsOf(open, json)]];
  }
  if (type === 'signature_delta' && typeof signature === 'string' && open?.kind === 'thinking') {
    const next = withOpen(state, index, { ...open, signature: open.signature + signature });
    return [holding(next, 0, signature.length), NOTHING];
  }
  return [state, NOTHING];
}

function begin(state: AnthropicState, { index, content_block }: z.infer<typeof BlockStart>): Step {
  if (!KNOWN.includes(content_block.type)) return [state, NOTHING];
  return read(state, content_block, { schema: KnownStart, next: (_, block) => started(state, index, block) });
}

function started(state: AnthropicState, index: number, block: z.infer<typeof KnownStart>): Step {
  switch (block.type) {
    case 'text':
      return [state, block.text === '' ? NOTHING : [{ type: 'text', text: block.text }]];
    case 'thinking':
      return [
        holding(
          withOpen(state, index, { kind: 'thinking', signature: block.signature }),
          0,
          block.signature.length + PIECE_OVERHEAD,
        ),
        block.thinking === '' ? NOTHING : [{ type: 'reasoning', text: block.thinking }],
      ];
    case 'redacted_thinking':
      return [state, [{ type: 'sealed', sealed: sealed({ redacted: block.data }) }]];
    case 'tool_use': {
      const { id, name, input } = block;
      const start = parsedInput(input ?? {});
      const open = { kind: 'call', index: state.buffered.calls, id, tool: name, start, json: '' } as const;
      const next = holding(withOpen(state, index, open), 1, JSON.stringify([id, name, start]).length);
      return [next, [argumentsOf(open, '')]];
    }
  }
}

function end(state: AnthropicState, { index }: z.infer<typeof BlockStop>): Step {
  const open = state.open.get(index);
  if (!open) return [state, NOTHING];
  const after = withOpen(state, index, null);
  if (open.kind === 'call') return [{ ...after, calls: [...after.calls, callOf(open)] }, NOTHING];
  const { signature } = open;
  return [after, signature === '' ? NOTHING : [{ type: 'sealed', sealed: sealed({ signature }) }]];
}

const argumentsOf = ({ index, id, tool }: Extract<Open, { kind: 'call' }>, text: string): ApiEvent => ({
  type: 'arguments',
  index,
  call: id,
  tool,
  text,
});

/** Deltas replace the initial input of a block, which is mostly empty. */
const callOf = ({ id, tool, start, json }: Extract<Open, { kind: 'call' }>): Call => ({
  type: 'call',
  call: id,
  tool,
  ...(json === '' ? start : callInput(json)),
});

const sealed = (data: JsonObject): Sealed => ({ provider: ANTHROPIC, data });

const holding = (state: AnthropicState, calls: number, characters: number): AnthropicState => ({
  ...state,
  buffered: { calls: state.buffered.calls + calls, characters: state.buffered.characters + characters },
});

function withOpen(state: AnthropicState, index: number, block: Open | null): AnthropicState {
  const open = new Map(state.open);
  if (block) open.set(index, block);
  else open.delete(index);
  return { ...state, open };
}

/** Counts are cumulative: the last one of each kind is valid. */
function counted(state: AnthropicState, counts: Counts | null | undefined): AnthropicState {
  const reported = Object.entries(counts ?? {}).filter(([, value]) => value !== null && value !== undefined);
  return { ...state, counts: { ...state.counts, ...Object.fromEntries(reported) } };
}

function ended({ calls, stop, counts }: AnthropicState): ApiEvent[] {
  const usage = usageOf(counts);
  if (stop === 'refusal') return [{ type: 'ended', usage, stop: 'refused' }];
  const cut = stop === 'max_tokens' || stop === 'model_context_window_exceeded';
  return [...calls, { type: 'ended', usage, stop: cut ? 'length' : calls.length > 0 ? 'calls' : 'done' }];
}

/** The vendor's input count excludes tokens read from or written to its cache. */
function usageOf(counts: Counts): Usage {
  const cachedTokens = counts.cache_read_input_tokens ?? 0;
  const reasoningTokens = counts.output_tokens_details?.thinking_tokens;
  return {
    inputTokens: (counts.input_tokens ?? 0) + cachedTokens + (counts.cache_creation_input_tokens ?? 0),
    outputTokens: counts.output_tokens ?? 0,
    cachedTokens,
    ...(typeof reasoningTokens === 'number' ? { reasoningTokens } : {}),
  };
}

function read<T>(
  state: AnthropicState,
  event: unknown,
  { schema, next }: { schema: z.ZodType<T>; next: (state: AnthropicState, event: T) => Step },
): Step {
  const result = schema.safeParse(event);
  return result.success ? next(state, result.data) : [state, failed(MALFORMED_EVENT)];
}

// Maps errors of Anthropic to faults. https://platform.claude.com/docs/en/api/errors

const AnthropicError = z.object({ error: z.object({ type: z.string(), message: z.string() }) });

const VENDOR = { name: 'Anthropic', variable: 'ANTHROPIC_API_KEY' };
const LONG = /prompt is too long|exceed context limit/i;

function anthropicStreamFault(
  { type, message }: z.infer<typeof AnthropicError>['error'],
  used: UsedKey,
): ApiFault {
  const { vendor = VENDOR } = used;
  const reason = vendorText(message, used.key);
  if (LONG.test(message)) return contextTooLong(reason);
  switch (type) {
    case 'rate_limit_error':
      return rateLimited(vendor.name, reason);
    case 'authentication_error':
    case 'permission_error':
      return refusedKey(vendor, used, reason);
    case 'request_too_large':
      return contextTooLong(reason);
    case 'invalid_request_error':
    case 'billing_error':
    case 'not_found_error':
      return refusedRequest(vendor.name, reason);
    default:
      return vendorFailed(vendor.name, reason);
  }
}

function anthropicRefusal(status: number, body: string, options: AnthropicOptions): ApiFault {
  const { data } = AnthropicError.safeParse(parsedObject(body));
  const message = data?.error.message ?? '';
  return refusedFault(options.vendor ?? VENDOR, options, {
    status,
    reason: vendorText(message, options.key),
    isApiError: data !== undefined,
    isTooLong: LONG.test(message),
    isDown: status === 408 || status >= 500,
    retryPlain: /thinking|signature|cache_control|effort/.test(message),
  });
}
