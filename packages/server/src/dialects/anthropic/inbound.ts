/** In: converts the body of a request to a `ChatRequest`. */
import {
  type CallId,
  type HistoryItem,
  linkPart,
  type Part,
  ReasoningEffort,
  type TurnOptions,
  textPart,
} from '@parlance/protocol';
import { type ChatRequest, callerTool, invalid } from '../kit/chat-request.ts';
import type { AuthenticatedRequest, VendorContext } from '../kit/vendor-requests.ts';
import type {
  AssistantBlock,
  CountRequest,
  Material,
  Message,
  MessageRequest,
  ResultBlock,
  SystemContent,
  UserBlock,
} from './contract.ts';
import type { Setup } from './threads.ts';

/** Sessions of a coding client can be found by the client's own id. Several sessions may share an id. */
const CLIENT_SESSION_HEADER = 'x-claude-code-session-id';
const CLIENT_SESSION = 'claude-code.session';

export function chatRequestOf(
  { models }: VendorContext,
  incoming: AuthenticatedRequest,
  body: MessageRequest,
): ChatRequest {
  const { principal, session, key, request } = incoming;
  const { agent, named } = models.choose(body.model);
  const client = request.headers.get(CLIENT_SESSION_HEADER);
  return {
    dialect: 'anthropic',
    principal,
    session,
    key,
    ...conversationOf(body.messages),
    terms: { ...termsOf(setupOf(body)), options: optionsOf(body), ...named },
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
      tools: own.map(({ input_schema: parameters, ...tool }) => callerTool({ ...tool, parameters })),
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

// Converts messages to a conversation of the core.

export function conversationOf(messages: readonly Message[]): Pick<ChatRequest, 'items' | 'newFrom'> {
  const items: HistoryItem[] = [];
  let newFrom = 0;
  for (const [index, message] of messages.entries()) {
    switch (message.role) {
      case 'system': {
        const text = systemText(message.content ?? '');
        if (text !== '') items.push({ type: 'system', text });
        break;
      }
      case 'user':
        addOfUser(items, message.content, `messages[${index}].content`);
        break;
      case 'assistant':
        items.push(...assistantItems(message.content));
        newFrom = items.length;
    }
  }
  return { items, newFrom };
}

/** Other blocks, such as tool changes, are left out. */
const systemText = (content: SystemContent): string =>
  typeof content === 'string'
    ? content
    : content.flatMap((block) => ('text' in block ? [block.text] : [])).join('\n\n');

function addOfUser(items: HistoryItem[], content: string | readonly UserBlock[], param: string): void {
  const blocks = typeof content === 'string' ? [{ type: 'text' as const, text: content }] : content;
  const parts: Part[] = [];
  for (const [index, block] of blocks.entries()) {
    if ('tool_use_id' in block) addResult(items, resultOf(block, `${param}[${index}]`));
    else parts.push(...partsOf(block, `${param}[${index}]`));
  }
  if (parts.length > 0) items.push({ type: 'user', parts });
}

/** Results follow the calls directly, before instructions. */
function addResult(items: HistoryItem[], result: HistoryItem): void {
  const at = items.findLastIndex(({ type }) => type !== 'system') + 1;
  items.splice(at, 0, result);
}

function resultOf(block: ResultBlock, param: string): HistoryItem {
  const { tool_use_id, content, is_error: failed } = block;
  const parts =
    typeof content === 'string'
      ? [textPart(content)]
      : (content ?? []).flatMap((part, index) => partsOf(part, `${param}.content[${index}]`));
  return { type: 'result', call: callOf(tool_use_id), parts, ...(failed && { failed }) };
}

/** Joins the text blocks of a message to one text. */
function assistantItems(content: string | readonly AssistantBlock[]): HistoryItem[] {
  if (typeof content === 'string') return content === '' ? [] : [{ type: 'text', text: content }];
  const text = content.flatMap((block) => ('text' in block ? [block.text] : [])).join('');
  const calls = content.flatMap((block): HistoryItem[] => {
    if (!('input' in block)) return [];
    const { id, name, input } = block;
    return [{ type: 'call', call: callOf(id), tool: name, input }];
  });
  return [...(text === '' ? [] : [{ type: 'text' as const, text }]), ...calls];
}

function partsOf(block: Material | { readonly type: string }, param: string): Part[] {
  if ('text' in block) return block.text === '' ? [] : [textPart(block.text)];
  if (!('source' in block)) return [];
  const { source } = block;
  const title = ('title' in block ? block.title : null) || undefined;
  if ('url' in source) {
    const kind = block.type === 'image' ? 'image' : 'file';
    const link = linkPart({ kind, url: source.url, ...(title !== undefined && { name: title }) });
    if (!link) throw invalid(`${param}.source.url`, 'It is not a URL of http or https.');
    return [link];
  }
  if (!('data' in source))
    throw invalid(`${param}.source.type`, 'Images and documents are taken as base64, text or URL only.');
  const name = title ?? 'document';
  if (!('media_type' in source)) {
    const data = Buffer.from(source.data).toString('base64');
    return [{ type: 'file', name, mime: 'text/plain', data }];
  }
  const { media_type: mime } = source;
  const data = base64(source.data, `${param}.source.data`);
  return [block.type === 'image' ? { type: 'image', mime, data } : { type: 'file', name, mime, data }];
}

function base64(data: string, param: string): string {
  if (data === '' || !/^[A-Za-z0-9+/]*={0,2}$/.test(data)) throw invalid(param, 'The data is not base64.');
  return data;
}

// The API allows only letters, digits, `_` and `-` in ids of calls; other ids of models are encoded.

const PLAIN = /^[\w-]+$/;
const ENCODED = 'toolu_x';

export const toolUseId = (call: string): string =>
  PLAIN.test(call) ? call : ENCODED + Buffer.from(call).toString('base64url');

/** Decodes an id of `toolUseId`; any other id is returned unchanged. */
function callOf(id: string): CallId {
  if (!id.startsWith(ENCODED)) return id as CallId;
  const call = Buffer.from(id.slice(ENCODED.length), 'base64url').toString();
  return (toolUseId(call) === id ? call : id) as CallId;
}
