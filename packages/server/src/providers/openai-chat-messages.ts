/** Converts a prompt to the messages of Chat Completions. */
import { isObject, type Link, type PromptPart, type Sealed } from '@parlance/protocol';
import type { Prompt } from '../core/ports/provider.ts';
import { dataUrl, fileText, notShown, summaryText, systemText } from './part-text.ts';
import { shortId } from './short-id.ts';

export const SEALER = 'openai-chat';
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
export function chatMessages({ instructions, items }: Prompt, model: string, plain: boolean): object[] {
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
export const acceptsLink = ({ kind }: Link): boolean => kind === 'image';

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
