/** What users do with MCP servers themselves: read their prompts and resources, open their apps, and sign in to them. */
import type { JsonObject, Part } from '@parlance/protocol';

/** Throw `not_found` if the server is not there for the user. */
export type McpContents = {
  /** Calls the listener when prompts, resources or tools of any server may have changed. Returns the unsubscribe function. */
  onChange(listener: () => void): () => void;
  prompt(
    server: string,
    user: string,
    name: string,
    input: Readonly<Record<string, string>>,
  ): Promise<Part[]>;
  resource(server: string, user: string, uri: string): Promise<Part[]>;
  /** The app of a tool, by the name of the tool for models. */
  app(tool: string, user: string): Promise<McpApp>;
  /** A resource of the server of an app, for the app. */
  appFile(tool: string, user: string, uri: string): Promise<{ contents: JsonObject[] }>;
};

/** A page that shows the results of a tool. */
export type McpApp = McpAppPage & {
  readonly server: string;
  readonly resource: string;
  readonly tool: JsonObject;
  /** names for models of the tools that it may call, by their names at the server */
  readonly tools: Record<string, string>;
};

export type McpAppPage = {
  readonly html: string;
  /** public origins that it asks for: to send requests to, and to load files from */
  readonly connect: string[];
  readonly load: string[];
};

/** `mayShare`: may also sign in for everybody. */
export type SigningIn = { readonly user: string; readonly mayShare: boolean };

/** Throws `not_found` if there is no such server, or none that the user may sign in to. */
export type McpSignIns = {
  /** The address to open in a browser, which reaches this server at `origin`. */
  begin(name: string, user: SigningIn, origin: string): Promise<string>;
  /** What the browser came back with. Returns the name of the server. */
  finish(user: SigningIn, parameters: URLSearchParams): Promise<string>;
  end(name: string, user: SigningIn): Promise<void>;
  /** The servers that each user signs in to. */
  of(user: string): Promise<readonly { readonly name: string; readonly signedIn: boolean }[]>;
};
