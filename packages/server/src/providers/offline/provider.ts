/**
 * The built-in model: no key, no network. It is a deterministic program and says so; the same prompt gives the same events.
 * Only the last user item is a request. Results, pages and summaries are data, which it quotes.
 */
import { asFault, textOf } from '@parlance/protocol';
import type { Prompt, PromptItem, Provider, ProviderEvent } from '../../core/ports/provider.ts';
import { chat } from './chat.ts';
import { browse } from './copilot.ts';
import { compact } from './digest.ts';
import { explain } from './explanation/explain.ts';
import type { Answer, Request } from './plan.ts';
import { type Saying, stream, tokens } from './stream.ts';
import { summarise } from './text/summary.ts';

export type OfflineOptions = {
  /** delay between two words, in milliseconds */
  readonly delayMs?: number;
};

export function offlineProvider({ delayMs = 15 }: OfflineOptions = {}): Provider {
  return {
    name: 'offline',
    model: 'offline',
    contextLimit: 128_000,
    stream: (prompt, signal) => answering(prompt, delayMs, signal),
  };
}

async function* answering(
  prompt: Prompt,
  delayMs: number,
  signal: AbortSignal,
): AsyncGenerator<ProviderEvent, void> {
  let saying: Saying;
  try {
    saying = composed(prompt);
  } catch (thrown) {
    yield { type: 'failed', fault: asFault(thrown).data() };
    return;
  }
  yield* stream(saying, delayMs, signal);
}

function composed(prompt: Prompt): Saying {
  return {
    answer: answerTo(prompt),
    inputTokens: tokens(sizeOf(prompt)),
    callId: (request, index) => callId(prompt, request, index),
  };
}

function answerTo(prompt: Prompt): Answer {
  switch (prompt.task) {
    case 'chat':
      return browse(prompt) ?? chat(prompt);
    case 'summary':
      return { text: summarise(lastUserText(prompt.items)) };
    case 'explanation':
      return { text: explain(lastUserText(prompt.items)) };
    case 'compaction':
      return { text: compact(prompt.items) };
  }
}

function lastUserText(items: readonly PromptItem[]): string {
  const item = items.findLast(({ kind }) => kind === 'user');
  return item?.kind === 'user' ? textOf(item.parts) : '';
}

/** The same call at the same position of the same conversation has the same id; anywhere else another one. */
function callId(prompt: Prompt, request: Request, index: number): string {
  const hash = new Bun.CryptoHasher('sha256');
  for (const item of prompt.items) hash.update(item.kind === 'call' ? item.call : textIn(item));
  hash.update(JSON.stringify([prompt.items.length, index, request.tool, request.input]));
  return `call_${hash.digest('hex').slice(0, 16)}`;
}

const sizeOf = ({ instructions, items }: Prompt): number =>
  items.reduce((sum, item) => sum + textIn(item).length, instructions.length);

function textIn(item: PromptItem): string {
  switch (item.kind) {
    case 'user':
    case 'result':
      return textOf(item.parts);
    case 'call':
      return item.tool + JSON.stringify(item.input);
    case 'text':
    case 'reasoning':
    case 'summary':
      return item.text;
  }
}
