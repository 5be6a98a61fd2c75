/** The dialects of a server: the response of `/v1/dialects`. */
import type { JsonObject } from '@parlance/protocol';

export type DialectExample = {
  readonly title: string;
  /** a message; for a dialect without sockets, a command or `{method, path, body}` */
  readonly frame: JsonObject;
  /** a POST request whose response completes the frame; its fields go into the field `into` */
  readonly before: { readonly path: string; readonly body: JsonObject; readonly into: string } | null;
};

export type DialectMessage = {
  readonly name: string;
  readonly summary: string;
  readonly examples: readonly DialectExample[];
};

export type DialectSocket = {
  /** paths with `{name}` for each parameter; the first is the dialect's own */
  readonly addresses: readonly { readonly address: string; readonly condition: string | null }[];
  /** values of the path parameters */
  readonly params: Readonly<Record<string, string>>;
  /** other query parameters than session and token */
  readonly query: Readonly<Record<string, string>>;
  /** the handshake carries no token and no session */
  readonly anonymous: boolean;
  /** the message that a client sends first */
  readonly greeting: string | null;
  /** the origin of another server that serves the sockets */
  readonly elsewhere: string | null;
};

/** An id assigned by the server that examples refer to. */
export type DialectId = {
  /** the message that contains it; null: any */
  readonly message: string | null;
  readonly id: string;
  /** path to it, such as `payload.requestId`; JSON inside a string is parsed */
  readonly at: string;
  /** a regular expression, if only a part of the text is the id */
  readonly match: string | null;
};

export type DialectSnippet =
  | { readonly kind: 'socket'; readonly title: string; readonly frames: readonly JsonObject[] }
  | {
      readonly kind: 'request';
      readonly title: string;
      readonly method: string;
      readonly path: string;
      readonly body: JsonObject | null;
      readonly needsToken: boolean;
      /** the answer is a stream of server-sent events */
      readonly stream: boolean;
    }
  | {
      readonly kind: 'script';
      readonly title: string;
      readonly language: 'js' | 'ts' | 'python' | 'json' | 'toml' | 'sh';
      /** `{{origin}}` stands for the server, `{{sockets}}` for the origin of its sockets */
      readonly code: string;
    };

export type Dialect = {
  readonly name: string;
  /** the kind of client */
  readonly title: string;
  readonly summary: string;
  readonly note: string | null;
  /** in open mode as well */
  readonly needsToken: boolean;
  /** how messages are sent: on a socket, as commands to a session, or as requests */
  readonly transport: 'socket' | 'commands' | 'requests';
  /** HTTP paths; `/*` stands for everything below */
  readonly http: readonly string[];
  readonly socket: DialectSocket | null;
  readonly messages: readonly DialectMessage[];
  readonly ids: readonly DialectId[];
  /** the first steps of a client */
  readonly snippets: readonly DialectSnippet[];
};

export type DialectList = {
  /** the ids used in the examples: replace them with your own */
  readonly ids: Readonly<Record<string, string>>;
  readonly dialects: readonly Dialect[];
};
