/**
 * Loads the operator's tools: modules named in the configuration. Their code is trusted and runs in this
 * process.
 */
import { existsSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { type Ask, Fault, isObject, type JsonObject, PromptPart, textPart } from '@parlance/protocol';
import { z } from 'zod';
import { defineTool, type Tool, type ToolContext, type ToolResult } from '../../core/ports/tool.ts';
import { unlessAborted } from '../../lib/unless-aborted.ts';
import { boundedParts } from '../bounded-parts.ts';
import { cutText } from '../cut.ts';
import { provideModule } from './provided-module.ts';

/** A module that does not finish loading fails the startup. */
const LOADING_MS = 30_000;

/** `taken` has the names of other tools. Throws a one-line error that names the file. */
export async function loadCustomTools(paths: readonly string[], taken: readonly string[]): Promise<Tool[]> {
  provideModule();
  const tools = new Map<string, Tool>();
  for (const path of paths) {
    const exports = await exportsOf(path);
    if (exports.length === 0) throw problem(path, 'exports no tool');
    for (const exported of exports) {
      const tool = ownTool(explained(path, () => readDefinition(exported)));
      const { name } = tool;
      if (tools.has(name) || taken.includes(name) || name.startsWith('mcp_'))
        throw problem(path, `has a tool ${name}, a name that another tool has`);
      tools.set(name, tool);
    }
  }
  return [...tools.values()];
}

/** Every export must be a tool. */
async function exportsOf(path: string): Promise<readonly unknown[]> {
  if (!existsSync(path)) throw problem(path, 'does not exist');
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error(`not done after ${LOADING_MS / 1000} s`)), LOADING_MS);
  try {
    return Object.values(await Promise.race([import(pathToFileURL(path).href), late]));
  } catch (thrown) {
    throw problem(path, `cannot be loaded: ${complaintOf(thrown)}`, thrown);
  } finally {
    clearTimeout(timer);
  }
}

/** A file with several syntax errors throws them together; shows the first one with its line. */
function complaintOf(thrown: unknown): string {
  const first: unknown = thrown instanceof AggregateError ? thrown.errors[0] : thrown;
  const line = first instanceof BuildMessage ? first.position?.line : undefined;
  return line === undefined ? messageOf(first) : `line ${line}: ${messageOf(first)}`;
}

function explained<Result>(path: string, read: () => Result): Result {
  try {
    return read();
  } catch (thrown) {
    throw problem(path, messageOf(thrown), thrown);
  }
}

const problem = (path: string, reason: string, cause?: unknown): Error =>
  new Error(`the tool module ${path} ${reason}`, { cause });

// Validates the tool definitions that a module exports.

const DESCRIPTION_CHARACTERS = 4_000;
const HOUR_MS = 3_600_000;

type Run = (input: unknown, context: object) => unknown;

const fn = z.custom<Run>((value) => typeof value === 'function', 'must be a function');
const yesOrNo = z.boolean('must be true or false').default(false);

const Definition = z.strictObject(
  {
    name: z
      .string('must be text')
      .regex(/^[A-Za-z0-9_-]{1,64}$/, 'must have 1 to 64 letters, digits, _ or -'),
    description: z
      .string('must be text')
      .min(1, 'must not be empty')
      .max(DESCRIPTION_CHARACTERS, `must have at most ${DESCRIPTION_CHARACTERS} characters`),
    parameters: z.custom<object>(isObject, 'must be a zod schema or a JSON Schema'),
    approval: z
      .union([z.enum(['always', 'never']), fn], 'must be always, never or a function')
      .default('always'),
    timeoutMs: z
      .int('must be a whole number of milliseconds')
      .min(1, 'must be at least 1')
      .max(HOUR_MS, `must be at most ${HOUR_MS}`)
      .default(60_000),
    repeatable: yesOrNo,
    untrusted: yesOrNo,
    run: fn,
  },
  'must be a tool',
);

type OwnTool = Omit<z.output<typeof Definition>, 'parameters'> & {
  readonly input: z.ZodType;
  /** as JSON Schema, for models */
  readonly parameters: JsonObject;
};

/** Throws an error whose message continues a sentence about the module. */
function readDefinition(exported: unknown): OwnTool {
  const result = Definition.safeParse(exported);
  if (!result.success) throw new Error(reasonOf(exported, result.error));
  const { parameters, ...rest } = result.data;
  try {
    return { ...rest, ...schemasOf(parameters) };
  } catch (cause) {
    throw new Error(`has a tool ${rest.name} with unusable parameters: ${messageOf(cause)}`, { cause });
  }
}

function reasonOf(exported: unknown, { issues: [issue] }: z.ZodError): string {
  if (!isObject(exported)) return 'exports something that is not a tool';
  const tool = typeof exported.name === 'string' ? `tool ${exported.name.slice(0, 64)}` : 'tool';
  if (issue?.code === 'unrecognized_keys') return `has a ${tool} with an unknown field ${issue.keys[0]}`;
  return `has a ${tool} whose ${issue?.path.join('.')} ${issue?.message}`;
}

const isZod = (schema: object): schema is z.ZodType => '_zod' in schema && 'safeParse' in schema;

function schemasOf(given: object): Pick<OwnTool, 'input' | 'parameters'> {
  const schemas = isZod(given)
    ? { input: given, parameters: z.toJSONSchema(given, { io: 'input' }) as JsonObject }
    : { input: z.fromJSONSchema(given as JsonObject), parameters: given as JsonObject };
  if (schemas.parameters.type !== 'object') throw new Error('they must describe an object');
  return schemas;
}

const messageOf = (thrown: unknown): string =>
  (thrown instanceof Error ? thrown.message : String(thrown)).split('\n', 1)[0]?.slice(0, 500) ?? '';

// One tool of the operator: approval, timeout and errors.

const MESSAGE_CHARACTERS = 4_000;

function ownTool(definition: OwnTool): Tool {
  const { name, description, input, parameters, repeatable, approval, untrusted } = definition;
  return defineTool({
    name,
    description,
    input,
    parameters,
    repeatable,
    asks: approval !== 'never',
    exclusive: 'if-asked',
    approval: (given) => askFor(definition, given),
    run: async (given, context) => {
      const result = resultOf(await outputOf(definition, given, context));
      return untrusted ? { ...result, untrusted: true } : result;
    },
  });
}

/** Only null means no approval: a function that returns nothing asks. */
async function askFor({ name, approval }: OwnTool, input: unknown): Promise<Ask | null> {
  if (approval === 'never') return null;
  const asked = typeof approval === 'function' ? await approval(input, {}) : undefined;
  if (asked === null) return null;
  return {
    kind: 'other',
    command: [name, JSON.stringify(input)],
    description: typeof asked === 'string' ? cutText(asked, MESSAGE_CHARACTERS) : `Uses the tool ${name}.`,
    grant: `own:${name}`,
  };
}

/** Ends with the signal of the turn or after the timeout, even if the tool keeps running. */
async function outputOf(
  { name, timeoutMs, run }: OwnTool,
  input: unknown,
  { signal: turn, root: folder, session, owner: user, call }: ToolContext,
): Promise<unknown> {
  const timeout = AbortSignal.timeout(timeoutMs);
  const signal = AbortSignal.any([turn, timeout]);
  try {
    const output = Promise.try(run, input, { signal, folder, session, user, call });
    return await unlessAborted(output, signal);
  } catch (thrown) {
    if (timeout.aborted && !turn.aborted)
      throw new Fault('tool_failed', `${name} did not finish within ${timeoutMs} ms and was stopped.`);
    if (isToolError(thrown)) throw new Fault('tool_failed', cutText(thrown.message, MESSAGE_CHARACTERS));
    throw thrown;
  }
}

/** Compared by name, since the module may have its own copy of the class. */
const isToolError = (thrown: unknown): thrown is Error =>
  thrown instanceof Error && thrown.name === 'ToolError';

// Converts the return value of an own tool to result parts.

/** Data is also sent as text: only small data is included twice. */
const DATA_CHARACTERS = 4_000;

const Parts = z.strictObject({ parts: z.array(PromptPart) });

function resultOf(output: unknown): ToolResult {
  if (typeof output === 'string') return { parts: boundedParts([output], textPart) };
  const given = Parts.safeParse(output);
  if (given.success) return { parts: boundedParts(given.data.parts, (part) => part) };
  const json = JSON.stringify(output) ?? '(no output)';
  const parts = boundedParts([json], textPart);
  if (!isObject(output) || json.length > DATA_CHARACTERS) return { parts };
  return { parts, data: JSON.parse(json) as JsonObject };
}
