/** Logs, metrics, traces and shutdown. */
import { httpUrl, oneOf, secret, text, wholeNumber } from '../values.ts';
import type { Setting } from './setting.ts';

export const OPERATION = {
  logLevel: {
    env: ['LOG_LEVEL'],
    flag: '--log-level',
    argument: 'LEVEL',
    fallback: 'info',
    schema: () => oneOf(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']),
    description: 'fatal, error, warn, info, debug, trace or silent',
  },
  metricsToken: {
    env: ['PARLANCE_METRICS_TOKEN'],
    flag: null,
    argument: '',
    fallback: undefined,
    schema: secret,
    secret: true,
    description: 'a token that opens /metrics and nothing else, at least 32 bytes',
  },
  otlpEndpoint: {
    env: ['OTEL_EXPORTER_OTLP_ENDPOINT'],
    flag: '--otlp-endpoint',
    argument: 'URL',
    fallback: undefined,
    schema: httpUrl,
    description: 'an OpenTelemetry collector for spans of turns, over HTTP',
  },
  serviceName: {
    env: ['OTEL_SERVICE_NAME'],
    flag: null,
    argument: '',
    fallback: 'parlance',
    schema: text,
    description: 'the name of this server in spans',
  },
  offlineDelay: {
    env: ['PARLANCE_OFFLINE_DELAY'],
    flag: '--offline-delay',
    argument: 'MS',
    fallback: 15,
    schema: () => wholeNumber(0, 60_000),
    description: 'pause between two deltas of the offline model',
  },
  maxSteps: {
    env: ['MAX_ITERATIONS'],
    flag: '--max-steps',
    argument: 'COUNT',
    fallback: 50,
    schema: () => wholeNumber(1, 10_000),
    description:
      'maximum number of model calls in one turn, which then pauses: the next message continues it',
  },
  parallelCalls: {
    env: ['PARLANCE_PARALLEL_CALLS'],
    flag: '--parallel-calls',
    argument: 'COUNT',
    fallback: 8,
    schema: () => wholeNumber(1, 100),
    description: 'how many tool calls of one answer run at the same time; an agent may have its own number',
  },
  titles: {
    env: ['PARLANCE_TITLES'],
    flag: '--titles',
    argument: 'model|input',
    fallback: 'model',
    schema: () => oneOf(['model', 'input']),
    description:
      'who writes titles of sessions of the console: the model after the first turn (never the offline model), or the beginning of the first message',
  },
  grace: {
    env: ['PARLANCE_GRACE'],
    flag: '--grace',
    argument: 'MS',
    fallback: 5000,
    schema: () => wholeNumber(0, 600_000),
    description: 'how long running turns may continue after the server receives a stop signal',
  },
} as const satisfies Record<string, Setting>;
