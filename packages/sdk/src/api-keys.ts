/** The caller's API keys. Requires a login: an API key cannot manage keys. */
import type { Role } from '@parlance/protocol';
import type { ApiKey, MadeApiKey } from './answers.ts';
import type { HttpClient } from './http-client.ts';
import type { CallOptions } from './session.ts';

export type NewApiKey = {
  readonly name: string;
  /** upper bound of the key's permissions; default: the caller's role */
  readonly role?: Role;
  /** dialects that it may be used with; default: all */
  readonly dialects?: readonly string[];
  /** lets an admin's key manage users, passwords, origins and MCP servers; default: false */
  readonly administration?: boolean;
  /** ISO 8601; default: never */
  readonly expiresAt?: string;
};

export type ApiKeys = {
  /** In order of creation. */
  list(options?: CallOptions): Promise<readonly ApiKey[]>;
  /** `key` of the result is the key itself, which is returned only once. */
  add(wanted: NewApiKey, options?: CallOptions): Promise<MadeApiKey>;
  /** Closes the connections of the key. Admins can revoke keys of all users. */
  revoke(id: string, options?: CallOptions): Promise<void>;
};

export function apiKeys(http: HttpClient): ApiKeys {
  const path = '/v1/keys';
  return {
    async list({ signal } = {}) {
      return (await http.json<{ keys: ApiKey[] }>({ path, signal })).keys;
    },
    add: (body, { signal } = {}) => http.json({ method: 'POST', path, body, signal }),
    async revoke(id, { signal } = {}) {
      await http.response({ method: 'DELETE', path: `${path}/${encodeURIComponent(id)}`, signal });
    },
  };
}
