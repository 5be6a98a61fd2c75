/** The offline model as a provider: its answer, streamed word by word. */
import { answerTo, deltas, type Request, textIn } from '@parlance/offline';
import { asFault } from '@parlance/protocol';
import type { Prompt, Provider, ProviderEvent } from '../core/ports/provider.ts';
import { sleep } from '../lib/sleep.ts';
import { CANCELLED } from './faults.ts';

export type OfflineOptions = {
  /** delay between two words, in milliseconds */
  readonly delayMs?: number;
};

/** Without a delay, yields to the event loop after this many words. */
const WORDS_IN_A_ROW = 64;

export function offlineProvider({ delayMs = 15 }: OfflineOptions = {}): Provider {
  return {
    name: 'offline',
    model: 'offline',
    contextLimit: 128_000,
    acceptsLink: () => true,
    async *stream(prompt, signal) {
      let count = 0;
      for (const event of eventsOf(prompt)) {
        const isWord = event.type === 'text' || event.type === 'reasoning';
        if (isWord && count++ > 0) {
          if (delayMs > 0) await sleep(delayMs, signal);
          else if (count % WORDS_IN_A_ROW === 0) await new Promise<void>((resolve) => setImmediate(resolve));
        }
        if (signal.aborted) {
          const { code, message } = CANCELLED;
          return yield { type: 'failed', fault: { code, message } };
        }
        yield event;
      }
    },
  };
}

function* eventsOf(prompt: Prompt): Generator<ProviderEvent, void> {
  try {
    const { reasoning = '', text, calls = [], fault } = answerTo(prompt);
    for (const delta of deltas(reasoning)) yield { type: 'reasoning', text: delta };
    for (const delta of deltas(text)) yield { type: 'text', text: delta };
    if (fault) return yield { type: 'failed', fault };
    for (const [index, request] of calls.entries()) {
      const call = callId(prompt, request, index);
      for (const delta of deltas(JSON.stringify(request.input)))
        yield { type: 'arguments', index, call, tool: request.tool, text: delta };
      yield { type: 'call', call, ...request };
    }
    const written = text.length + reasoning.length + (calls.length > 0 ? JSON.stringify(calls).length : 0);
    yield {
      type: 'ended',
      usage: {
        inputTokens: tokens(
          prompt.items.reduce((sum, item) => sum + textIn(item).length, prompt.instructions.length),
        ),
        outputTokens: tokens(written),
        ...(reasoning === '' ? {} : { reasoningTokens: tokens(reasoning.length) }),
      },
      stop: calls.length > 0 ? 'calls' : 'done',
    };
  } catch (thrown) {
    yield { type: 'failed', fault: asFault(thrown).data() };
  }
}

const tokens = (characters: number): number => Math.ceil(characters / 4);

/**
 * The same call at the same position of the same conversation gets the same id, any other call a different
 * one.
 */
function callId(prompt: Prompt, request: Request, index: number): string {
  const hash = new Bun.CryptoHasher('sha256');
  for (const item of prompt.items) hash.update(item.kind === 'call' ? item.call : textIn(item));
  hash.update(JSON.stringify([prompt.items.length, index, request.tool, request.input]));
  return `call_${hash.digest('hex').slice(0, 16)}`;
}
