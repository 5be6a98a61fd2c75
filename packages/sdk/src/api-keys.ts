/** The caller's API keys. Requires a login: an API key cannot manage keys. */
import type { ApiKey, ApiKeyList, MadeApiKey, NewApiKey } from '@parlance/protocol/api';
import type { HttpClient } from './http-client.ts';
import type { CallOptions } from './session.ts';

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
      return (await http.json<ApiKeyList>({ path, signal })).keys;
    },
    add: (body, { signal } = {}) => http.json({ method: 'POST', path, body, signal }),
    async revoke(id, { signal } = {}) {
      await http.response({ method: 'DELETE', path: `${path}/${encodeURIComponent(id)}`, signal });
    },
  };
}
