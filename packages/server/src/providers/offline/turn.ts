/** Reads the current turn from the items: the last user item and everything since. Nothing else is a request. */
import { type JsonObject, type Part, textOf } from '@parlance/protocol';
import type { PromptItem } from '../../core/ports/provider.ts';

/** A call of this turn and its result. */
export type Done = {
  readonly tool: string;
  readonly input: JsonObject;
  readonly text: string;
  readonly failed: boolean;
};

export type Turn = {
  /** the first text of the message: the only text that is a request */
  readonly request: string;
  /** further texts of the message: an attached page or file */
  readonly material: string;
  readonly attachments: readonly Part[];
  readonly done: readonly Done[];
  /** index of the message in the items */
  readonly start: number;
};

export function currentTurn(items: readonly PromptItem[]): Turn {
  const start = items.findLastIndex((item) => item.kind === 'user');
  const message = items[start];
  const parts = message?.kind === 'user' ? message.parts : [];
  const texts = parts.filter((part) => part.type === 'text');
  return {
    request: texts[0]?.text ?? '',
    material: textOf(texts.slice(1)),
    attachments: parts.filter((part) => part.type !== 'text'),
    done: doneIn(items.slice(start + 1)),
    start: Math.max(start, 0),
  };
}

function doneIn(items: readonly PromptItem[]): Done[] {
  const results = new Map<string, PromptItem & { kind: 'result' }>();
  for (const item of items) if (item.kind === 'result') results.set(item.call, item);
  return items.flatMap((item) => {
    if (item.kind !== 'call') return [];
    const result = results.get(item.call);
    const text = result ? textOf(result.parts) : 'outcome unknown';
    return [{ tool: item.tool, input: item.input, text, failed: result?.failed ?? true }];
  });
}

export const userTexts = (items: readonly PromptItem[]): string[] =>
  items.flatMap((item) => (item.kind === 'user' ? [textOf(item.parts).trim()] : []));

export const summaryTexts = (items: readonly PromptItem[]): string[] =>
  items.flatMap((item) => (item.kind === 'summary' ? [item.text] : []));
