/** Browser extensions: the caller's own, and pending requests. */
import type { OwnPairing, Pairing, PairingList, PairingRequest } from './answers.ts';
import type { CallOptions } from './session.ts';
import type { Wire } from './wire.ts';

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
  request(name: string, options?: CallOptions): Promise<{ code: string; token: string; expiresAt: string }>;
  /** For an extension: its own pairing, by its token. `not_found` if it was denied, revoked or has expired. */
  own(options?: CallOptions): Promise<OwnPairing>;
  /** For an extension: ends its own pairing. */
  end(options?: CallOptions): Promise<void>;
};

export function pairings(wire: Wire): Pairings {
  const path = '/v1/pairings';
  const answer = (code: string, allow: boolean, signal?: AbortSignal) =>
    ({ method: 'POST', path: `${path}/answer`, body: { code, allow }, signal }) as const;
  return {
    list: ({ signal } = {}) => wire.json({ path, signal }),
    find: (code, { signal } = {}) =>
      wire.json({ method: 'POST', path: `${path}/find`, body: { code }, repeatable: true, signal }),
    allow: (code, { signal } = {}) => wire.json(answer(code, true, signal)),
    async deny(code, { signal } = {}) {
      await wire.response(answer(code, false, signal));
    },
    async revoke(id, { signal } = {}) {
      await wire.response({ method: 'DELETE', path: `${path}/${encodeURIComponent(id)}`, signal });
    },
    request: (name, { signal } = {}) => wire.json({ method: 'POST', path, body: { name }, signal }),
    own: ({ signal } = {}) => wire.json({ path: `${path}/own`, signal }),
    async end({ signal } = {}) {
      await wire.response({ method: 'DELETE', path: `${path}/own`, signal });
    },
  };
}
