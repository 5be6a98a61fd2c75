/**
 * Loads the operator's tools: modules named in the configuration. Their code is trusted and runs in this
 * process.
 */
import {
  type Ask,
  Fault,
  isObject,
  type Json,
  type JsonObject,
  PromptPart,
  textPart,
} from '@parlance/protocol';
import { z } from 'zod';
import type { CustomChange } from '../../core/ports/custom-modules.ts';
import { defineTool, type Tool, type ToolContext, type ToolResult } from '../../core/ports/tool.ts';
import { unlessAborted } from '../../lib/unless-aborted.ts';
import { boundedParts } from '../bounded-parts.ts';
import { cutText } from '../cut.ts';
import { exportsOf, isToolError, messageOf, problem as problemOf } from './modules.ts';

type Announce = (change: CustomChange) => void;

/** `taken` has the names of other tools. Throws a one-line error that names the file. */
export async function loadCustomTools(
  paths: readonly string[],
  taken: readonly string[],
  announce: Announce = () => undefined,
): Promise<Tool[]> {
  const tools = new Map<string, Tool>();
  for (const path of paths) {
    const exports = await exportsOf('tool', path);
    if (exports.length === 0) throw problem(path, 'exports no tool');
    for (const exported of exports) {
      const tool = customTool(
        explained(path, () => readDefinition(exported)),
        announce,
      );
      const { name } = tool;
      if (tools.has(name) || taken.includes(name) || name.startsWith('mcp_'))
        throw problem(path, `has a tool ${name}, a name that another tool has`);
      tools.set(name, tool);
    }
  }
  return [...tools.values()];
}

function explained<Result>(path: string, read: () => Result): Result {
  try {
    return read();
  } catch (thrown) {
    throw problem(path, messageOf(thrown), thrown);
  }
}

const problem = (path: string, reason: string, cause?: unknown): Error =>
  problemOf('tool', path, reason, cause);

// Validates the tool definitions that a module exports.

const DESCRIPTION_CHARACTERS = 4_000;
const HOUR_MS = 3_600_000;

type Run = (input: unknown, context: object) => unknown;

const fn = z.custom<Run>((value) => typeof value === 'function', 'must be a function');
const yesOrNo = z.boolean('must be true or false').default(false);

/** Unknown fields are ignored: definitions are often shared with other programs. */
const Definition = z.object(
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
    title: z.string('must be text').max(200, 'is too long').optional(),
    needs: z.array(z.string('must be text'), 'must be a list of capabilities').default([]),
    available: fn.optional(),
    run: fn,
  },
  'must be a tool',
);

type CustomTool = Omit<z.output<typeof Definition>, 'parameters'> & {
  readonly input: z.ZodType;
  /** as JSON Schema, for models */
  readonly parameters: JsonObject;
};

/** Throws an error whose message continues a sentence about the module. */
function readDefinition(exported: unknown): CustomTool {
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
  return `has a ${tool} whose ${issue?.path.join('.')} ${issue?.message}`;
}

const isZod = (schema: object): schema is z.ZodType => '_zod' in schema && 'safeParse' in schema;

function schemasOf(given: object): Pick<CustomTool, 'input' | 'parameters'> {
  const schemas = isZod(given)
    ? { input: given, parameters: z.toJSONSchema(given, { io: 'input' }) as JsonObject }
    : { input: inputOf(given as JsonObject), parameters: given as JsonObject };
  if (schemas.parameters.type !== 'object') throw new Error('they must describe an object');
  return schemas;
}

/** Keywords that zod cannot convert. Models and clients see them; the tool checks what they say itself. */
const UNCHECKED = new Set(['if', 'then', 'else', 'not', 'dependentSchemas', 'dependentRequired', '$anchor']);

function inputOf(schema: JsonObject): z.ZodType {
  try {
    return z.fromJSONSchema(schema);
  } catch (thrown) {
    const known = JSON.stringify(schema, (key, value) => (UNCHECKED.has(key) ? undefined : value));
    if (known === JSON.stringify(schema)) throw thrown;
    return z.fromJSONSchema(JSON.parse(known) as JsonObject);
  }
}

// One tool of the operator: approval, timeout and errors.

const MESSAGE_CHARACTERS = 4_000;

function customTool(definition: CustomTool, announce: Announce): Tool {
  const { name, description, input, parameters, repeatable, approval, untrusted } = definition;
  const { title, needs, available } = definition;
  return defineTool({
    name,
    description,
    input,
    parameters,
    repeatable,
    asks: approval !== 'never',
    custom: { ...(title !== undefined && { title }), needs },
    ...(available && { available: () => available({}, {}) !== false }),
    exclusive: 'if-asked',
    approval: (given) => askFor(definition, given),
    run: async (given, context) => {
      const result = resultOf(await outputOf(definition, given, context, announce));
      return untrusted ? { ...result, untrusted: true } : result;
    },
  });
}

/** Only null means no approval: a function that returns nothing asks. */
async function askFor({ name, approval }: CustomTool, input: unknown): Promise<Ask | null> {
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
  { name, timeoutMs, run }: CustomTool,
  input: unknown,
  { signal: turn, root: folder, session, owner: user, call, peer, report, log }: ToolContext,
  announce: Announce,
): Promise<unknown> {
  const timeout = AbortSignal.timeout(timeoutMs);
  const signal = AbortSignal.any([turn, timeout]);
  const client = peer && {
    capabilities: peer.capabilities,
    request: (request: string, method: string, params: JsonObject = {}) =>
      peer.request(request, method, params, signal),
  };
  const context = {
    ...{ signal, folder, session, user, call, client, announce },
    progress: (update: Parameters<NonNullable<ToolContext['peer']>['progress']>[0]) => {
      peer?.progress(update);
      const { progress, total, message } = update;
      report({ message, ...(total !== undefined && { progress: (100 * progress) / total }) });
    },
    log: (level: string, data: Json) => {
      peer?.log(level, data);
      log.debug({ tool: name, call, level, data }, 'log of a custom tool');
    },
  };
  try {
    return await unlessAborted(Promise.try(run, input, context), signal);
  } catch (thrown) {
    if (timeout.aborted && !turn.aborted)
      throw new Fault('tool_failed', `${name} did not finish within ${timeoutMs} ms and was stopped.`);
    if (isToolError(thrown)) throw new Fault('tool_failed', cutText(thrown.message, MESSAGE_CHARACTERS));
    throw thrown;
  }
}

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
