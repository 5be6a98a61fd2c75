/**
 * Custom tools in TypeScript. The server loads the modules named by `--tools` and runs them in its own
 * process.
 */
import type { Json, JsonObject, Part } from '@parlance/protocol';
import { z } from 'zod';

export type { Json, JsonObject, Part } from '@parlance/protocol';
/** The server's zod, for the parameters of a tool. */
export { z };

export type ToolContext = {
  /** aborted when the turn is cancelled or the tool times out: pass it on to `fetch` and others */
  readonly signal: AbortSignal;
  /** absolute path of the session's working folder */
  readonly folder: string;
  readonly session: string;
  /** the user who owns the session; `local` for callers without a token */
  readonly user: string;
  /** the id of this call; the same if it is repeated after a crash */
  readonly call: string;
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

/** The call failed; the model receives the message. */
export class ToolError extends Error {
  override readonly name = 'ToolError';
}
