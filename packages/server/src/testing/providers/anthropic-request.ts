/** Prompts for the tests of Anthropic's requests, and what is sent for them. */
import { type PromptPart, textPart } from '@parlance/protocol';
import type { Prompt, PromptItem } from '../../core/ports/provider.ts';
import { type AnthropicOptions, anthropic } from '../../providers/anthropic.ts';

export const tool = { name: 'look', description: 'Looks.', parameters: { type: 'object', properties: {} } };
export const user = (text: string): PromptItem => ({ kind: 'user', parts: [textPart(text)] });
export const call = (id: string, sealed?: { provider: string; data: string }): PromptItem => ({
  kind: 'call',
  call: id,
  tool: 'look',
  input: { at: id },
  sealed,
});
export const result = (
  id: string,
  parts: PromptPart[] = [textPart(`seen ${id}`)],
  failed = false,
): PromptItem => ({
  kind: 'result',
  call: id,
  parts,
  failed,
});
export const thought = (
  text: string,
  data: { [key: string]: string },
  provider = 'anthropic',
): PromptItem => ({
  kind: 'reasoning',
  text,
  sealed: { provider, data },
});

export type SentBlock = {
  type: string;
  text?: string;
  id?: string;
  tool_use_id?: string;
  content?: SentBlock[];
  [field: string]: unknown;
};
export type SentMessage = { role: string; content: SentBlock[] };
export type Sent = {
  messages: SentMessage[];
  system: SentBlock[];
  tools: object[];
  tool_choice?: object;
  thinking?: object;
  max_tokens: number;
};

export function sent(
  items: PromptItem[],
  more: Partial<Prompt> = {},
  options: Partial<AnthropicOptions> = {},
): Sent {
  const api = anthropic({ key: 'sk-secret', model: 'claude-haiku-4-5', ...options });
  const prompt: Prompt = { task: 'chat', instructions: 'Be kind.', items, tools: [tool], ...more };
  return JSON.parse(JSON.stringify(api.request(prompt).body));
}

/** The messages without cache markers. */
export const messages = (items: PromptItem[], more: Partial<Prompt> = {}): SentMessage[] =>
  sent(items, { task: 'summary', ...more }).messages;
