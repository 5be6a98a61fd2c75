/** Since 2026-07-28 headers repeat parts of the body, for proxies. They must match. */
import { ProtocolFault } from './faults.ts';
import type { Params } from './json-rpc.ts';

/** The parameter that `mcp-name` repeats. */
const NAMED: Readonly<Record<string, string>> = { 'tools/call': 'name', 'resources/read': 'uri' };

type Body = {
  readonly version: string;
  readonly method: string | undefined;
  readonly params: Params | undefined;
};

/** Throws if a header differs from the body. Missing headers are ignored. */
export function checkHeaders(headers: Headers, { version, method, params }: Body): void {
  const field = method !== undefined && Object.hasOwn(NAMED, method) ? NAMED[method] : undefined;
  check(headers, 'mcp-protocol-version', version);
  check(headers, 'mcp-method', method);
  if (field !== undefined) check(headers, 'mcp-name', params?.[field]);
}

function check(headers: Headers, name: string, expected: unknown): void {
  const value = headers.get(name);
  if (value !== null && typeof expected === 'string' && decoded(value) !== expected)
    throw new ProtocolFault('header', `The header ${name} does not match the body.`);
}

/** Values that a header cannot contain are encoded as `=?base64?…?=`. */
function decoded(value: string): string {
  const encoded = /^=\?base64\?([A-Za-z0-9+/=]*)\?=$/i.exec(value)?.[1];
  return encoded === undefined ? value : Buffer.from(encoded, 'base64').toString();
}
