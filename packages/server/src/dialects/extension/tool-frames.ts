/** Tool frames: requests to a client, its responses, and progress for all subscribers. */
import type { DurableEvent, EphemeralEvent, Json, Outcome } from '@parlance/protocol';
import { textOf, wasStopped } from '@parlance/protocol';
import type { ClientAnswer, ClientProgress, ClientRequest } from '../../core/index.ts';
import type { TrackedCall } from '../kit/calls.ts';
import type { Content, ToolUse } from './bodies.ts';
import type { ToolExecutionResponse } from './schemas.ts';

export const requestContent = (
  executionId: string,
  { tool, parameters, schema, permissions, timeoutMs }: ClientRequest,
  allowedOrigins: readonly string[],
): Content => ({
  type: 'tool_execution_request',
  executionId,
  toolName: tool,
  parameters,
  timeout: timeoutMs,
  securityContext: { allowedOrigins, permissions, parameterValidation: schema },
});

export function answerOf({ success, result, error }: ToolExecutionResponse): ClientAnswer {
  if (success) return { ok: true, result: result ?? null };
  return {
    ok: false,
    kind: error?.type ?? 'unknown',
    message: error?.message ?? 'The client gave no reason.',
    recoverable: error?.recoverable ?? false,
    retryAfterMs: error?.retryAfter ?? undefined,
  };
}

/** Clients draw a bar and a line of text for every status, so both are always set. */
const PROGRESS: Record<ClientProgress['status'], { progress: number; statusMessage: string }> = {
  queued: { progress: 0, statusMessage: 'Waiting for a client' },
  executing: { progress: 0, statusMessage: 'Running at a client' },
  completed: { progress: 100, statusMessage: 'Done' },
  failed: { progress: 0, statusMessage: 'Failed' },
  timeout: { progress: 0, statusMessage: 'No answer in time' },
};

export function progressContent(event: EphemeralEvent<'call.progress'>): Content {
  const { execution: executionId, status, session: sessionId } = event;
  const progress = event.progress ?? PROGRESS[status].progress;
  const statusMessage = event.message ?? PROGRESS[status].statusMessage;
  return { type: 'tool_execution_status', executionId, status, progress, statusMessage, sessionId };
}

/** The outcome of a call as text; undefined if it succeeded. */
export const OUTCOMES = {
  ok: () => undefined,
  failed: (tool) => `${tool} failed.`,
  denied: (tool) => `${tool} was not allowed to run.`,
  aborted: (tool) => `${tool} was stopped.`,
  unknown: (tool) => `It is not known what came of ${tool}.`,
} satisfies Record<Outcome, (tool: string) => string | undefined>;

/** Null if the tool was not used. */
export function toolUse(call: TrackedCall | undefined, event: DurableEvent<'tool.ended'>): ToolUse | null {
  if (!call || event.outcome === 'denied' || wasStopped(event)) return null;
  return {
    tool: call.tool,
    input: inputWords(Object.values(call.input), call.input),
    output: textOf(event.parts),
    executionTime: event.durationMs,
  };
}

/** In the format of the contract: the text itself if a tool has only a text input, otherwise JSON. */
const inputWords = ([only, ...others]: Json[], input: Json): string =>
  typeof only === 'string' && others.length === 0 ? only : JSON.stringify(input);
