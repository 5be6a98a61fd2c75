/** JSON-RPC 2.0: requests in, responses out. */
import { z } from 'zod';
import { RpcFault } from './faults.ts';

export const RpcId = z.union([z.string().max(200), z.number(), z.null()]);
export type RpcId = z.output<typeof RpcId>;

export const RpcRequest = z.object({
  jsonrpc: z.literal('2.0'),
  id: RpcId.default(null),
  method: z.string().min(1).max(200),
  params: z.record(z.string(), z.unknown()).default({}),
});
export type RpcRequest = z.output<typeof RpcRequest>;

/** Throws −32600 if the body is not a request. */
export function rpcRequest(body: unknown): RpcRequest {
  const parsed = RpcRequest.safeParse(body);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const field = issue?.path.join('.');
  throw new RpcFault('INVALID_REQUEST', `Not a JSON-RPC 2.0 request${field ? `: ${field} is wrong` : ''}.`);
}

/** The id of a possible request; null if it has no valid one. */
export function idOf(body: unknown): RpcId {
  const parsed = z.object({ id: RpcId }).safeParse(body);
  return parsed.success ? parsed.data.id : null;
}

/** `result` is already encoded. */
export const responseText = (id: RpcId, result: string): string =>
  `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${result}}`;

/** Throws −32602 if the parameters of a method are invalid. */
export function paramsOf<Schema extends z.ZodType>(
  schema: Schema,
  params: Readonly<Record<string, unknown>>,
): z.output<Schema> {
  const parsed = schema.safeParse(params);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const field = issue?.path.join('.') || 'params';
  throw new RpcFault('INVALID_PARAMS', `${field}: ${issue?.message ?? 'is invalid'}`);
}
