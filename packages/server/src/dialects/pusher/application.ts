/** The one application that is served: its credentials, and which channels are the server's own. */

/** The secret that stands in every documentation of the family. */
export const DEFAULT_SECRET = 'app-secret';

export type Application = {
  readonly id: string;
  readonly key: string;
  readonly secret: string;
  /**
   * Set where the secret is the one that everybody knows. A signature then opens none of our own channels and lists
   * none: only `POST /api/pusher/auth` opens one, for the socket it was asked for.
   */
  readonly known: boolean;
  /** Set where callers need a token, too: then such a signature does not publish on our own channels either. */
  readonly guarded: boolean;
};

/** Channels that carry what belongs to a principal: permitted by `POST /api/pusher/auth`. */
export const isOurs = (channel: string): boolean => /^(private|presence)-(session|user)-/.test(channel);
