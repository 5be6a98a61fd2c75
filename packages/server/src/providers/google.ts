/** Google's Gemini API, streamed. https://ai.google.dev/api/generate-content */

import { isObject, type JsonObject, parsedObject, type Sealed, type Usage } from '@parlance/protocol';
import type { ServerSentEvent } from '@parlance/protocol/server-sent-events';
import { z } from 'zod';
import type { ProviderEvent } from '../core/ports/provider.ts';
import { parsedInput } from './call-input.ts';
import { type ApiFault, MALFORMED_EVENT, refusedFault, STREAM_ENDED_EARLY, unavailable } from './faults.ts';
import { acceptsLink, GOOGLE, requestBody, type SignedSpan } from './google-request.ts';
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

// Request

export function google(options: ApiOptions): ModelApi<GoogleState> {
  const { key, baseUrl = 'https://generativelanguage.googleapis.com', maxTokens } = options;
  const name = options.model.replace(/^models\//, '');
  const base = baseUrl.replace(/\/+$/, '').replace(/\/v1beta$/, '');
  const model = { name, maxTokens, ...abilities(name) };
  return {
    acceptsLink: (link) => acceptsLink(model, link),
    request: (prompt, plain = false) => ({
      url: `${base}/v1beta/models/${encodeURIComponent(name)}:streamGenerateContent?alt=sse`,
      headers: { ...(key ? { 'x-goog-api-key': key } : {}) },
      body: requestBody(prompt, model, plain),
    }),
    start: () => ({ ...START, answer: crypto.randomUUID().slice(0, 13) }),
    step: (state, event) => step(state, event, options),
    buffered: ({ buffered }) => buffered,
    finish,
    refused: (status, body) => googleFault(status, googleErrorIn(body), options),
  };
}

/** By the model's name; one without a number is the latest. */
function abilities(name: string): { thinks: boolean; signs: boolean; fetches: boolean } {
  const [, major = '9', minor = '0'] = /^gemini-(?:live-)?(\d+)(?:\.(\d+))?/.exec(name) ?? [];
  const gemini = name.startsWith('gemini-') && !/image|tts/.test(name);
  const signs = gemini && Number(major) >= 3;
  const thinks = signs || (gemini && major === '2' && Number(minor) >= 5);
  return { thinks, signs, fetches: thinks };
}

// Schema of the vendor's event

const count = z.number().default(0);
const Counts = z.object({
  promptTokenCount: count,
  toolUsePromptTokenCount: count,
  candidatesTokenCount: count,
  thoughtsTokenCount: z.number().optional(),
  cachedContentTokenCount: z.number().optional(),
});

const FunctionCall = z.object({
  id: z.string().optional(),
  name: z.string(),
  args: z.unknown().optional(),
});

// Step

type Call = Omit<Extract<ProviderEvent, { type: 'call' }>, 'call'> & { readonly id: string | undefined };

export type GoogleState = {
  /** makes the ids of calls unique between answers */
  readonly answer: string;
  /** in the vendor's format; each one is cumulative */
  readonly counts: unknown;
  readonly stop: string | null;
  readonly blocked: boolean;
  /** emitted at the end: a refused answer must not run calls */
  readonly calls: readonly Call[];
  /** of the current run of text: its length and the position of its signatures */
  readonly length: number;
  readonly spans: readonly SignedSpan[];
  readonly buffered: BufferedOutput;
};
type Step = readonly [GoogleState, readonly ApiEvent[]];

const START: Omit<GoogleState, 'answer'> = {
  counts: {},
  stop: null,
  blocked: false,
  calls: [],
  length: 0,
  spans: [],
  buffered: NOTHING_BUFFERED,
};

/** Hot path: runs per token. */
function step(state: GoogleState, { data }: ServerSentEvent, options: ApiOptions): Step {
  const event = parsedObject(data);
  if (!event) return [state, failed(MALFORMED_EVENT)];
  if (event.error !== undefined) {
    const error = googleErrorIn(data);
    return [state, failed(googleFault(error.code ?? 500, error, options))];
  }
  const { responseId, usageMetadata, promptFeedback, candidates } = event;
  const candidate: unknown = Array.isArray(candidates) ? candidates[0] : undefined;
  const { finishReason, content } = isObject(candidate) ? candidate : {};
  const parts = isObject(content) && Array.isArray(content.parts) ? content.parts : [];
  const events: ApiEvent[] = [];
  let next: GoogleState = {
    ...state,
    answer: typeof responseId === 'string' ? responseId : state.answer,
    counts: usageMetadata ?? state.counts,
    stop: typeof finishReason === 'string' ? finishReason : state.stop,
    blocked: state.blocked || (isObject(promptFeedback) && typeof promptFeedback.blockReason === 'string'),
  };
  for (const part of parts) {
    if (isObject(part)) next = applyPart(next, part, events);
    if (events.at(-1)?.type === 'failed') break;
  }
  return [next, events];
}

function applyPart(state: GoogleState, part: Record<string, unknown>, events: ApiEvent[]): GoogleState {
  const { text, thought, functionCall, thoughtSignature } = part;
  const signature = typeof thoughtSignature === 'string' ? thoughtSignature : undefined;
  if (functionCall !== undefined) {
    const call = callOf(functionCall, signature);
    if (call) return withCall(state, call);
    events.push(...failed(MALFORMED_EVENT));
    return state;
  }
  if (typeof text !== 'string') return state;
  if (thought === true) {
    const after = endText(state, events);
    if (text !== '') events.push({ type: 'reasoning', text });
    if (signature !== undefined) events.push({ type: 'sealed', sealed: sealed({ signature }) });
    return after;
  }
  if (text !== '') events.push({ type: 'text', text });
  const length = state.length + text.length;
  if (signature === undefined) return { ...state, length };
  const spans = [...state.spans, { signature, from: state.length, to: length }];
  const buffered = {
    ...state.buffered,
    characters: state.buffered.characters + signature.length + PIECE_OVERHEAD,
  };
  return { ...state, length, spans, buffered };
}

/** Null if it is malformed. */
function callOf(functionCall: unknown, signature: string | undefined): Call | null {
  const { success, data } = FunctionCall.safeParse(functionCall);
  if (!success) return null;
  const { id, name, args = {} } = data;
  const kept = { ...(signature === undefined ? {} : { signature }), ...(id ? { id } : {}) };
  return {
    type: 'call',
    id,
    tool: name,
    ...parsedInput(args),
    ...(Object.keys(kept).length > 0 ? { sealed: sealed(kept) } : {}),
  };
}

function withCall(state: GoogleState, call: Call): GoogleState {
  const buffered = {
    calls: state.buffered.calls + 1,
    characters: state.buffered.characters + JSON.stringify(call).length,
  };
  return { ...state, calls: [...state.calls, call], buffered };
}

/** Signatures of a text are emitted together after it, so that it stays in one piece. */
function endText(state: GoogleState, events: ApiEvent[]): GoogleState {
  if (state.spans.length > 0) events.push({ type: 'sealed', sealed: sealed({ spans: [...state.spans] }) });
  return state.length === 0 && state.spans.length === 0 ? state : { ...state, length: 0, spans: [] };
}

const sealed = (data: JsonObject): Sealed => ({ provider: GOOGLE, data });

/** No event marks the end of the answer: it ends with the stream. */
function finish(state: GoogleState): ApiEvent[] {
  const usage = usageOf(state.counts);
  if (state.blocked || REFUSED.has(state.stop ?? '')) return [{ type: 'ended', usage, stop: 'refused' }];
  if (state.stop === null) return failed(STREAM_ENDED_EARLY);
  if (FAILED.has(state.stop)) return failed(MISTAKEN);
  const events: ApiEvent[] = [];
  endText(state, events);
  const calls = state.calls.map(
    ({ id, ...call }, at): ApiEvent => ({ ...call, call: id || `call_${state.answer}_${at + 1}` }),
  );
  const stop = state.stop === 'MAX_TOKENS' ? 'length' : calls.length > 0 ? 'calls' : 'done';
  return [...events, ...calls, { type: 'ended', usage, stop }];
}

const REFUSED = new Set([
  'SAFETY',
  'RECITATION',
  'LANGUAGE',
  'BLOCKLIST',
  'PROHIBITED_CONTENT',
  'SPII',
  'MODEL_ARMOR',
  'IMAGE_SAFETY',
  'IMAGE_PROHIBITED_CONTENT',
  'IMAGE_RECITATION',
]);
/** A mistake of the model that a retry may avoid. */
const FAILED = new Set([
  'MALFORMED_FUNCTION_CALL',
  'UNEXPECTED_TOOL_CALL',
  'TOO_MANY_TOOL_CALLS',
  'MISSING_THOUGHT_SIGNATURE',
  'MALFORMED_RESPONSE',
  'OTHER',
]);

function usageOf(counts: unknown): Usage {
  const { data } = Counts.safeParse(counts);
  if (!data) return { inputTokens: 0, outputTokens: 0 };
  const { thoughtsTokenCount: reasoningTokens, cachedContentTokenCount: cachedTokens } = data;
  return {
    inputTokens: data.promptTokenCount + data.toolUsePromptTokenCount,
    outputTokens: data.candidatesTokenCount + (reasoningTokens ?? 0),
    ...(cachedTokens === undefined ? {} : { cachedTokens }),
    ...(reasoningTokens === undefined ? {} : { reasoningTokens }),
  };
}

// Maps errors of Google to faults.

const GoogleError = z.object({
  code: z.number().optional(),
  status: z.string().default(''),
  message: z.string().default(''),
  details: z
    .array(z.object({ reason: z.string().optional(), retryDelay: z.string().optional() }))
    .default([]),
});
type GoogleError = z.infer<typeof GoogleError>;

const VENDOR = { name: 'Google', variable: 'GOOGLE_API_KEY' };

/** A mistake of the model that a retry may avoid. */
const MISTAKEN = unavailable('The model made a mistake in its answer.');
const TOO_LONG = /token count.*exceeds|exceeds the maximum number of tokens|payload size exceeds/i;

/** `{error: {…}}`, or a list with one such object. */
function googleErrorIn(body: string): GoogleError {
  const error = parsedObject(body.replace(/^\s*\[|\]\s*$/g, ''))?.error;
  return GoogleError.safeParse(error).data ?? { status: '', message: '', details: [] };
}

function googleFault(status: number, { message, details }: GoogleError, options: ApiOptions): ApiFault {
  const isBadKey = details.some(({ reason }) => reason?.startsWith('API_KEY')) || /API key/i.test(message);
  const fault = refusedFault(options.vendor ?? VENDOR, options, {
    status,
    reason: vendorText(message, options.key),
    isApiError: message !== '',
    isBadKey: status === 400 && isBadKey,
    isTooLong: TOO_LONG.test(message),
    isDown: status === 408 || status >= 499,
    retryPlain: /thinking|thought/i.test(message),
  });
  return fault.code === 'provider_limited' ? { ...fault, ...retryInfo(details) } : fault;
}

/** `"34.5s"`. https://github.com/googleapis/googleapis/blob/master/google/rpc/error_details.proto */
function retryInfo(details: GoogleError['details']): { retryAfterMs?: number } {
  const delay = details.find(({ retryDelay }) => retryDelay !== undefined)?.retryDelay;
  const seconds = Number.parseFloat(delay ?? '');
  return Number.isFinite(seconds) && seconds >= 0 ? { retryAfterMs: Math.round(seconds * 1000) } : {};
}
