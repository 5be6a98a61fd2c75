/** The addresses of a dialect. Plain data: routing, protocol detection and the descriptions are derived from it. */

/** A WebSocket address. Several dialects may share a path: `when` and `firstFrame` distinguish them. */
export type SocketRoute = {
  /** a path such as `/ws`, or one with parameters such as `/app/:key` */
  readonly ws: string;
  /** the route applies only to handshakes with a token, or only to those without; to both if absent */
  readonly when?: { readonly token: boolean };
  /**
   * The message types that a first frame must have one of for this dialect to be chosen, if several are served at the
   * path. Dialects are tried in the order of the index; one without `firstFrame` takes all other frames.
   */
  readonly firstFrame?: ReadonlySet<string>;
  /** Instead of being served, a client that sends such a first frame is disconnected with 1008 and this reason. */
  readonly refuse?: string;
  /** parameters of the query that `Socket.params` holds beside those of the path */
  readonly query?: readonly string[];
  /**
   * A socket with a bad token is opened like one without a token where one is required, so that the dialect refuses it in
   * its own way. Otherwise it is closed with 1008.
   */
  readonly badToken?: 'anonymous';
  /** The handshake carries no identity: a token is not read, and a client that never authenticates may stay. */
  readonly anonymous?: boolean;
};

/** An HTTP path, or a prefix that ends in `/*` and matches the path without it as well. */
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
