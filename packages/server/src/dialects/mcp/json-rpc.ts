/** JSON-RPC 2.0 messages, in and out. */
import { z } from 'zod';

export const RequestId = z.union([z.string().max(1_000), z.number()]);
export type RequestId = z.output<typeof RequestId>;

const Params = z.record(z.string(), z.unknown());
export type Params = z.output<typeof Params>;

const VERSION = z.literal('2.0');

const Request = z.object({
  jsonrpc: VERSION,
  id: RequestId,
  method: z.string().max(200),
  params: Params.optional(),
});
const Notification = z.object({ jsonrpc: VERSION, method: z.string().max(200), params: Params.optional() });
const Result = z.object({ jsonrpc: VERSION, id: RequestId, result: Params });
const Failure = z.object({
  jsonrpc: VERSION,
  id: RequestId.nullish(),
  error: z.object({ code: z.number(), message: z.string() }),
});

export type Request = { readonly id: RequestId; readonly method: string; readonly params: Params };
export type Notification = { readonly method: string; readonly params: Params };
/** The response to a request of ours; `result` is null if the client reported an error. */
export type Answer = { readonly id: RequestId; readonly result: Params | null };

export type Message =
  | ({ readonly kind: 'request' } & Request)
  | ({ readonly kind: 'notification' } & Notification)
  | ({ readonly kind: 'answer' } & Answer);

/** Null if the value is not a message. */
export function messageOf(value: unknown): Message | null {
  const request = Request.safeParse(value);
  if (request.success) {
    const { id, method, params = {} } = request.data;
    return { kind: 'request', id, method, params };
  }
  const result = Result.safeParse(value);
  if (result.success) return { kind: 'answer', id: result.data.id, result: result.data.result };
  const failure = Failure.safeParse(value);
  if (failure.success) return { kind: 'answer', id: failure.data.id ?? '', result: null };
  // A request with an invalid id is not a notification.
  const notification = hasId(value) ? null : Notification.safeParse(value);
  if (!notification?.success) return null;
  const { method, params = {} } = notification.data;
  return { kind: 'notification', method, params };
}

const hasId = (value: unknown): boolean => typeof value === 'object' && value !== null && 'id' in value;

/** The id of a possibly invalid request; null if it has none. */
export function idOf(value: unknown): RequestId | null {
  const parsed = RequestId.safeParse((value as { id?: unknown } | null)?.id);
  return parsed.success ? parsed.data : null;
}

export const resultMessage = (id: RequestId, result: object) => ({ jsonrpc: '2.0' as const, id, result });

export const requestMessage = (id: RequestId, method: string, params: object) => ({
  jsonrpc: '2.0' as const,
  id,
  method,
  params,
});

export const notificationMessage = (method: string, params?: object) => ({
  jsonrpc: '2.0' as const,
  method,
  ...(params && { params }),
});

export type ErrorBody = { readonly code: number; readonly message: string; readonly data?: object };

export const errorMessage = (id: RequestId | null, error: ErrorBody) => ({
  jsonrpc: '2.0' as const,
  id,
  error,
});
