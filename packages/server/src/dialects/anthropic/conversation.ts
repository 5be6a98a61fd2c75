/** Converts messages to a conversation of the core. */
import { type CallId, type HistoryItem, linkPart, type Part, textPart } from '@parlance/protocol';
import { invalid } from '../kit/request-fault.ts';
import { callOf } from './call-ids.ts';
import type { AssistantBlock, Material, Message, ResultBlock, SystemContent, UserBlock } from './schemas.ts';

export type Conversation = {
  readonly items: readonly HistoryItem[];
  /** index of the first item after the last message of the assistant */
  readonly newFrom: number;
};

export function conversationOf(messages: readonly Message[]): Conversation {
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
export const systemText = (content: SystemContent): string =>
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
    return [{ type: 'call', call: callOf(id) as CallId, tool: name, input }];
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
