/** Converts a prompt to the Messages API. https://platform.claude.com/docs/en/api/messages */
import { isObject, type JsonObject, type Link, type PromptPart, type Sealed } from '@parlance/protocol';
import type { Prompt, PromptItem, ToolSpec } from '../core/ports/provider.ts';
import { anthropicOptions } from './model-options.ts';
import { FOLLOW_INSTRUCTIONS, fileText, NO_WORDS, notShown, summaryText, systemText } from './part-text.ts';

export const ANTHROPIC = 'anthropic';

/** `adaptive`: the model decides how much it thinks. Models before 4.6 only support a budget. */
export type Thinking = 'off' | 'adaptive' | { readonly budgetTokens: number };

export type AnthropicModel = {
  readonly model: string;
  readonly maxTokens: number;
  readonly thinking: Thinking;
};

type Source =
  | { readonly type: 'base64'; readonly media_type: string; readonly data: string }
  | { readonly type: 'url'; readonly url: string };
type Content =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'image'; readonly source: Source }
  | { readonly type: 'document'; readonly source: Source; readonly title?: string };
type Block =
  | Content
  | { readonly type: 'thinking'; readonly thinking: string; readonly signature: string }
  | { readonly type: 'redacted_thinking'; readonly data: string }
  | { readonly type: 'tool_use'; readonly id: string; readonly name: string; readonly input: JsonObject }
  | {
      readonly type: 'tool_result';
      readonly tool_use_id: string;
      readonly content?: readonly Content[];
      readonly is_error?: true;
    };
type Message = { readonly role: 'user' | 'assistant'; readonly content: readonly Block[] };

/** `plain`: without thinking and cache markers, which the vendor may refuse although the prompt is valid. */
export function requestBody(prompt: Prompt, options: AnthropicModel, plain: boolean): object {
  const { model, maxTokens, thinking } = options;
  // A single question is not repeated, so long thinking or caching would only add cost.
  const chat = prompt.task === 'chat' && !plain;
  const items = plain ? prompt.items.filter(({ kind }) => kind !== 'reasoning') : prompt.items;
  const messages = messagesOf(items);
  // Models that decide how much to think receive an effort instead.
  const asked = anthropicOptions(prompt, thinking === 'adaptive' && !plain);
  const thought = chat && asked.thinks ? thinkingOf(budgeted(thinking, prompt), messages) : {};
  const budget = thought.thinking?.budget_tokens ?? 0;
  const limit = prompt.options?.maxOutputTokens ?? maxTokens;
  return {
    model,
    max_tokens: budget < limit ? limit : budget + limit,
    stream: true,
    ...thought,
    ...(prompt.instructions === '' ? {} : { system: marked([textBlock(prompt.instructions)], chat) }),
    ...toolsOf(prompt, chat),
    ...asked.fields,
    messages: chat ? withMarks(messages) : messages,
  };
}

type Thought = {
  readonly thinking?: { readonly type: string; readonly budget_tokens?: number; readonly display?: string };
};

/** The caller may lower or raise the budget of a model that has one. */
function budgeted(thinking: Thinking, { options }: Prompt): Thinking {
  const budgetTokens = options?.reasoningTokens;
  return typeof thinking === 'object' && budgetTokens !== undefined
    ? { budgetTokens: Math.max(MIN_BUDGET, budgetTokens) }
    : thinking;
}

const MIN_BUDGET = 1_024;

function thinkingOf(thinking: Thinking, messages: readonly Message[]): Thought {
  if (thinking === 'off') return {};
  if (thinking === 'adaptive') return { thinking: { type: 'adaptive', display: 'summarized' } };
  // With a budget, an answer that continues after results must have begun with thinking, which foreign
  // answers lack.
  const answer = messages.findLast((message) => message.role === 'assistant');
  const continuesTurn = messages.at(-1)?.content[0]?.type === 'tool_result';
  if (continuesTurn && answer && !isThinking(answer.content[0])) return {};
  return { thinking: { type: 'enabled', budget_tokens: thinking.budgetTokens } };
}

/** A prompt with calls must declare tools, even if none may be used. */
function toolsOf({ tools, items }: Prompt, cached: boolean): object {
  if (tools.length > 0) return { tools: marked(tools.map(declared), cached) };
  const used = new Set(items.flatMap((item) => (item.kind === 'call' ? [item.tool] : [])));
  if (used.size === 0) return {};
  const names = [...used].map((name) => declared({ name, description: '', parameters: {} }));
  return { tools: names, tool_choice: { type: 'none' } };
}

const declared = ({ name, description, parameters }: ToolSpec) => ({
  name,
  ...(description === '' ? {} : { description }),
  input_schema: { type: 'object', ...parameters },
});

/**
 * Up to four cache markers: tools, instructions, and the last two user messages, since the vendor looks back only twenty
 * blocks from a marker.
 */
const marked = <T extends object>(list: readonly T[], cached: boolean): T[] =>
  list.map((entry, at) =>
    cached && at === list.length - 1 ? { ...entry, cache_control: { type: 'ephemeral' } } : entry,
  );

function withMarks(messages: readonly Message[]): Message[] {
  const users = messages.filter((message) => message.role === 'user').slice(-2);
  return messages.map((message) =>
    users.includes(message) ? { ...message, content: marked(message.content, true) } : message,
  );
}

/** Not all models support the role `system` for messages. */
const OF_USER: ReadonlySet<PromptItem['kind']> = new Set(['user', 'result', 'summary', 'system']);

/**
 * Messages alternate; the results of all calls of an answer are together at the start of the next message.
 */
function messagesOf(items: readonly PromptItem[]): Message[] {
  const messages: { role: Message['role']; content: Block[] }[] = [];
  const ids = callIds();
  for (const item of items) {
    const role = OF_USER.has(item.kind) ? 'user' : 'assistant';
    const blocks = blocksOf(item, ids);
    const last = messages.at(-1);
    if (last?.role === role) last.content.push(...blocks);
    else messages.push({ role, content: blocks });
  }
  const written = messages
    .map(({ role, content }) => ({ role, content: inOrder(content) }))
    .filter(({ content }) => content.length > 0);
  if (written[0]?.role === 'assistant') written.unshift({ role: 'user', content: [textBlock(NO_WORDS)] });
  // A final assistant message would count as the beginning of the answer.
  if (written.at(-1)?.role !== 'user')
    written.push({ role: 'user', content: [textBlock(FOLLOW_INSTRUCTIONS)] });
  return written;
}

/** Results before user input, calls after text, and no thinking without a result. */
function inOrder(content: readonly Block[]): Block[] {
  const rank = ({ type }: Block) => (type === 'tool_result' ? 0 : type === 'tool_use' ? 2 : 1);
  const sorted = content.toSorted((one, other) => rank(one) - rank(other));
  return sorted.slice(0, sorted.findLastIndex((block) => !isThinking(block)) + 1);
}

const isThinking = (block: Block | undefined): boolean =>
  block?.type === 'thinking' || block?.type === 'redacted_thinking';

function blocksOf(item: PromptItem, ids: ReturnType<typeof callIds>): Block[] {
  switch (item.kind) {
    case 'user': {
      const content = contentOf(item.parts);
      return content.length > 0 ? content : [textBlock(NO_WORDS)];
    }
    case 'summary':
      return [textBlock(summaryText(item.text))];
    case 'system':
      return [textBlock(systemText(item.text))];
    case 'text':
      return item.text.trim() === '' ? [] : [textBlock(item.text)];
    case 'reasoning':
      return thinkingBlocks(item.text, item.sealed);
    case 'call':
      return [{ type: 'tool_use', id: ids.begin(item.call), name: item.tool, input: item.input }];
    case 'result': {
      const id = ids.of(item.call);
      return id === undefined ? [] : [resultBlock(id, contentOf(item.parts), item.failed)];
    }
  }
}

const textBlock = (text: string): Content => ({ type: 'text', text });

/** Returned unchanged; thinking that is unsealed or sealed by another vendor is left out. */
function thinkingBlocks(text: string, sealed: Sealed | undefined): Block[] {
  if (sealed?.provider !== ANTHROPIC || !isObject(sealed.data)) return [];
  const { signature, redacted } = sealed.data;
  if (typeof redacted === 'string') return [{ type: 'redacted_thinking', data: redacted }];
  return typeof signature === 'string' ? [{ type: 'thinking', thinking: text, signature }] : [];
}

/** A failed result may only contain text. */
function resultBlock(id: string, all: readonly Content[], failed: boolean): Block {
  const content = failed ? all.filter(({ type }) => type === 'text') : all;
  return {
    type: 'tool_result',
    tool_use_id: id,
    ...(content.length > 0 ? { content } : {}),
    ...(failed ? { is_error: true } : {}),
  };
}

/** Ids of other vendors may be invalid here, or not unique. */
function callIds() {
  const taken = new Set<string>();
  const open = new Map<string, string>();
  return {
    begin(call: string): string {
      const plain = call.replace(/[^a-zA-Z0-9_-]/g, '_');
      let id = plain;
      for (let next = 2; taken.has(id); next++) id = `${plain}_${next}`;
      taken.add(id);
      open.set(call, id);
      return id;
    },
    of: (call: string): string | undefined => open.get(call),
  };
}

const IMAGES = ['image/png', 'image/jpeg', 'image/gif', 'image/webp'];

/** A type that is not known is for the vendor to find out. */
export const acceptsLink = ({ kind, mime }: Link): boolean =>
  mime === undefined || (kind === 'image' ? IMAGES.includes(mime) : mime === 'application/pdf');

function linkBlock({ kind, url, name }: Link): Content {
  const source = { type: 'url', url } as const;
  return kind === 'image'
    ? { type: 'image', source }
    : { type: 'document', source, ...(name !== undefined && { title: name }) };
}

/** The vendor refuses blank text and images of other types. */
function contentOf(parts: readonly PromptPart[]): Content[] {
  return parts.flatMap((part): Content[] => {
    if (part.type === 'text' && part.link && acceptsLink(part.link)) return [linkBlock(part.link)];
    if (part.type === 'text') return part.text.trim() === '' ? [] : [textBlock(part.text)];
    const source: Source = { type: 'base64', media_type: part.mime, data: part.data };
    if (part.type === 'file') {
      return part.mime === 'application/pdf'
        ? [{ type: 'document', source, title: part.name }]
        : [textBlock(fileText(part) ?? notShown(part))];
    }
    return IMAGES.includes(part.mime)
      ? [{ type: 'image', source }]
      : [textBlock(`[An image of the type ${part.mime} cannot be shown.]`)];
  });
}
