/** Collects one answer through the real driver. */
import type { Prompt, ProviderEvent } from '../../../core/ports/provider.ts';
import { callInput } from '../../../providers/call-input.ts';
import type { HttpClient } from '../../../providers/http/client.ts';
import { httpProvider } from '../../../providers/http-provider.ts';
import type { ModelApi } from '../../../providers/model-api.ts';

export const KEY = 'sk-of-the-suite-0123456789abcdef';

export const SMALL_PROMPT: Prompt = {
  task: 'chat',
  instructions: 'Be brief.',
  items: [{ kind: 'user', parts: [{ type: 'text', text: 'Hello?' }] }],
  tools: [],
};

/** Sends one request. Throws if the answer does not end in exactly one `ended` or `failed`, or contains the key. */
export async function collect(
  api: ModelApi<unknown>,
  prompt: Prompt,
  http: HttpClient,
): Promise<ProviderEvent[]> {
  const provider = httpProvider(api, {
    name: 'suite',
    model: 'suite',
    contextLimit: 100_000,
    idleMs: 10_000,
    http,
    retry: { attempts: 1, firstDelayMs: 0, maxDelayMs: 0, random: () => 0 },
  });
  const events: ProviderEvent[] = [];
  for await (const event of provider.stream(prompt, new AbortController().signal)) events.push(event);
  const ends = events.filter(({ type }) => type === 'ended' || type === 'failed');
  if (ends.length !== 1 || ends[0] !== events.at(-1))
    throw new Error('it must end once, and then say nothing');
  if (JSON.stringify(events).includes(KEY)) throw new Error('the key is in an event');
  checkArguments(events);
  return events;
}

/** Throws if the arguments that were streamed of a call are not those of the call. */
function checkArguments(events: readonly ProviderEvent[]): void {
  const made = new Map(events.flatMap((event) => (event.type === 'call' ? [[event.call, event]] : [])));
  for (const { call, tool, text } of streamedCalls(events)) {
    const whole = made.get(call);
    // A refused or broken answer has no calls, and a vendor may send a complete input instead of streaming it.
    if (!whole || text === '') continue;
    const { input, malformed } = callInput(text);
    if (whole.tool !== tool || !Bun.deepEquals([whole.input, whole.malformed], [input, malformed]))
      throw new Error(`the arguments of ${call} were streamed as ${text}`);
  }
}

/** The calls whose arguments were streamed, in the order of their positions, with the joined arguments. */
export function streamedCalls(
  events: readonly ProviderEvent[],
): { call: string; tool: string; text: string }[] {
  const calls: { call: string; tool: string; text: string }[] = [];
  for (const event of events) {
    if (event.type !== 'arguments') continue;
    const { index, call, tool, text } = event;
    const before = calls[index];
    if (before && (before.call !== call || before.tool !== tool)) throw new Error(`${call} changed its name`);
    calls[index] = { call, tool, text: (before?.text ?? '') + text };
  }
  return calls;
}

/** Joins adjacent deltas of one kind, so that chunking does not matter. Leaves out arguments and undefined fields. */
export function joined(events: readonly ProviderEvent[]): ProviderEvent[] {
  const whole: ProviderEvent[] = [];
  for (const event of events) {
    const last = whole.at(-1);
    if (event.type === 'arguments') continue;
    if (event.type !== 'text' && event.type !== 'reasoning') whole.push(event);
    else if (last?.type === event.type) whole[whole.length - 1] = { ...last, text: last.text + event.text };
    else if (event.text !== '') whole.push(event);
  }
  return JSON.parse(JSON.stringify(whole)) as ProviderEvent[];
}
