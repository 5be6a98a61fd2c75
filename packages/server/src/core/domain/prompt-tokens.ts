/** Estimates the tokens of a prompt until a vendor has counted it. Counts each item once. */
import { promptParts, textOf } from '@parlance/protocol';
import type { ContextItem, Prompt, ToolSpec } from '../ports/provider.ts';
import { countTokens } from './tokens.ts';

const IMAGE_TOKENS = 1_000;
/** Overhead per item or tool. */
const FRAME_TOKENS = 4;

export const promptTokens = ({
  instructions,
  items,
  tools,
}: Pick<Prompt, 'instructions' | 'items' | 'tools'>) =>
  items.reduce((sum, item) => sum + itemTokens(item), overheadTokens({ instructions, tools }));

/** Tokens of instructions and tools, which do not grow with the conversation. */
export const overheadTokens = ({ instructions, tools }: Pick<Prompt, 'instructions' | 'tools'>): number =>
  tools.reduce((sum, tool) => sum + toolTokens(tool), instructionTokens(instructions));

const items = new WeakMap<ContextItem, number>();

export function itemTokens(item: ContextItem): number {
  let tokens = items.get(item);
  if (tokens === undefined) {
    tokens = countItem(item) + FRAME_TOKENS;
    items.set(item, tokens);
  }
  return tokens;
}

function countItem(item: ContextItem): number {
  switch (item.kind) {
    case 'user':
    case 'result': {
      const images = item.parts.filter(
        (part) => part.type === 'image' || ('link' in part && part.link),
      ).length;
      return countTokens(textOf(promptParts(item.parts))) + images * IMAGE_TOKENS;
    }
    case 'call':
      return countTokens(item.tool) + countTokens(JSON.stringify(item.input));
    case 'system':
    case 'text':
    case 'reasoning':
    case 'summary':
      return countTokens(item.text);
  }
}

const specs = new WeakMap<ToolSpec, number>();

function toolTokens(spec: ToolSpec): number {
  let tokens = specs.get(spec);
  if (tokens === undefined) {
    tokens = countTokens(JSON.stringify(spec)) + FRAME_TOKENS;
    specs.set(spec, tokens);
  }
  return tokens;
}

/** Cache size for agents' instructions; a server has fewer agents. */
const MAX_INSTRUCTIONS = 100;
const instructions = new Map<string, number>();

function instructionTokens(text: string): number {
  let tokens = instructions.get(text);
  if (tokens === undefined) {
    if (instructions.size >= MAX_INSTRUCTIONS) instructions.clear();
    tokens = countTokens(text);
    instructions.set(text, tokens);
  }
  return tokens;
}
