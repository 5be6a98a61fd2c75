/**
 * Chat Completions of OpenAI and compatible servers. Tolerant: usage may be missing, call ids may be late or
 * missing, an index may be used twice, and the last line may be omitted.
 */
import { isObject, type Link, type PromptPart, parsedObject, type Sealed } from '@parlance/protocol';
import type { ServerSentEvent } from '@parlance/protocol/server-sent-events';
import { z } from 'zod';
import type { Prompt } from '../core/ports/provider.ts';
import { callInput } from './call-input.ts';
import { MALFORMED_EVENT, STREAM_ENDED_EARLY } from './faults.ts';
import { type ApiEvent, type ApiRequest, failed, type ModelApi } from './model-api.ts';
import { chatOptions } from './model-options.ts';
import { cacheKey, type OpenaiOptions, openaiRequest, type Vendor, vendorOf } from './openai.ts';

import { refusedFault, streamFault } from './openai-faults.ts';
import { dataUrl, fileText, notShown, shortId, summaryText, systemText } from './part-text.ts';

type PartialCall = {
  readonly index: number | null;
  readonly id: string;
  readonly name: string;
  readonly written: string;
};

type ReasoningField = 'reasoning_content' | 'reasoning';

type State = {
  /** for calls without an id: unique between answers */
  readonly nonce: string;
  readonly calls: readonly PartialCall[];
  /** the field in which this server sends its reasoning, and wants it back, until it is sealed */
  readonly reasoning: { readonly field: ReasoningField; readonly any: boolean } | null;
  readonly refused: boolean;
  readonly finish: string | null;
  readonly usage: unknown;
};

type Step = readonly [State, readonly ApiEvent[]];

export function openaiChat(options: OpenaiOptions): ModelApi<State> {
  const vendor = vendorOf(options);
  return {
    acceptsLink,
    request: (prompt, plain = false) => request(options, prompt, plain),
    start: () => ({
      nonce: crypto.randomUUID().slice(0, 13),
      calls: [],
      reasoning: null,
      refused: false,
      finish: null,
      usage: null,
    }),
    step: (state, event) => step(vendor, state, event),
    buffered: ({ calls }) => ({
      calls: calls.length,
      characters: calls.reduce(
        (sum, { id, name, written }) => sum + id.length + name.length + written.length,
        0,
      ),
    }),
    finish: (state) => (state.finish === null ? failed(STREAM_ENDED_EARLY) : end(vendor, state)),
    refused: (status, body) => refusedFault(vendor, status, body),
  };
}

// Request

function request(options: OpenaiOptions, prompt: Prompt, plain: boolean): ApiRequest {
  const { model } = options;
  const tools = prompt.tools.map(({ name, description, parameters }) => ({
    type: 'function',
    function: { name, description, parameters },
  }));
  // Other servers refuse unknown fields.
  const own = vendorOf(options).host === 'api.openai.com' && !plain;
  return openaiRequest(options, 'chat/completions', {
    model,
    messages: chatMessages(prompt, model, plain),
    ...(tools.length > 0 ? { tools } : {}),
    stream: true,
    ...(plain ? {} : { stream_options: { include_usage: true } }),
    ...(own ? { prompt_cache_key: cacheKey(prompt) } : {}),
    ...chatOptions(prompt, { own, plain }),
  });
}

// Schema of the vendor's event

const count = z.number().nullish().catch(null);

const VendorUsage = z.object({
  prompt_tokens: count,
  completion_tokens: count,
  prompt_tokens_details: z.object({ cached_tokens: count }).nullish().catch(null),
  completion_tokens_details: z.object({ reasoning_tokens: count }).nullish().catch(null),
  /** DeepSeek's */
  prompt_cache_hit_tokens: count,
  /** Together's */
  cached_tokens: count,
});

// Step

function step(vendor: Vendor, state: State, { event: name, data }: ServerSentEvent): Step {
  if (data === '[DONE]') return [state, end(vendor, state)];
  const chunk = parsedObject(data);
  if (!chunk) return [state, failed(MALFORMED_EVENT)];
  if (chunk.error || chunk.object === 'error' || name === 'error')
    return [state, failed(streamFault(vendor, chunk.error ?? chunk))];
  const measured = isObject(chunk.usage) ? { ...state, usage: chunk.usage } : state;
  const choice: unknown = Array.isArray(chunk.choices) ? chunk.choices[0] : undefined;
  if (!isObject(choice)) return [measured, []];
  const finished =
    typeof choice.finish_reason === 'string' ? { ...measured, finish: choice.finish_reason } : measured;
  return isObject(choice.delta) ? delta(vendor, finished, choice.delta) : [finished, []];
}

/** Hot path: runs per token. */
function delta(vendor: Vendor, state: State, said: Record<string, unknown>): Step {
  const { content, refusal, reasoning_content, reasoning, tool_calls } = said;
  const events: ApiEvent[] = [];
  let next = state;
  const thought = typeof reasoning_content === 'string' ? reasoning_content : reasoning;
  if (typeof thought === 'string') {
    const any = thought !== '';
    if (any) events.push({ type: 'reasoning', text: thought });
    const field = typeof reasoning_content === 'string' ? 'reasoning_content' : 'reasoning';
    if (!next.reasoning || (any && !next.reasoning.any)) next = { ...next, reasoning: { field, any } };
  }
  const calls = Array.isArray(tool_calls) && tool_calls.length > 0 ? tool_calls : null;
  const text = typeof content === 'string' ? content : '';
  const refused = typeof refusal === 'string' ? refusal : '';
  if (text === '' && refused === '' && !calls) return [next, events];
  if (next.reasoning?.any) {
    events.push(sealed(vendor, next.reasoning.field));
    next = { ...next, reasoning: null };
  }
  if (text !== '') events.push({ type: 'text', text });
  if (refused !== '') {
    events.push({ type: 'text', text: refused });
    next = { ...next, refused: true };
  }
  if (!calls) return [next, events];
  const written = calls.reduce(withPiece, next.calls);
  for (const [at, call] of written.entries()) {
    if (call !== next.calls[at]) events.push(...argumentsOf(call, next.calls[at], at));
  }
  return [{ ...next, calls: written }, events];
}

/** The new part of the arguments. Nothing until id and name of the call are known, which may be late. */
function argumentsOf(call: PartialCall, before: PartialCall | undefined, index: number): ApiEvent[] {
  const { id, name, written } = call;
  if (id === '' || name === '') return [];
  const isBegun = before !== undefined && before.id !== '' && before.name !== '';
  const text = isBegun ? written.slice(before.written.length) : written;
  return isBegun && text === '' ? [] : [{ type: 'arguments', index, call: id, tool: name, text }];
}

const sealed = ({ model }: Vendor, field: ReasoningField): ApiEvent => ({
  type: 'sealed',
  sealed: { provider: SEALER, data: { field, model } },
});

function withPiece(calls: readonly PartialCall[], piece: unknown): readonly PartialCall[] {
  if (!isObject(piece)) return calls;
  const { name, arguments: written } = isObject(piece.function) ? piece.function : {};
  const id = typeof piece.id === 'string' ? piece.id : '';
  const index = typeof piece.index === 'number' ? piece.index : null;
  const at = index === null ? calls.length - 1 : calls.findLastIndex((call) => call.index === index);
  const known = calls[at];
  const same = known !== undefined && (id === '' || known.id === '' || known.id === id);
  const before = same ? known : { index, id: '', name: '', written: '' };
  const after: PartialCall = {
    ...before,
    id: before.id || id,
    name: before.name || (typeof name === 'string' ? name : ''),
    written: before.written + (typeof written === 'string' ? written : ''),
  };
  return same ? calls.with(at, after) : [...calls, after];
}

function end(vendor: Vendor, state: State): ApiEvent[] {
  const { calls, nonce, refused, finish, reasoning } = state;
  if (finish === 'error' || finish === 'insufficient_system_resource')
    return failed(streamFault(vendor, null));
  // If there was no reasoning before a call, some servers require an empty field.
  const sealing = reasoning && (reasoning.any || calls.length > 0);
  const stop =
    refused || finish === 'content_filter'
      ? 'refused'
      : finish === 'length' || finish === 'max_tokens'
        ? 'length'
        : calls.length > 0
          ? 'calls'
          : 'done';
  return [
    ...(sealing ? [sealed(vendor, reasoning.field)] : []),
    ...calls.map(
      ({ id, name, written }, at): ApiEvent => ({
        type: 'call',
        call: id || `call_${nonce}_${at}`,
        tool: name,
        ...callInput(written),
      }),
    ),
    { type: 'ended', usage: usageOf(state.usage), stop },
  ];
}

function usageOf(reported: unknown) {
  const { data: usage } = VendorUsage.safeParse(reported);
  return {
    inputTokens: usage?.prompt_tokens ?? 0,
    outputTokens: usage?.completion_tokens ?? 0,
    cachedTokens:
      usage?.prompt_tokens_details?.cached_tokens ??
      usage?.prompt_cache_hit_tokens ??
      usage?.cached_tokens ??
      undefined,
    reasoningTokens: usage?.completion_tokens_details?.reasoning_tokens ?? undefined,
  };
}

// Converts a prompt to the messages of Chat Completions.

const SEALER = 'openai-chat';
const MAX_CALL_ID_LENGTH = 40;

type ContentPart =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'image_url'; readonly image_url: { readonly url: string } };

type Assistant = {
  role: 'assistant';
  content: string | null;
  tool_calls?: { id: string; type: 'function'; function: { name: string; arguments: string } }[];
  reasoning_content?: string;
  reasoning?: string;
};

type Message =
  | { role: 'system'; content: string }
  | { role: 'user'; content: ContentPart[] }
  | { role: 'tool'; tool_call_id: string; content: string }
  | Assistant;

/** A server may want reasoning from this field back in the same one. */
type Thought = { readonly field: 'reasoning_content' | 'reasoning'; readonly text: string };

/**
 * Text and calls of one answer are one message, and so are consecutive inputs: some servers require alternating roles. A result
 * can only be text here, so its images follow as an input after the last result.
 */
function chatMessages({ instructions, items }: Prompt, model: string, plain: boolean): object[] {
  const messages: Message[] = instructions ? [{ role: 'system', content: instructions }] : [];
  let thoughts: Thought[] = [];
  let pictures: ContentPart[] = [];
  const flush = () => {
    if (pictures.length > 0) messages.push({ role: 'user', content: pictures });
    pictures = [];
  };
  const say = (parts: ContentPart[]) => {
    flush();
    thoughts = [];
    const last = messages.at(-1);
    if (last?.role === 'user') last.content.push(...parts);
    else messages.push({ role: 'user', content: parts });
  };
  const assistant = (): Assistant => {
    flush();
    const last = messages.at(-1);
    if (last?.role === 'assistant') return last;
    const fresh: Assistant = { role: 'assistant', content: null };
    messages.push(fresh);
    return fresh;
  };
  for (const item of items) {
    switch (item.kind) {
      case 'user':
        say(item.parts.map(contentPart));
        break;
      case 'summary':
        say([{ type: 'text', text: summaryText(item.text) }]);
        break;
      case 'system':
        // Some servers refuse it after the beginning.
        if (plain) say([{ type: 'text', text: systemText(item.text) }]);
        else {
          flush();
          messages.push({ role: 'system', content: item.text });
        }
        break;
      case 'text': {
        const message = assistant();
        message.content = message.content === null ? item.text : `${message.content}\n\n${item.text}`;
        break;
      }
      case 'reasoning':
        if (!plain) thoughts.push(...thoughtOf(item.text, item.sealed, model));
        break;
      case 'call': {
        const message = assistant();
        for (const { field, text } of thoughts) message[field] = `${message[field] ?? ''}${text}`;
        thoughts = [];
        message.tool_calls ??= [];
        message.tool_calls.push({
          id: shortId(item.call, MAX_CALL_ID_LENGTH),
          type: 'function',
          function: { name: item.tool, arguments: JSON.stringify(item.input) },
        });
        break;
      }
      case 'result': {
        const parts = item.parts.map(contentPart);
        const images = parts.filter((part) => part.type === 'image_url');
        const text = parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n');
        pictures.push(...images);
        messages.push({
          role: 'tool',
          tool_call_id: shortId(item.call, MAX_CALL_ID_LENGTH),
          content: text || (images.length > 0 ? 'The image follows.' : '(no output)'),
        });
        break;
      }
    }
  }
  flush();
  return messages.map(plainContent);
}

function thoughtOf(text: string, sealed: Sealed | undefined, model: string): Thought[] {
  if (sealed?.provider !== SEALER || !isObject(sealed.data) || sealed.data.model !== model) return [];
  const { field } = sealed.data;
  return field === 'reasoning_content' || field === 'reasoning' ? [{ field, text }] : [];
}

/** There is no field for files. */
const acceptsLink = ({ kind }: Link): boolean => kind === 'image';

function contentPart(part: PromptPart): ContentPart {
  if (part.type === 'text' && part.link && acceptsLink(part.link))
    return { type: 'image_url', image_url: { url: part.link.url } };
  if (part.type === 'text') return { type: 'text', text: part.text };
  if (part.type === 'image') return { type: 'image_url', image_url: { url: dataUrl(part) } };
  return { type: 'text', text: fileText(part) ?? notShown(part) };
}

/** Not every server supports parts: plain text is sent as a string. */
function plainContent(message: Message): object {
  if (message.role !== 'user' || message.content.some((part) => part.type !== 'text')) return message;
  const content = message.content.map((part) => (part.type === 'text' ? part.text : '')).join('\n\n');
  return { role: 'user', content };
}
