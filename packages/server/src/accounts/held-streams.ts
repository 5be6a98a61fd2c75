/** Closes sockets and streams when their token or API key becomes invalid. */
import type { Principal } from '@parlance/protocol';
import type { Authenticator } from '../http/authenticator.ts';
import type { OnTokenRevoked, OpenStream } from '../http/connection.ts';
import { identifiedAs, isIssued, tokenOf } from '../http/request-identity.ts';

export const tokenRevocation =
  (authenticator: Authenticator, token: string, granted?: Principal): OnTokenRevoked =>
  (ended) =>
    authenticator.onTokenRevoked(token, ended, granted);

export const heldStreams =
  (authenticator: Authenticator, open: OpenStream): OpenStream =>
  (request, stream) => {
    const token = tokenOf(request);
    // Text that is not one of our tokens identifies nobody, and the dialect has ignored it.
    if (token === null || !isIssued(token)) return open(request, stream);
    const onTokenRevoked = tokenRevocation(authenticator, token, identifiedAs(request));
    return open(request, { ...stream, onTokenRevoked });
  };
