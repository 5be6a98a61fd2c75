/** Metrics and trace of one model call. */
import type { FaultCode, Usage } from '@parlance/protocol';
import type { Meter } from '../ports/meter.ts';
import type { ModelCallInfo, ModelOutcome, ModelTrace, Tracer } from '../ports/tracer.ts';

export type Observers = { readonly meter: Meter; readonly tracer: Tracer };

/** Disposing it before `ended` or `failed` records the call as aborted. */
export class ModelCall implements Disposable {
  readonly #trace: ModelTrace;
  #over = false;

  constructor(
    private readonly observers: Observers,
    called: ModelCallInfo,
  ) {
    this.#trace = observers.tracer.startModelCall(called);
  }

  retried(code: FaultCode): void {
    this.#trace.retried(code);
  }

  ended(usage: Usage, stop: string): void {
    this.observers.meter.add('tokens', 'input', usage.inputTokens);
    this.observers.meter.add('tokens', 'output', usage.outputTokens);
    this.#end({ kind: 'ended', usage, stop });
  }

  failed(code: FaultCode): void {
    this.#end({ kind: 'failed', code });
  }

  [Symbol.dispose](): void {
    if (!this.#over) this.#end({ kind: 'broken-off' });
  }

  #end(outcome: ModelOutcome): void {
    this.#over = true;
    this.#trace.end(outcome);
  }
}
