/** Schemas of the code as schemas of the document. */
import { z } from 'zod';
import { COMPONENTS } from '../dialects/shared/description.ts';

export type JsonSchema = z.core.JSONSchema.BaseSchema;

const PREFIX = '#/components/schemas/';

/** What has a name, by that name. */
export function componentSchemas(): Record<string, JsonSchema> {
  const { schemas } = z.toJSONSchema(COMPONENTS, {
    io: 'input',
    unrepresentable: 'any',
    uri: (id) => PREFIX + id,
  });
  const { __shared, ...own } = schemas;
  return Object.fromEntries(
    Object.entries(own)
      .map(([name, schema]) => [name, tidied(schema)] as const)
      .sort(([one], [other]) => (one < other ? -1 : 1)),
  );
}

/** By reference if the schema has a name; lists of named schemas, too. */
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
  tidied(z.toJSONSchema(schema, { io, target: 'draft-7', unrepresentable: 'any' }));

const described = (schema: z.ZodType, io: 'input' | 'output'): JsonSchema =>
  tidied(z.toJSONSchema(schema, { io, unrepresentable: 'any' }));

/** Formats say what these patterns say, at more length. */
const TOLD_BY_FORMAT = new Set<unknown>(['uuid', 'date-time', 'date', 'base64']);

/** The only schema that refers to itself is “any JSON”, and that is the empty schema. */
function tidied<Value>(value: Value): Value {
  if (Array.isArray(value)) return value.map(tidied) as Value;
  if (typeof value !== 'object' || value === null) return value;
  const { $schema, $id, $defs, definitions, '~standard': standard, ...schema } = value as JsonSchema;
  if (/__shared#|^#\/(\$defs|definitions)\/__schema/.test(schema.$ref ?? '')) return {} as Value;
  if (TOLD_BY_FORMAT.has(schema.format)) delete schema.pattern;
  // Every whole number of JavaScript: says nothing.
  if (schema.minimum === Number.MIN_SAFE_INTEGER) delete schema.minimum;
  if (schema.maximum === Number.MAX_SAFE_INTEGER) delete schema.maximum;
  return Object.fromEntries(Object.entries(schema).map(([key, inner]) => [key, tidied(inner)])) as Value;
}
