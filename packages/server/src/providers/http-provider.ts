/** Drives a model API over HTTP: one answer of the model, with retries. */
import type { FaultData } from '@parlance/protocol';
import type { Provider, ProviderEvent } from '../core/ports/provider.ts';
import { sleep } from '../lib/sleep.ts';
import { Attempt, type AttemptOptions } from './attempt.ts';
import { CANCELLED } from './attempt-faults.ts';
import { type ApiFault, type ModelApi, STREAM_ENDED_EARLY } from './model-api.ts';
import { type RetryPolicy, retryDelay } from './retry.ts';

export type HttpProviderOptions = AttemptOptions & {
  readonly name: string;
  readonly model: string;
  readonly contextLimit: number;
  readonly retry: RetryPolicy;
};

export function httpProvider<State>(api: ModelApi<State>, options: HttpProviderOptions): Provider {
  const { name, model, contextLimit, retry } = options;
  return {
    name,
    model,
    contextLimit,
    counts: true,
    ...(api.acceptsLink && { acceptsLink: api.acceptsLink }),
    async *stream(prompt, signal, take): AsyncGenerator<ProviderEvent, void> {
      let plain = false;
      for (let count = 1; ; count++) {
        let broken: ApiFault = STREAM_ENDED_EARLY;
        const attempt = new Attempt(api, options, { signal, take });
        try {
          let said = signal.aborted ? null : await attempt.begin(prompt, plain);
          for (; said; said = await attempt.next()) {
            for (const event of said) {
              if (event.type === 'failed') broken = event.fault;
              else yield event;
              if (event.type === 'ended') return;
            }
          }
        } finally {
          attempt.close();
        }
        if (signal.aborted) broken = CANCELLED;
        if (broken.retryPlain && !plain) {
          plain = true;
          count--;
          continue;
        }
        const fault = faultOf(broken);
        const delayMs = signal.aborted ? null : retryDelay(retry, count, broken);
        if (delayMs === null) return yield { type: 'failed', fault };
        const { host } = attempt;
        yield { type: 'retrying', attempt: count + 1, delayMs, fault, host };
        await sleep(delayMs, signal);
      }
    },
  };
}

function faultOf({ code, message, vendorStatus, retryAfterMs = 0 }: ApiFault): FaultData {
  return {
    code,
    message,
    ...(retryAfterMs > 0 && { retryAfterMs: Math.ceil(retryAfterMs) }),
    ...(vendorStatus !== undefined && { vendorStatus }),
  };
}
