/** Renders a zod schema as a TypeScript type for a table. Named schemas appear by name. */
import type { z } from 'zod';

export type Names = ReadonlyMap<unknown, string>;

type Def = {
  readonly type: string;
  readonly innerType?: z.ZodType;
  readonly element?: z.ZodType;
  readonly valueType?: z.ZodType;
  readonly options?: readonly z.ZodType[];
  readonly entries?: Readonly<Record<string, string>>;
  readonly values?: readonly unknown[];
  readonly shape?: Readonly<Record<string, z.ZodType>>;
};

const defOf = (schema: z.ZodType): Def => schema.def as unknown as Def;

export const isOptional = (schema: z.ZodType): boolean => defOf(schema).type === 'optional';

/** Adds the mentioned names to `used`. */
export function typeText(schema: z.ZodType, names: Names, used: Set<string>): string {
  const name = names.get(schema);
  if (name !== undefined) {
    used.add(name);
    return name;
  }
  return structure(schema, names, used);
}

/** Like `typeText` without the schema's own name. */
export function structure(schema: z.ZodType, names: Names, used: Set<string>): string {
  const def = defOf(schema);
  const text = (inner: z.ZodType | undefined): string => (inner ? typeText(inner, names, used) : 'unknown');
  switch (def.type) {
    case 'optional':
    case 'default':
    case 'readonly':
      return text(def.innerType);
    case 'nullable':
      return `${text(def.innerType)} | null`;
    case 'array': {
      const element = text(def.element);
      return element.includes(' ') ? `(${element})[]` : `${element}[]`;
    }
    case 'record':
      return `Record<string, ${text(def.valueType)}>`;
    case 'enum':
      return Object.values(def.entries ?? {})
        .map((value) => `'${value}'`)
        .join(' | ');
    case 'literal':
      return (def.values ?? [])
        .map((value) => (typeof value === 'string' ? `'${value}'` : value))
        .join(' | ');
    case 'union':
      return (def.options ?? []).map(text).join(' | ');
    case 'object':
      return `{ ${Object.entries(def.shape ?? {})
        .map(([field, inner]) => `${field}${isOptional(inner) ? '?' : ''}: ${text(inner)}`)
        .join(', ')} }`;
    case 'custom':
      return 'unknown';
    default:
      return def.type;
  }
}
