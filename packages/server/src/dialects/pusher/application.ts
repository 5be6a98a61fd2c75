/** The one application that is served: its credentials, and which channels are the server's own. */

/** The secret that stands in every documentation of the family. */
export const DEFAULT_SECRET = 'app-secret';

export type Application = {
  readonly id: string;
  readonly key: string;
  readonly secret: string;
  /**
   * Set where callers need a token but the secret is the one that everybody knows. A signature then opens none of our
   * own channels: only `POST /api/pusher/auth` does, for the socket it was asked for.
   */
  readonly guarded: boolean;
};

/** Channels that carry what belongs to a principal: permitted by `POST /api/pusher/auth`. */
export const isOurs = (channel: string): boolean => /^(private|presence)-(session|user)-/.test(channel);
