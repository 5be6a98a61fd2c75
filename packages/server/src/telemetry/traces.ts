/**
 * Exports spans to a collector over OTLP/HTTP. Loaded only if a collector is configured: the SDK costs a hundred milliseconds
 * and twenty megabytes. The SDK itself reads OTEL_EXPORTER_OTLP_HEADERS, …_COMPRESSION, …_TIMEOUT and …_CERTIFICATE.
 */
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { resourceFromAttributes } from '@opentelemetry/resources';
import {
  BatchSpanProcessor,
  type IdGenerator,
  RandomIdGenerator,
  type SpanExporter,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import type { Log } from '../core/ports/logger.ts';
import type { Tracer } from '../core/ports/tracer.ts';
import { type NamedTraces, Spans } from './spans.ts';

export type TraceOptions = {
  /** address of the collector; spans go to `/v1/traces` below it */
  readonly endpoint: string;
  readonly serviceName: string;
  readonly log: Log;
  /** how long the exit waits for an unresponsive collector */
  readonly closeMs?: number;
};

export type Traces = {
  readonly tracer: Tracer;
  /** Sends pending spans. Always resolves. */
  close(): Promise<void>;
};

const CLOSE_MS = 2_000;

export function openTraces({ endpoint, serviceName, log, closeMs = CLOSE_MS }: TraceOptions): Traces {
  const exporter = new OTLPTraceExporter({ url: `${endpoint}/v1/traces` });
  const ids = new NamedIds();
  const provider = new TracerProvider({
    resource: resourceFromAttributes({ 'service.name': serviceName }),
    idGenerator: ids,
    spanProcessors: [new BatchSpanProcessor({ exporter: complaining(exporter, log) })],
  });
  const traces: NamedTraces = {
    tracer: provider.getTracer('parlance'),
    nameNext: (id) => {
      ids.next = id;
    },
  };
  const spans = new Spans(traces);
  return {
    tracer: spans,
    async close() {
      spans.close();
      const { promise, resolve } = Promise.withResolvers<void>();
      const timer = setTimeout(resolve, closeMs);
      // The exporter has already logged the failure.
      const done = provider.shutdown().catch(() => undefined);
      await Promise.race([done, promise]).finally(() => clearTimeout(timer));
    },
  };
}

const TRACE_ID = /^(?!0{32})[0-9a-f]{32}$/;

/** Random ids, except for a trace with a given id. */
class NamedIds implements IdGenerator {
  next: string | null = null;
  readonly #random = new RandomIdGenerator();

  generateTraceId(): string {
    const { next } = this;
    this.next = null;
    return next !== null && TRACE_ID.test(next) ? next : this.#random.generateTraceId();
  }

  generateSpanId(): string {
    return this.#random.generateSpanId();
  }
}

/** Logs once that exports fail, and once that they succeed again. */
function complaining(exporter: SpanExporter, log: Log): SpanExporter {
  let failing = false;
  return {
    export: (spans, done) =>
      exporter.export(spans, (result) => {
        const failed = result.error !== undefined || result.code !== 0;
        if (failed && !failing)
          log.warn({ spans: spans.length, reason: result.error?.message }, 'span export failed');
        else if (!failed && failing) log.info({}, 'span export recovered');
        failing = failed;
        done(result);
      }),
    shutdown: () => exporter.shutdown(),
    forceFlush: () => exporter.forceFlush?.() ?? Promise.resolve(),
  };
}
