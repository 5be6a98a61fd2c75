/**
 * Exports spans to a collector over OTLP/HTTP. Loaded only if a collector is configured: the SDK costs a hundred milliseconds
 * and twenty megabytes. The SDK itself reads OTEL_EXPORTER_OTLP_HEADERS, …_COMPRESSION, …_TIMEOUT and …_CERTIFICATE.
 */

import {
  type Tracer as ApiTracer,
  type Attributes,
  type Context,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { resourceFromAttributes } from '@opentelemetry/resources';
import {
  BatchSpanProcessor,
  type IdGenerator,
  RandomIdGenerator,
  type SpanExporter,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import type { AgentRef, CallId, DurableEvent, TurnId, Usage } from '@parlance/protocol';
import type { SessionRef } from '../core/ports/event-store.ts';
import type {
  Log,
  ModelCallInfo,
  ModelOutcome,
  ModelTrace,
  TracedState,
  Tracer,
} from '../core/ports/telemetry.ts';
import { within } from '../lib/sleep.ts';

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
      // The exporter has already logged the failure.
      await within(
        closeMs,
        provider.shutdown().catch(() => undefined),
      );
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

// Turns as spans: `invoke_agent`, with a child for every model call (`chat`) and every tool call (`execute_tool`), following
// OpenTelemetry's conventions for generative AI. Spans contain no message content.
//
// The trace id is the turn id without dashes, so that a log line leads to its trace and an interrupted turn continues in
// the same one.

/** Turns may wait for weeks. Beyond this number the oldest spans are closed. */
const MAX_OPEN = 10_000;

/** When something happened in a turn. */
type Moment = { readonly turn: TurnId; readonly at: number };

type OpenTurn = { readonly span: Span; readonly context: Context; readonly calls: Map<CallId, Span> };

/** The tracer, and the id of the next trace. */
type NamedTraces = { readonly tracer: ApiTracer; nameNext(id: string): void };

class Spans implements Tracer {
  readonly #turns = new Map<TurnId, OpenTurn>();

  constructor(private readonly traces: NamedTraces) {}

  onCommitted(ref: SessionRef, event: DurableEvent, before: TracedState): void {
    switch (event.type) {
      case 'turn.started':
        this.#begin(ref, event, { agent: event.agent, more: {} });
        break;
      case 'turn.resumed':
        if (before.turn && !this.#turns.has(event.turn))
          this.#begin(ref, event, { agent: before.turn.agent, more: { 'parlance.resumed': true } });
        break;
      case 'turn.ended':
        this.#end(event, { 'parlance.outcome': 'ended', ...usageOf(event.usage) });
        break;
      case 'turn.failed':
        this.#end(event, { 'parlance.outcome': 'failed' }, event.fault.code);
        break;
      case 'turn.cancelled':
        this.#end(event, { 'parlance.outcome': 'cancelled', 'parlance.reason': event.reason });
        break;
      case 'tool.started':
        this.#beginCall(ref, event, before);
        break;
      case 'tool.ended':
        this.#endCall(event);
        break;
      default:
    }
  }

  startModelCall(call: ModelCallInfo): ModelTrace {
    const { provider, model, session, turn, task } = call;
    const parent = turn === undefined ? undefined : this.#turns.get(turn);
    const asked = { 'gen_ai.provider.name': PROVIDERS[provider] ?? provider, 'gen_ai.request.model': model };
    parent?.span.setAttributes(asked);
    const span = this.#start(`chat ${model}`, parent?.context ?? ROOT_CONTEXT, {
      kind: provider === 'offline' ? SpanKind.INTERNAL : SpanKind.CLIENT,
      startTime: Date.now(),
      attributes: {
        'gen_ai.operation.name': 'chat',
        ...asked,
        ...(session && { 'gen_ai.conversation.id': session.id }),
        ...(task !== 'chat' && { 'parlance.task': task }),
      },
    });
    return {
      retried: (code) => span.addEvent('retry', { 'error.type': code }),
      end: (outcome) => endModelCall(span, outcome),
    };
  }

  /** Ends all open spans when the server stops. */
  close(): void {
    for (const open of this.#turns.values()) close(open, Date.now());
    this.#turns.clear();
  }

  #start(name: string, context: Context, options: Parameters<ApiTracer['startSpan']>[1]): Span {
    return this.traces.tracer.startSpan(name, options, context);
  }

  #begin(
    ref: SessionRef,
    { turn, at }: Moment,
    { agent, more }: { agent: AgentRef; more: Attributes },
  ): void {
    this.traces.nameNext(turn.replaceAll('-', ''));
    const span = this.#start(`invoke_agent ${agent.name}`, ROOT_CONTEXT, {
      kind: SpanKind.INTERNAL,
      startTime: at,
      attributes: {
        'gen_ai.operation.name': 'invoke_agent',
        'gen_ai.agent.id': agent.id,
        'gen_ai.agent.name': agent.name,
        'gen_ai.conversation.id': ref.id,
        'parlance.turn': turn,
        ...more,
      },
    });
    this.#turns.set(turn, { span, context: trace.setSpan(ROOT_CONTEXT, span), calls: new Map() });
    for (const [oldest, open] of this.#turns) {
      if (this.#turns.size <= MAX_OPEN) return;
      close(open, at);
      this.#turns.delete(oldest);
    }
  }

  #end({ turn, at }: Moment, attributes: Attributes, error?: string): void {
    const open = this.#turns.get(turn);
    if (!open) return;
    this.#turns.delete(turn);
    open.span.setAttributes(attributes);
    if (error !== undefined) fail(open.span, error);
    close(open, at);
  }

  #beginCall(ref: SessionRef, { turn, call, at }: DurableEvent<'tool.started'>, before: TracedState): void {
    const open = this.#turns.get(turn);
    const tool = before.turn?.calls.find((one) => one.call === call)?.tool;
    if (!open || tool === undefined) return;
    const span = this.#start(`execute_tool ${tool}`, open.context, {
      kind: SpanKind.INTERNAL,
      startTime: at,
      attributes: {
        'gen_ai.operation.name': 'execute_tool',
        'gen_ai.tool.name': tool,
        'gen_ai.tool.call.id': call,
        'gen_ai.tool.type': 'function',
        'gen_ai.conversation.id': ref.id,
      },
    });
    open.calls.set(call, span);
  }

  #endCall({ turn, call, at, outcome }: DurableEvent<'tool.ended'>): void {
    const calls = this.#turns.get(turn)?.calls;
    const span = calls?.get(call);
    if (!span) return;
    calls?.delete(call);
    span.setAttribute('parlance.outcome', outcome);
    if (outcome === 'failed' || outcome === 'unknown') fail(span, `tool_${outcome}`);
    span.end(at);
  }
}

function close({ span, calls }: OpenTurn, at: number): void {
  for (const call of calls.values()) call.end(at);
  span.end(at);
}

function endModelCall(span: Span, outcome: ModelOutcome): void {
  switch (outcome.kind) {
    case 'ended':
      span.setAttributes({
        ...usageOf(outcome.usage),
        'gen_ai.response.finish_reasons': [FINISH_REASONS[outcome.stop] ?? outcome.stop],
      });
      break;
    case 'failed':
      fail(span, outcome.code);
      break;
    case 'broken-off':
      span.setAttribute('parlance.outcome', 'aborted');
      break;
  }
  span.end(Date.now());
}

function fail(span: Span, type: string): void {
  span.setAttribute('error.type', type);
  span.setStatus({ code: SpanStatusCode.ERROR });
}

const usageOf = ({ inputTokens, outputTokens, cachedTokens, reasoningTokens }: Usage): Attributes => ({
  'gen_ai.usage.input_tokens': inputTokens,
  'gen_ai.usage.output_tokens': outputTokens,
  ...(cachedTokens && { 'gen_ai.usage.cache_read.input_tokens': cachedTokens }),
  ...(reasoningTokens && { 'gen_ai.usage.reasoning.output_tokens': reasoningTokens }),
});

/** Names that differ between the conventions and the protocol. */
const PROVIDERS: Readonly<Record<string, string>> = { google: 'gcp.gemini' };

const FINISH_REASONS: Readonly<Record<string, string>> = {
  done: 'stop',
  calls: 'tool_calls',
  length: 'length',
  refused: 'content_filter',
};
