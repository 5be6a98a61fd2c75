/** The addresses of a dialect. Plain data: routing, protocol detection and the descriptions are derived from it. */

/** A WebSocket address. Several dialects may share a path: `when` and `firstFrame` distinguish them. */
export type SocketRoute = {
  /** a path such as `/ws`, or one with parameters such as `/app/:key` */
  readonly ws: string;
  /** the route applies only to handshakes with a token, or only to those without; to both if absent */
  readonly when?: { readonly token: boolean };
  /**
   * The first frame must have one of these message types to select this dialect if several share the path.
   * Dialects are tried in the order of the index; one without `firstFrame` takes all other frames.
   */
  readonly firstFrame?: ReadonlySet<string>;
  /** Closes a client that sends such a first frame with 1008 and this reason. */
  readonly refuse?: string;
  /** query parameters to add to `Socket.params` */
  readonly query?: readonly string[];
  /**
   * A socket with an invalid token is opened as if it had none, so that the dialect can refuse it with its own
   * frames. Without this it is closed with 1008.
   */
  readonly badToken?: 'anonymous';
  /** The handshake does not authenticate: tokens are not read, and the client may stay unauthenticated. */
  readonly anonymous?: boolean;
};

/** An HTTP path. One that ends in `/*` also matches the path without it. */
export type HttpRoute = {
  readonly http: string;
  /**
   * Several dialects may share a path: requests with this header are routed to the dialect's own path `as`, which ends in
   * `/*` if `http` does. Other requests belong to the dialect that lists the path without `when`.
   */
  readonly when?: { readonly header: string; readonly as: string };
};

export type Route = SocketRoute | HttpRoute;

export const withToken = { token: true } as const;
export const noToken = { token: false } as const;

export const socketRoutes = (listen: readonly Route[]): SocketRoute[] =>
  listen.filter((route): route is SocketRoute => 'ws' in route);

export const httpRoutes = (listen: readonly Route[]): HttpRoute[] =>
  listen.filter((route): route is HttpRoute => 'http' in route);
