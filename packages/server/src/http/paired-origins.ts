/** Accepts requests of extensions whose origins the operator has not allowed. */
import type { Authenticator } from './authenticator.ts';
import { OWN_PAIRING_PATH, PAIRINGS_PATH } from './pairings.ts';
import { tokenOf } from './request-identity.ts';

const EXTENSION =
  /^(?:chrome-extension:\/\/[a-p]{32}|moz-extension:\/\/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/;

export const isExtension = (origin: string): boolean => EXTENSION.test(origin);

/** The requests that an extension needs for pairing. */
const PAIRING: readonly (readonly [path: string, methods: readonly string[]])[] = [
  [PAIRINGS_PATH, ['POST', 'OPTIONS']],
  [OWN_PAIRING_PATH, ['GET', 'DELETE', 'OPTIONS']],
];

export type PairedOrigins = {
  /** resolves the origin that a token was paired for */
  readonly authenticator: Pick<Authenticator, 'keyOf'>;
  readonly hasOrigin: (origin: string) => Promise<boolean>;
};

/**
 * A preflight request has no token, so it passes if any extension with its origin is paired. Other requests
 * need a token of that origin.
 */
export const pairedRequests =
  ({ authenticator, hasOrigin }: PairedOrigins) =>
  async (request: Request, origin: string): Promise<boolean> => {
    if (!isExtension(origin)) return false;
    const { method } = request;
    const path = URL.parse(request.url)?.pathname;
    if (PAIRING.some(([at, methods]) => at === path && methods.includes(method))) return true;
    if (method === 'OPTIONS') return hasOrigin(origin);
    const token = tokenOf(request);
    return token !== null && (await authenticator.keyOf(token))?.origin === origin;
  };
