/** The application: its credentials, and which channels belong to the server. */

/** The secret from the documentation of Pusher-compatible servers. */
export const DEFAULT_SECRET = 'app-secret';

export type Application = {
  readonly id: string;
  readonly key: string;
  readonly secret: string;
  /**
   * The secret is the public default, in open mode. A signature then neither opens nor lists our own channels: only `POST
   * /api/pusher/auth` opens one, for the socket in the request.
   */
  readonly known: boolean;
};

/** Channels with data of a principal, authorised by `POST /api/pusher/auth`. */
export const isOurs = (channel: string): boolean => /^(private|presence)-(session|user)-/.test(channel);
