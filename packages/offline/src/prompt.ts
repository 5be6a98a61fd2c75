/** What the model reads of a prompt. The prompts of the server fit these types. */
import { type JsonObject, type Part, textOf } from '@parlance/protocol';

export type Item =
  | { readonly kind: 'user'; readonly parts: readonly Part[]; readonly data?: JsonObject }
  | { readonly kind: 'system' | 'text' | 'reasoning' | 'summary'; readonly text: string }
  | { readonly kind: 'call'; readonly call: string; readonly tool: string; readonly input: JsonObject }
  | {
      readonly kind: 'result';
      readonly call: string;
      readonly parts: readonly Part[];
      readonly failed: boolean;
      readonly data?: JsonObject;
    };

export type Tool = { readonly name: string; readonly description: string; readonly parameters: JsonObject };

export type Prompt = {
  readonly task: 'chat' | 'summary' | 'explanation' | 'compaction' | 'sampling';
  readonly items: readonly Item[];
  readonly tools: readonly Tool[];
};

/** A call of the current turn and its result. */
export type FinishedCall = {
  readonly tool: string;
  readonly input: JsonObject;
  readonly text: string;
  readonly failed: boolean;
};

/** The last user item and everything since. Nothing else is a request. */
export type Turn = {
  /** the first text of the message: the only text that is a request */
  readonly request: string;
  readonly attachments: readonly Part[];
  readonly calls: readonly FinishedCall[];
  /** index of the message in the items */
  readonly start: number;
};

export function currentTurn(items: readonly Item[]): Turn {
  const start = items.findLastIndex(({ kind }) => kind === 'user');
  const message = items[start];
  const parts = message?.kind === 'user' ? message.parts : [];
  return {
    request: parts.find((part) => part.type === 'text')?.text ?? '',
    attachments: parts.filter((part) => part.type !== 'text'),
    calls: finishedCalls(items.slice(start + 1)),
    start: Math.max(start, 0),
  };
}

function finishedCalls(items: readonly Item[]): FinishedCall[] {
  const results = new Map(items.flatMap((item) => (item.kind === 'result' ? [[item.call, item]] : [])));
  return items.flatMap((item) => {
    if (item.kind !== 'call') return [];
    const result = results.get(item.call);
    const text = result ? textOf(result.parts) : 'outcome unknown';
    return [{ tool: item.tool, input: item.input, text, failed: result?.failed ?? true }];
  });
}

export function textIn(item: Item): string {
  if (item.kind === 'user' || item.kind === 'result') return textOf(item.parts);
  return item.kind === 'call' ? item.tool + JSON.stringify(item.input) : item.text;
}
