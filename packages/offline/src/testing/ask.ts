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
export const assistant = (text: string): Item => ({ kind: 'text', text });

type CallResult = { readonly tool: string; readonly input?: JsonObject; readonly failed?: boolean };

let count = 0;

/** A call and its result. */
export function callAndResult(text: string, { tool, input = {}, failed = false }: CallResult): Item[] {
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

export function respond(items: readonly Item[], tools?: readonly string[]) {
  const { text, reasoning = '', calls = [], fault }: Answer = answerTo(promptOf(items, tools));
  return { text, reasoning, calls, fault };
}

export const ask = (text: string, tools?: readonly string[]) => respond([user(text)], tools);

/** Plays a whole turn: `run` provides the result of every call, until there are no more calls. */
export function play(
  text: string,
  run: (tool: string) => { readonly text: string; readonly failed?: boolean },
  tools?: readonly string[],
) {
  const items: Item[] = [user(text)];
  const calls: { readonly tool: string; readonly input: JsonObject }[] = [];
  for (let step = 0; step < 25; step++) {
    const answer = respond(items, tools);
    if (answer.text !== '') items.push(assistant(answer.text));
    if (answer.calls.length === 0) return { calls, text: answer.text };
    for (const { tool, input } of answer.calls) {
      const { text: result, failed } = run(tool);
      items.push(...callAndResult(result, { tool, input, failed }));
      calls.push({ tool, input });
    }
  }
  throw new Error('the turn does not end');
}
