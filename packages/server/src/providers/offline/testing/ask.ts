/** Sends prompts to the offline model in tests, without delays. */
import type { JsonObject, Part } from '@parlance/protocol';
import type { Prompt, PromptItem, ProviderEvent, ToolSpec } from '../../../core/ports/provider.ts';
import { offlineProvider } from '../provider.ts';

export const ALL_TOOLS = [
  'shell',
  'local_shell',
  'read_file',
  'list_files',
  'search_files',
  'web_search',
  'apply_patch',
  'save_file',
  'echo',
  'open_url',
  'dom_manipulation',
  'extract_page_content',
  'get_selected_text',
  'scroll_to_element',
  'tab_management',
  'handoff',
];

export const user = (...texts: readonly string[]): PromptItem => ({
  kind: 'user',
  parts: texts.map((text): Part => ({ type: 'text', text })),
});
export const said = (text: string): PromptItem => ({ kind: 'text', text });

/** A call and its result. */
export const did = (
  call: string,
  tool: string,
  input: JsonObject,
  text: string,
  failed = false,
): PromptItem[] => [
  { kind: 'call', call, tool, input },
  { kind: 'result', call, parts: [{ type: 'text', text }], failed },
];

export const promptOf = (
  items: readonly PromptItem[],
  tools: readonly string[] = ALL_TOOLS,
  task: Prompt['task'] = 'chat',
): Prompt => ({
  task,
  instructions: 'You are Parlance.',
  items,
  tools: tools.map((name): ToolSpec => ({ name, description: name, parameters: {} })),
});

export type Heard = {
  readonly events: readonly ProviderEvent[];
  readonly text: string;
  readonly reasoning: string;
  readonly calls: readonly { readonly id: string; readonly tool: string; readonly input: JsonObject }[];
  readonly last: ProviderEvent | undefined;
};

export async function hear(prompt: Prompt, signal = new AbortController().signal): Promise<Heard> {
  const events: ProviderEvent[] = [];
  for await (const event of offlineProvider({ delayMs: 0 }).stream(prompt, signal)) events.push(event);
  const joined = (type: 'text' | 'reasoning') =>
    events.map((event) => (event.type === type ? event.text : '')).join('');
  return {
    events,
    text: joined('text'),
    reasoning: joined('reasoning'),
    calls: events.flatMap((event) =>
      event.type === 'call' ? [{ id: event.call, tool: event.tool, input: event.input }] : [],
    ),
    last: events.at(-1),
  };
}

export const ask = (text: string, tools?: readonly string[]): Promise<Heard> =>
  hear(promptOf([user(text)], tools));

export const answer = async (task: Prompt['task'], text: string): Promise<string> =>
  (await hear(promptOf([user(text)], [], task))).text;

/** Plays a whole turn: `run` provides the result of every call, until there are no more calls. */
export async function play(
  text: string,
  run: (tool: string, input: JsonObject) => { text: string; failed?: boolean },
  tools?: readonly string[],
) {
  const items: PromptItem[] = [user(text)];
  const calls: Heard['calls'][number][] = [];
  for (let step = 0; step < 25; step++) {
    const heard = await hear(promptOf(items, tools));
    if (heard.reasoning !== '') items.push({ kind: 'reasoning', text: heard.reasoning });
    if (heard.text !== '') items.push(said(heard.text));
    if (heard.calls.length === 0) return { calls, text: heard.text, items };
    for (const { id, tool, input } of heard.calls) {
      const { text: result, failed } = run(tool, input);
      items.push(...did(id, tool, input, result, failed));
      calls.push({ id, tool, input });
    }
  }
  throw new Error('the turn does not end');
}
