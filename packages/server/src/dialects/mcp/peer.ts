/**
 * The client of a request. Revisions before 2026-07-28 start with `initialize`, and the agreed version is part
 * of the session id: it is valid after a restart and on another node. Since 2026-07-28 every request contains
 * the version.
 */
import { isObject } from '@parlance/protocol';
import { invalidParams, type Params, RpcFault } from '../kit/json-rpc.ts';
import { CODES, LEGACY, META, MODERN } from './contract.ts';

type Legacy = (typeof LEGACY)[number];

export type Peer = {
  readonly era: 'legacy' | 'modern';
  readonly version: string;
  /** the client can show forms to its user */
  readonly hasForms: boolean;
  /** before 2026-07-28, only those that tools can use */
  readonly capabilities: Params;
  /** null if the client has no session */
  readonly session: string | null;
};

/** Throws a `RpcFault` if the version is not supported, or headers and body contradict each other. */
export function peerOf(
  headers: Headers,
  message: { readonly method?: string; readonly params?: Params },
): Peer {
  const meta = isObject(message.params?._meta) ? message.params._meta : {};
  const claimed = meta[META.version];
  const named = headers.get('mcp-protocol-version');
  if (claimed === undefined && named !== MODERN) return legacyPeer(headers, named);
  // Notifications have no metadata: they refer to a request that has it.
  if (claimed === undefined && message.method?.startsWith('notifications/')) return modernPeer({});
  if (typeof claimed !== 'string') throw invalidParams(`params._meta["${META.version}"] is missing.`);
  checkHeaders(headers, { version: claimed, method: message.method, params: message.params });
  if (claimed !== MODERN) throw unsupported(claimed, [MODERN]);
  const capabilities = meta[META.capabilities];
  if (!isObject(capabilities)) throw invalidParams(`params._meta["${META.capabilities}"] is missing.`);
  return modernPeer(capabilities);
}

const modernPeer = (capabilities: Params): Peer => ({
  era: 'modern',
  version: MODERN,
  hasForms: hasForms(capabilities),
  capabilities,
  session: null,
});

function legacyPeer(headers: Headers, named: string | null): Peer {
  const session = headers.get('mcp-session-id');
  const agreed = session === null ? null : agreedIn(session);
  const version = named ?? agreed?.version ?? '2025-03-26';
  if (!isLegacy(version)) throw unsupported(version, [MODERN, ...LEGACY]);
  const capabilities = agreed?.capabilities ?? {};
  return { era: 'legacy', version, hasForms: hasForms(capabilities), capabilities, session };
}

const unsupported = (requested: string, supported: readonly string[]) =>
  new RpcFault(CODES.version, `Unsupported protocol version: ${requested.slice(0, 100)}`, {
    supported,
    requested: requested.slice(0, 100),
  });

const isLegacy = (version: string): version is Legacy => (LEGACY as readonly string[]).includes(version);

/** The version of the client if it is supported, otherwise the latest. */
export const agreedVersion = (requested: unknown): Legacy =>
  typeof requested === 'string' && isLegacy(requested) ? requested : LEGACY[0];

/** Without a mode, the capability means forms. */
export function hasForms({ elicitation }: Params): boolean {
  return isObject(elicitation) && ('form' in elicitation || !('url' in elicitation));
}

// Session ids

type AgreedProtocol = { readonly version: string; readonly capabilities: Params };

/** Further capabilities that the id contains. */
const FURTHER = ['sampling', 'roots'] as const;

export function sessionIdOf({ version, capabilities }: AgreedProtocol, unique: string): string {
  const kinds = [
    hasForms(capabilities) ? 'forms' : 'plain',
    ...FURTHER.filter((name) => name in capabilities),
  ];
  return `${version}.${kinds.join('-')}.${unique}`;
}

/** Null if the id is not ours. */
function agreedIn(session: string): AgreedProtocol | null {
  const [, version, kinds = ''] = /^(\d{4}-\d\d-\d\d)\.((?:forms|plain)[a-z-]*)\./.exec(session) ?? [];
  if (version === undefined) return null;
  const names = kinds.split('-');
  const capabilities = [
    ...(names[0] === 'forms' ? ['elicitation'] : []),
    ...FURTHER.filter((name) => names.includes(name)),
  ];
  return { version, capabilities: Object.fromEntries(capabilities.map((name) => [name, {}])) };
}

// Since 2026-07-28 headers repeat parts of the body, for proxies. They must match.

/** The parameter that `mcp-name` repeats. */
const NAMED: Readonly<Record<string, string>> = {
  'tools/call': 'name',
  'prompts/get': 'name',
  'resources/read': 'uri',
};

type Body = {
  readonly version: string;
  readonly method: string | undefined;
  readonly params: Params | undefined;
};

/** Throws if a header differs from the body. Missing headers are ignored. */
function checkHeaders(headers: Headers, { version, method, params }: Body): void {
  const field = method !== undefined && Object.hasOwn(NAMED, method) ? NAMED[method] : undefined;
  check(headers, 'mcp-protocol-version', version);
  check(headers, 'mcp-method', method);
  if (field !== undefined) check(headers, 'mcp-name', params?.[field]);
}

function check(headers: Headers, name: string, expected: unknown): void {
  const value = headers.get(name);
  if (value !== null && typeof expected === 'string' && decoded(value) !== expected)
    throw new RpcFault(CODES.header, `The header ${name} does not match the body.`);
}

/** Values that a header cannot contain are encoded as `=?base64?…?=`. */
function decoded(value: string): string {
  const encoded = /^=\?base64\?([A-Za-z0-9+/=]*)\?=$/i.exec(value)?.[1];
  return encoded === undefined ? value : Buffer.from(encoded, 'base64').toString();
}
