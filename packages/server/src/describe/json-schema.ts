/** Converts zod schemas to JSON Schema. */
import { z } from 'zod';
import { COMPONENTS } from '../dialects/kit/description.ts';

export type JsonSchema = z.core.JSONSchema.BaseSchema;

const PREFIX = '#/components/schemas/';

/** Named schemas, by name. */
export function componentSchemas(): Record<string, JsonSchema> {
  const { schemas } = z.toJSONSchema(COMPONENTS, {
    io: 'input',
    unrepresentable: 'any',
    uri: (id) => PREFIX + id,
  });
  const { __shared, ...own } = schemas;
  return Object.fromEntries(
    Object.entries(own)
      .map(([name, schema]) => [name, simplified(schema)] as const)
      .sort(([one], [other]) => (one < other ? -1 : 1)),
  );
}

/** Uses a reference if the schema, or the items of a list, have a name. */
export function bodySchema(schema: z.ZodType): JsonSchema {
  const id = COMPONENTS.get(schema)?.id;
  if (id !== undefined) return { $ref: PREFIX + id };
  if (schema instanceof z.ZodArray) return { type: 'array', items: bodySchema(schema.element as z.ZodType) };
  return described(schema, 'input');
}

/** Values sent as text are described by their parsed type, if it can be expressed. */
export function parameterSchema(schema: z.ZodType): JsonSchema {
  const becomes = described(schema, 'output');
  const sent = described(schema, 'input');
  const { default: otherwise } = becomes;
  if (becomes.type !== undefined || becomes.anyOf !== undefined) return becomes;
  return otherwise === undefined ? sent : { ...sent, default: String(otherwise) };
}

/** The payload of a message. AsyncAPI schemas extend draft 7. */
export const payloadSchema = (schema: z.ZodType, io: 'input' | 'output'): JsonSchema =>
  simplified(z.toJSONSchema(schema, { io, target: 'draft-7', unrepresentable: 'any' }));

const described = (schema: z.ZodType, io: 'input' | 'output'): JsonSchema =>
  simplified(z.toJSONSchema(schema, { io, unrepresentable: 'any' }));

/** Formats whose patterns are redundant. */
const FORMATS_WITH_PATTERN = new Set<unknown>(['uuid', 'date-time', 'date', 'base64']);

/** The only recursive schema is “any JSON”, which becomes the empty schema. */
function simplified<Value>(value: Value): Value {
  if (Array.isArray(value)) return value.map(simplified) as Value;
  if (typeof value !== 'object' || value === null) return value;
  const { $schema, $id, $defs, definitions, '~standard': standard, ...schema } = value as JsonSchema;
  if (/__shared#|^#\/(\$defs|definitions)\/__schema/.test(schema.$ref ?? '')) return {} as Value;
  if (FORMATS_WITH_PATTERN.has(schema.format)) delete schema.pattern;
  // Limits of safe integers carry no information.
  if (schema.minimum === Number.MIN_SAFE_INTEGER) delete schema.minimum;
  if (schema.maximum === Number.MAX_SAFE_INTEGER) delete schema.maximum;
  return Object.fromEntries(Object.entries(schema).map(([key, inner]) => [key, simplified(inner)])) as Value;
}
