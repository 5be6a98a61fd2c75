import { promptParts, textOf } from '@parlance/protocol';
import type { ContextItem, Prompt, ToolSpec } from '../ports/provider.ts';

/**
 * Estimates the tokens of a text. The text is split into runs of one kind, like the pre-tokenization of tokenizers,
 * and each run is priced by its kind. docs/decisions/0004-token-counts.md has the accuracy and the reasons.
 */
enum Kind {
  Blank,
  Space,
  Digit,
  Latin,
  Letter,
  Ideograph,
  Kana,
  Pair,
  Mark,
}

type Run = { readonly start: number; readonly end: number };

export function countTokens(text: string): number {
  let tokens = 0;
  let start = 0;
  let before = Kind.Mark;
  while (start < text.length) {
    const kind = kindOf(text.charCodeAt(start));
    let end = start + 1;
    while (end < text.length && kindOf(text.charCodeAt(end)) === kind) end++;
    tokens += priceOf(kind, text, { start, end });
    // A blank belongs to the following word, but not to a number.
    if (kind === Kind.Digit && before === Kind.Blank) tokens++;
    // An indent is often one token with its line break.
    if (kind === Kind.Blank && before === Kind.Space) tokens -= 0.5;
    before = kind;
    start = end;
  }
  return Math.ceil(tokens);
}

function kindOf(code: number): Kind {
  if (code === 32) return Kind.Blank;
  if (code < 32) return Kind.Space;
  if (code < 128) {
    if (code >= 48 && code <= 57) return Kind.Digit;
    const letter = code | 32;
    return letter >= 97 && letter <= 122 ? Kind.Latin : Kind.Mark;
  }
  if (code < 0xc0) return Kind.Mark;
  if (code < 0x250) return Kind.Latin;
  if (code < 0x2000) return Kind.Letter;
  if (code < 0x3040) return Kind.Mark;
  if (code < 0x3100) return Kind.Kana;
  if (code < 0xac00) return Kind.Ideograph;
  if (code < 0xd7b0) return Kind.Kana; // Hangul splits into equally small tokens
  return code >= 0xd800 && code < 0xe000 ? Kind.Pair : Kind.Mark;
}

function priceOf(kind: Kind, text: string, { start, end }: Run): number {
  const length = end - start;
  switch (kind) {
    case Kind.Blank:
      return length === 1 ? 0 : 1;
    case Kind.Space:
      return 1;
    case Kind.Digit:
      return Math.ceil(length / 3);
    case Kind.Latin: {
      const capitals = length > 2 && isCapital(text, start) && isCapital(text, end - 1);
      if (capitals) return Math.ceil(length / 3);
      return length <= 8 ? 1 : 1 + (length - 8) / 5;
    }
    case Kind.Letter:
      return length / 3.8;
    case Kind.Ideograph:
      return length * 0.65;
    case Kind.Kana:
      return length;
    case Kind.Pair:
      return length;
    case Kind.Mark:
      return Math.ceil(length / 4);
  }
}

const isCapital = (text: string, at: number): boolean => {
  const code = text.charCodeAt(at);
  return code >= 65 && code <= 90;
};

// Estimates the tokens of a prompt until a vendor has counted it. Counts each item once.

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
