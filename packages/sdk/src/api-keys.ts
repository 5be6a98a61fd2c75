/** The caller's API keys. They need a login: a key does not look after keys. */
import type { Role } from '@parlance/protocol';
import type { ApiKey, MadeApiKey } from './answers.ts';
import type { CallOptions } from './session.ts';
import type { Wire } from './wire.ts';

export type WantedKey = {
  readonly name: string;
  /** the most that the key grants; default: the caller's role */
  readonly role?: Role;
  /** the dialects that it may be used with; default: all */
  readonly dialects?: readonly string[];
  /** ISO 8601; default: never */
  readonly expiresAt?: string;
};

export type ApiKeys = {
  /** In the order in which they were made. */
  list(options?: CallOptions): Promise<readonly ApiKey[]>;
  /** `key` of the result is the text of the key, which is not shown again. */
  add(wanted: WantedKey, options?: CallOptions): Promise<MadeApiKey>;
  /** Closes the connections of the key. Admins revoke keys of anyone. */
  revoke(id: string, options?: CallOptions): Promise<void>;
};

export function apiKeys(wire: Wire): ApiKeys {
  const path = '/v1/keys';
  return {
    async list({ signal } = {}) {
      return (await wire.json<{ keys: ApiKey[] }>({ path, signal })).keys;
    },
    add: (body, { signal } = {}) => wire.json({ method: 'POST', path, body, signal }),
    async revoke(id, { signal } = {}) {
      await wire.response({ method: 'DELETE', path: `${path}/${encodeURIComponent(id)}`, signal });
    },
  };
}
