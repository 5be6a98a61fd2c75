/** What users do with MCP servers themselves: read their prompts and resources, and sign in to them. */
import type { Part } from '@parlance/protocol';

/** Throw `not_found` if the server is not there for the user. */
export type McpContents = {
  prompt(
    server: string,
    user: string,
    name: string,
    input: Readonly<Record<string, string>>,
  ): Promise<Part[]>;
  resource(server: string, user: string, uri: string): Promise<Part[]>;
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
