/** One call of a model, counted and traced from its beginning to whatever end it has. */
import type { FaultCode, Usage } from '@parlance/protocol';
import type { Meter } from '../ports/meter.ts';
import type { ModelCalled, ModelOutcome, ModelTrace, Tracer } from '../ports/tracer.ts';

export type Observers = { readonly meter: Meter; readonly tracer: Tracer };

/** Disposed of without an end, the call was broken off. */
export class ModelCall implements Disposable {
  readonly #trace: ModelTrace;
  #over = false;

  constructor(
    private readonly observers: Observers,
    called: ModelCalled,
  ) {
    this.#trace = observers.tracer.modelCalled(called);
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
    this.#trace.over(outcome);
  }
}
