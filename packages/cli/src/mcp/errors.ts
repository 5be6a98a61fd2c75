/** Errors that the bridge itself responds with. */
import { SdkHttpError } from '@modelcontextprotocol/client';
import type { RequestId } from './messages.ts';

export type RpcError = { readonly code: number; readonly message: string; readonly data?: unknown };

export const PARSE_ERROR: RpcError = { code: -32_700, message: 'The line is not a JSON-RPC message.' };
export const NO_METHOD: RpcError = { code: -32_601, message: 'Method not found' };
export const TOO_LARGE: RpcError = { code: -32_600, message: 'The message is too large.' };

export const errorLine = (id: RequestId | null, error: RpcError): string =>
  JSON.stringify({ jsonrpc: '2.0', id, error });

/** Why a request has no response: the server's error, or a lost connection. */
export function failureOf(error: unknown): RpcError {
  if (error instanceof SdkHttpError) {
    const { status, text } = error.data as { readonly status: number; readonly text?: string | null };
    return errorIn(text) ?? { code: -32_000, message: `The server responded with status ${status}.` };
  }
  return { code: -32_000, message: 'The server cannot be reached, or the connection was lost.' };
}

function errorIn(text: string | null | undefined): RpcError | null {
  try {
    const { error } = JSON.parse(text ?? '') as { error?: RpcError };
    return typeof error?.code === 'number' && typeof error.message === 'string' ? error : null;
  } catch {
    return null;
  }
}
