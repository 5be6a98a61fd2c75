/** Validates the tool definitions that a module exports. */
import { isObject, type JsonObject } from '@parlance/protocol';
import { z } from 'zod';

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

export type OwnTool = Omit<z.output<typeof Definition>, 'parameters'> & {
  readonly input: z.ZodType;
  /** as JSON Schema, for models */
  readonly parameters: JsonObject;
};

/** Throws an error whose message continues a sentence about the module. */
export function readDefinition(exported: unknown): OwnTool {
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

export const messageOf = (thrown: unknown): string =>
  (thrown instanceof Error ? thrown.message : String(thrown)).split('\n', 1)[0]?.slice(0, 500) ?? '';
