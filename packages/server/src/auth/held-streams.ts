/** Sockets and streams that close when their token ends. */

import type { Authenticator } from '../http/authenticator.ts';
import type { OnTokenRevoked, OpenStream } from '../http/connection.ts';
import { tokenOf } from '../http/request-identity.ts';

export const tokenRevocation =
  (authenticator: Authenticator, token: string): OnTokenRevoked =>
  (ended) =>
    authenticator.onTokenRevoked(token, ended);

export const heldStreams =
  (authenticator: Authenticator, open: OpenStream): OpenStream =>
  (request, stream) => {
    const token = tokenOf(request);
    return open(
      request,
      token === null ? stream : { ...stream, onTokenRevoked: tokenRevocation(authenticator, token) },
    );
  };
