/** Collects one answer through the real driver. */
import type { Prompt, ProviderEvent } from '../../core/ports/provider.ts';
import type { HttpClient } from '../http/client.ts';
import { httpProvider } from '../http-provider.ts';
import type { Wire } from '../wire.ts';

export const KEY = 'sk-of-the-suite-0123456789abcdef';

export const SMALL_PROMPT: Prompt = {
  task: 'chat',
  instructions: 'Be brief.',
  items: [{ kind: 'user', parts: [{ type: 'text', text: 'Hello?' }] }],
  tools: [],
};

/** Sends one request. Throws if the answer does not end in exactly one `ended` or `failed`, or contains the key. */
export async function collect(
  wire: Wire<unknown>,
  prompt: Prompt,
  http: HttpClient,
): Promise<ProviderEvent[]> {
  const provider = httpProvider(wire, {
    name: 'suite',
    model: 'suite',
    contextLimit: 100_000,
    idleMs: 10_000,
    http,
    retry: { attempts: 1, firstDelayMs: 0, longestDelayMs: 0, random: () => 0 },
  });
  const events: ProviderEvent[] = [];
  for await (const event of provider.stream(prompt, new AbortController().signal)) events.push(event);
  const ends = events.filter(({ type }) => type === 'ended' || type === 'failed');
  if (ends.length !== 1 || ends[0] !== events.at(-1))
    throw new Error('it must end once, and then say nothing');
  if (JSON.stringify(events).includes(KEY)) throw new Error('the key was told');
  return events;
}

/** Joins adjacent deltas of one kind, so that chunking does not matter. Leaves out undefined fields. */
export function joined(events: readonly ProviderEvent[]): ProviderEvent[] {
  const whole: ProviderEvent[] = [];
  for (const event of events) {
    const last = whole.at(-1);
    if (event.type !== 'text' && event.type !== 'reasoning') whole.push(event);
    else if (last?.type === event.type) whole[whole.length - 1] = { ...last, text: last.text + event.text };
    else if (event.text !== '') whole.push(event);
  }
  return JSON.parse(JSON.stringify(whole)) as ProviderEvent[];
}
