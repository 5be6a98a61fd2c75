/**
 * JSON-RPC 2.0 for MCP, A2A, ACP and their bridges in the command line: messages in and out, and their errors.
 * Parameters are objects, as in all of these protocols.
 */
import { Fault, type FaultCode, isObject } from '@parlance/protocol';
import type { Context as HonoContext } from 'hono';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import { z } from 'zod';
import type { InvalidRequest } from './endpoint.ts';
import { retryText } from './faults.ts';

export const RequestId = z.union([z.string().max(1_000), z.number()]);
export type RequestId = z.output<typeof RequestId>;
/** Null in the answer to a message whose id is unknown; A2A and ACP also allow requests with it. */
export const RpcId = RequestId.nullable();
export type RpcId = z.output<typeof RpcId>;
export type Params = Readonly<Record<string, unknown>>;

const MAX_METHOD = 200;

// In

export type RpcRequest = { readonly id: RpcId; readonly method: string; readonly params: Params };
export type RpcNotification = { readonly method: string; readonly params: Params };
/** The answer to a request of the server. `result` is undefined if the client reports an error. */
export type RpcResponse = { readonly id: RpcId; readonly result: unknown };

export type RpcMessage =
  | ({ readonly kind: 'request' } & RpcRequest)
  | ({ readonly kind: 'notification' } & RpcNotification)
  | ({ readonly kind: 'response' } & RpcResponse)
  | { readonly kind: 'invalid'; readonly id: RpcId; readonly reason: string };

export function messageOf(value: unknown): RpcMessage {
  const id = idOf(value);
  const invalid = (reason: string): RpcMessage => ({ kind: 'invalid', id, reason });
  if (Array.isArray(value)) return invalid('batches are not supported');
  if (!isObject(value)) return invalid('a message is a JSON object');
  const { jsonrpc, method, params } = value;
  if (jsonrpc !== '2.0') return invalid('jsonrpc must be "2.0"');
  const hasId = value.id !== undefined;
  // A request with an invalid id is not a notification.
  if (hasId && !RpcId.safeParse(value.id).success) return invalid('id must be a string or a number');
  // An error is never answered with an error, even if it names no request.
  if (method === undefined && (value.error !== undefined || (hasId && 'result' in value)))
    return { kind: 'response', id, result: value.result };
  if (typeof method !== 'string' || method.length > MAX_METHOD)
    return invalid('method must be a short string');
  if (params !== undefined && params !== null && !isObject(params))
    return invalid('params must be an object');
  return hasId
    ? { kind: 'request', id, method, params: params ?? {} }
    : { kind: 'notification', method, params: params ?? {} };
}

/** The id of a possibly invalid message; null if it has none. */
export function idOf(value: unknown): RpcId {
  const parsed = RequestId.safeParse(isObject(value) ? value.id : undefined);
  return parsed.success ? parsed.data : null;
}

/** Throws −32602 if the parameters of a method are invalid. */
export function paramsOf<Schema extends z.ZodType>(schema: Schema, params: unknown): z.output<Schema> {
  const parsed = schema.safeParse(params);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw invalidParams(`${issue?.path.join('.') || 'params'}: ${issue?.message ?? 'is invalid'}`);
}

/** The entry of a table with the name of a method, but not what the table inherits. */
export const methodNamed = <Method>(
  methods: Readonly<Record<string, Method>>,
  name: string,
): Method | undefined => (Object.hasOwn(methods, name) ? methods[name] : undefined);

// Out

const jsonrpc = '2.0' as const;

export const requestMessage = (id: RequestId, method: string, params: object) => ({
  jsonrpc,
  id,
  method,
  params,
});
export const notificationMessage = (method: string, params?: object) => ({
  jsonrpc,
  method,
  ...(params && { params }),
});
export const resultMessage = (id: RpcId, result: object) => ({ jsonrpc, id, result });
/** `result` is already encoded. */
export const resultText = (id: RpcId, result: string): string =>
  `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${result}}`;
export const errorMessage = (id: RpcId, error: RpcError) => ({ jsonrpc, id, error });

// Errors

export type RpcError = { readonly code: number; readonly message: string; readonly data?: object };

export const RPC_CODES = {
  parse: -32_700,
  request: -32_600,
  method: -32_601,
  params: -32_602,
  internal: -32_603,
  /** the first of those that a protocol may define itself */
  refused: -32_000,
} as const;

/** A fault with an error code of the protocol. */
export class RpcFault extends Fault {
  constructor(
    readonly rpcCode: number,
    message: string,
    readonly details?: object,
  ) {
    super('invalid', message);
  }
}

export const invalidParams = (message: string): RpcFault => new RpcFault(RPC_CODES.params, message);

/** A fault as an error, with the code of the table or the default. */
export const errorOf = (
  fault: Fault,
  codes: Partial<Record<FaultCode, number>>,
  otherwise: number,
): RpcError =>
  fault instanceof RpcFault
    ? { code: fault.rpcCode, message: fault.message, ...(fault.details && { data: fault.details }) }
    : { code: codes[fault.code] ?? otherwise, message: retryText(fault) };

// HTTP: MCP and A2A have one endpoint for all methods.

/** Any JSON: `messageOf` validates it, so that errors have the id of the message. */
export const anyBody = (): z.ZodType => z.unknown();

/** The answer to a failed request has the id of its message, if that could be read. */
export const rememberId = (c: HonoContext, body: unknown): void => c.set('rpcId', idOf(body));

/** What the endpoints of a dialect have in common: errors are messages. */
export const rpcRest = (
  error: (fault: Fault) => RpcError,
  status: (fault: Fault) => ContentfulStatusCode,
) => ({
  invalid: (problem: InvalidRequest): Fault =>
    'body' in problem
      ? new RpcFault(RPC_CODES.parse, `The body ${problem.body}.`)
      : new RpcFault(RPC_CODES.request, z.prettifyError(problem.error)),
  fault: (fault: Fault, c: HonoContext): Response =>
    c.json(errorMessage(c.get('rpcId') ?? null, error(fault)), status(fault)),
});
