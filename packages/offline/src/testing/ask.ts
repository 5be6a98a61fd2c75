/** Asks the offline model in tests. */
import type { JsonObject } from '@parlance/protocol';
import { answerTo } from '../answer.ts';
import type { Answer } from '../plan.ts';
import type { Item, Prompt, Tool } from '../prompt.ts';

export const ALL_TOOLS = [
  ...['shell', 'local_shell', 'read_file', 'list_files', 'search_files', 'web_search', 'apply_patch'],
  ...['save_file', 'echo', 'open_url', 'dom_manipulation', 'extract_page_content', 'get_selected_text'],
  'handoff',
];

export const user = (...texts: readonly string[]): Item => ({
  kind: 'user',
  parts: texts.map((text) => ({ type: 'text' as const, text })),
});
export const said = (text: string): Item => ({ kind: 'text', text });

type Called = { readonly tool: string; readonly input?: JsonObject; readonly failed?: boolean };

let count = 0;

/** A call and its result. */
export function did(text: string, { tool, input = {}, failed = false }: Called): Item[] {
  const call = `call-${++count}`;
  return [
    { kind: 'call', call, tool, input },
    { kind: 'result', call, parts: [{ type: 'text', text }], failed },
  ];
}

export const promptOf = (items: readonly Item[], tools: readonly string[] = ALL_TOOLS): Prompt => ({
  task: 'chat',
  items,
  tools: tools.map((name): Tool => ({ name, description: name, parameters: {} })),
});

export function hear(items: readonly Item[], tools?: readonly string[]) {
  const { text, reasoning = '', calls = [], fault }: Answer = answerTo(promptOf(items, tools));
  return { text, reasoning, calls, fault };
}

export const ask = (text: string, tools?: readonly string[]) => hear([user(text)], tools);

/** Plays a whole turn: `run` provides the result of every call, until there are no more calls. */
export function play(
  text: string,
  run: (tool: string) => { readonly text: string; readonly failed?: boolean },
  tools?: readonly string[],
) {
  const items: Item[] = [user(text)];
  const made: { readonly tool: string; readonly input: JsonObject }[] = [];
  for (let step = 0; step < 25; step++) {
    const answer = hear(items, tools);
    if (answer.text !== '') items.push(said(answer.text));
    if (answer.calls.length === 0) return { calls: made, text: answer.text };
    for (const { tool, input } of answer.calls) {
      const { text: result, failed } = run(tool);
      items.push(...did(result, { tool, input, failed }));
      made.push({ tool, input });
    }
  }
  throw new Error('the turn does not end');
}
