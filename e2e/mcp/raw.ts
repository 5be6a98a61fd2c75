/** Raw requests without a client. */
import { expect } from 'bun:test';

export const ACCEPT = 'application/json, text/event-stream';

export const postTo = (http: string, body: unknown, headers: Record<string, string> = {}) =>
  fetch(`${http}/mcp`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: ACCEPT, ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });

export const request = (method: string, params: object = {}) => ({ jsonrpc: '2.0', id: 7, method, params });

export const modern = (method: string, params: object = {}, version = '2026-07-28') =>
  request(method, {
    ...params,
    _meta: {
      'io.modelcontextprotocol/protocolVersion': version,
      'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
      'io.modelcontextprotocol/clientCapabilities': {},
    },
  });

/** The error of a response, which must be a JSON-RPC message. */
export async function failure(response: Response) {
  const { jsonrpc, id, error } = (await response.json()) as {
    jsonrpc: string;
    id: unknown;
    error: { code: number; message: string; data?: object };
  };
  expect(jsonrpc).toBe('2.0');
  expect(error.message).toMatch(/\w/);
  return { status: response.status, id, code: error.code, data: error.data };
}
