/**
 * Custom tools, prompts and resources in TypeScript. The server loads the modules named by `--tools`, `--prompts` and
 * `--resources`, and runs them in its own process.
 */
import type { Json, JsonObject, Part } from '@parlance/protocol';
import { z } from 'zod';

export type { Json, JsonObject, Part } from '@parlance/protocol';
/** The server's zod, for the parameters of a tool. */
export { z };

/** The lists of an MCP server, or one resource. */
export type Change = 'tools' | 'prompts' | 'resources' | { readonly resource: string };

/** The levels of syslog, as in MCP. */
export type LogLevel = 'debug' | 'info' | 'notice' | 'warning' | 'error' | 'critical' | 'alert' | 'emergency';

export type ClientMethod = 'elicitation/create' | 'sampling/createMessage' | 'roots/list';

/** The MCP client that called. */
export type Client = {
  /** what it can do, as in MCP: for example `{ elicitation: {}, sampling: {} }` */
  readonly capabilities: JsonObject;
  /**
   * Sends the client a request of MCP, and resolves with its result. `name` is unique within the call. Throws a `ToolError` if the client
   * lacks the capability or answers with an error.
   */
  request(name: string, method: ClientMethod, params?: JsonObject): Promise<JsonObject>;
};

/** What tools, prompts and resources can use. */
export type RequestContext = {
  /** aborted when the request is cancelled or times out: pass it on to `fetch` and others */
  readonly signal: AbortSignal;
  /** the user who calls; `local` for callers without a token */
  readonly user: string;
  /** null unless the caller is an MCP client */
  readonly client: Client | null;
  /** Tells MCP clients that a list or a resource has changed. */
  announce(change: Change): void;
};

export type ToolContext = RequestContext & {
  /** absolute path of the session's working folder */
  readonly folder: string;
  readonly session: string;
  /** the id of this call; the same if it is repeated after a crash */
  readonly call: string;
  /** Reports progress to whoever watches the call. */
  progress(update: { readonly progress: number; readonly total?: number; readonly message?: string }): void;
  /** Writes to the log of the server (at level `debug`), and to the MCP client that called if it wants this level. */
  log(level: LogLevel, data: Json): void;
};

/**
 * The result for the model: text unchanged, other values as JSON. `{ parts }` alone is a list of text, images
 * and files.
 */
export type ToolOutput = Json | { readonly parts: readonly Part[] };

/** `null` if the call needs no approval, otherwise a sentence for the person who decides. */
export type Approval<Input> = (input: Input) => string | null | Promise<string | null>;

type Common<Input> = {
  /** 1 to 64 letters, digits, `_` and `-`; not the name of another tool */
  readonly name: string;
  /** tells the model what the tool does and when to use it */
  readonly description: string;
  /** Whether a call needs approval. The approval mode and the rules of the server apply as for other tools. Default: `always`. */
  readonly approval?: 'always' | 'never' | Approval<Input>;
  /** maximum duration of a call in milliseconds, up to an hour. Default: one minute */
  readonly timeoutMs?: number;
  /**
   * the tool may run again after a crash, because running it twice has the same effect as once. Default:
   * false
   */
  readonly repeatable?: boolean;
  /** results contain text from others, such as pages or mails: standing grants do not apply while they are in the context. Default: false */
  readonly untrusted?: boolean;
  /** shown to users instead of the name */
  readonly title?: string;
  /** capabilities of MCP without which a client cannot call the tool, such as `sampling` */
  readonly needs?: readonly string[];
  /** false if the tool is not offered at the moment; `announce('tools')` tells clients that it has changed */
  available?(): boolean;
  /**
   * Throw a `ToolError` to report an error to the model. Other errors are logged, and the model only learns
   * that the tool failed.
   */
  run(input: Input, context: ToolContext): ToolOutput | undefined | Promise<ToolOutput | undefined>;
};

/** `parameters` is a zod schema of an object, or a JSON Schema. The input is validated first. */
export type Tool<Schema extends z.ZodType<object> = z.ZodType<object>> = Common<z.output<Schema>> & {
  readonly parameters: Schema;
};
export type JsonSchemaTool = Common<JsonObject> & { readonly parameters: JsonObject };

/**
 * Returns the tool; gives `run` the types of the parameters. A module exports its tools.
 *
 * @example
 * export const rollDice = defineTool({
 *   name: 'roll_dice',
 *   description: 'Rolls a die.',
 *   parameters: z.object({ sides: z.int().min(2) }),
 *   approval: 'never',
 *   run: ({ sides }) => 1 + Math.floor(Math.random() * sides),
 * });
 */
export function defineTool<Schema extends z.ZodType<object>>(tool: Tool<Schema>): Tool<Schema>;
export function defineTool(tool: JsonSchemaTool): JsonSchemaTool;
export function defineTool(tool: Tool | JsonSchemaTool): Tool | JsonSchemaTool {
  return tool;
}

// Prompts and resources are for MCP clients.

/** Suggestions for a value that the user is typing. `others` has the arguments that are already filled in. */
type Complete = (
  value: string,
  others: Readonly<Record<string, string>>,
) => readonly string[] | Promise<readonly string[]>;

export type PromptArgument = {
  readonly name: string;
  readonly description?: string;
  readonly required?: boolean;
  readonly complete?: Complete;
};

export type PromptMessage = { readonly role: 'user' | 'assistant'; readonly parts: readonly Part[] };

export type Prompt = {
  readonly name: string;
  readonly title?: string;
  readonly description: string;
  readonly arguments?: readonly PromptArgument[];
  /** Text is one message of the user. Runs again from the start if the client is asked something. */
  run(
    input: Readonly<Record<string, string>>,
    context: RequestContext,
  ): string | readonly PromptMessage[] | Promise<string | readonly PromptMessage[]>;
};

/**
 * @example
 * export const review = definePrompt({
 *   name: 'review',
 *   description: 'Reviews a file.',
 *   arguments: [{ name: 'path', required: true }],
 *   run: ({ path }) => `Review ${path}.`,
 * });
 */
export const definePrompt = (prompt: Prompt): Prompt => prompt;

export type Resource = {
  /** an address, or a template such as `notes://{id}`; parameters do not match `/` */
  readonly uri: string;
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly mime?: string;
  /** Completes the parameters of a template. */
  readonly complete?: Readonly<Record<string, Complete>>;
  /** Text, bytes, or null if there is no such resource. */
  read(
    params: Readonly<Record<string, string>>,
    context: RequestContext,
  ): string | Uint8Array | null | Promise<string | Uint8Array | null>;
};

/**
 * @example
 * export const note = defineResource({
 *   uri: 'notes://{id}',
 *   name: 'note',
 *   mime: 'text/plain',
 *   read: ({ id }) => notes.get(id) ?? null,
 * });
 */
export const defineResource = (resource: Resource): Resource => resource;

/** The call failed; the model receives the message. */
export class ToolError extends Error {
  override readonly name = 'ToolError';
}
