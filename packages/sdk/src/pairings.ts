/** Browser extensions: the caller's own, and pending requests. */
import type {
  MadePairingRequest,
  OwnPairing,
  Pairing,
  PairingList,
  PairingRequest,
} from '@parlance/protocol/api';
import type { HttpClient } from './http-client.ts';
import type { CallOptions } from './session.ts';

export type Pairings = {
  /** In order of approval; `waiting` is empty unless the server is in open mode. */
  list(options?: CallOptions): Promise<PairingList>;
  /** The extension that shows this code. */
  find(code: string, options?: CallOptions): Promise<PairingRequest>;
  /** Lets the extension act as the caller. */
  allow(code: string, options?: CallOptions): Promise<Pairing>;
  deny(code: string, options?: CallOptions): Promise<void>;
  /** Closes the connections of the extension. Admins can revoke those of all users. */
  revoke(id: string, options?: CallOptions): Promise<void>;
  /** For an extension: requests a pairing. `token` is valid once a user has approved `code`. */
  request(name: string, options?: CallOptions): Promise<MadePairingRequest>;
  /** For an extension: its own pairing, by its token. `not_found` if it was denied, revoked or has expired. */
  own(options?: CallOptions): Promise<OwnPairing>;
  /** For an extension: ends its own pairing. */
  end(options?: CallOptions): Promise<void>;
};

export function pairings(http: HttpClient): Pairings {
  const path = '/v1/pairings';
  const answer = (code: string, allow: boolean, signal?: AbortSignal) =>
    ({ method: 'POST', path: `${path}/answer`, body: { code, allow }, signal }) as const;
  return {
    list: ({ signal } = {}) => http.json({ path, signal }),
    find: (code, { signal } = {}) =>
      http.json({ method: 'POST', path: `${path}/find`, body: { code }, repeatable: true, signal }),
    allow: (code, { signal } = {}) => http.json(answer(code, true, signal)),
    async deny(code, { signal } = {}) {
      await http.response(answer(code, false, signal));
    },
    async revoke(id, { signal } = {}) {
      await http.response({ method: 'DELETE', path: `${path}/${encodeURIComponent(id)}`, signal });
    },
    request: (name, { signal } = {}) => http.json({ method: 'POST', path, body: { name }, signal }),
    own: ({ signal } = {}) => http.json({ path: `${path}/own`, signal }),
    async end({ signal } = {}) {
      await http.response({ method: 'DELETE', path: `${path}/own`, signal });
    },
  };
}
