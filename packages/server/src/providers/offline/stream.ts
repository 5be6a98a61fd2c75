/** Streams an answer word by word. Ends in exactly one `ended` or `failed`, and immediately on abort. */
import type { ProviderEvent } from '../../core/ports/provider.ts';
import { sleep } from '../../lib/sleep.ts';
import type { Answer, Request } from './plan.ts';
import { deltas } from './text/words.ts';

/** Without a delay between words, the loop yields this often. */
const WORDS_IN_A_ROW = 64;

export type Saying = {
  readonly answer: Answer;
  readonly inputTokens: number;
  readonly callId: (request: Request, index: number) => string;
};

export const tokens = (characters: number): number => Math.ceil(characters / 4);

const CANCELLED: ProviderEvent = {
  type: 'failed',
  fault: { code: 'cancelled', message: 'The answer was cancelled.' },
};

export async function* stream(
  saying: Saying,
  delayMs: number,
  signal: AbortSignal,
): AsyncGenerator<ProviderEvent, void> {
  let count = 0;
  for (const event of events(saying)) {
    const isWord = event.type === 'text' || event.type === 'reasoning';
    if (isWord && count++ > 0) {
      if (delayMs > 0) await sleep(delayMs, signal);
      else if (count % WORDS_IN_A_ROW === 0) await new Promise<void>((resolve) => setImmediate(resolve));
    }
    if (signal.aborted) {
      yield CANCELLED;
      return;
    }
    yield event;
  }
}

function* events({ answer, inputTokens, callId }: Saying): Generator<ProviderEvent> {
  const { reasoning = '', text, calls = [], fault } = answer;
  for (const delta of deltas(reasoning)) yield { type: 'reasoning', text: delta };
  for (const delta of deltas(text)) yield { type: 'text', text: delta };
  if (fault) {
    yield { type: 'failed', fault };
    return;
  }
  for (const [index, request] of calls.entries()) {
    yield { type: 'call', call: callId(request, index), tool: request.tool, input: request.input };
  }
  const written = text.length + reasoning.length + (calls.length > 0 ? JSON.stringify(calls).length : 0);
  yield {
    type: 'ended',
    usage: {
      inputTokens,
      outputTokens: tokens(written),
      ...(reasoning === '' ? {} : { reasoningTokens: tokens(reasoning.length) }),
    },
    stop: calls.length > 0 ? 'calls' : 'done',
  };
}
