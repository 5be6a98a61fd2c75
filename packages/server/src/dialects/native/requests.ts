/** What came in, checked. */
import { Fault } from '@parlance/protocol';
import type { z } from 'zod';
import type { DialectContext } from '../shared/dialect.ts';
import { parseBody } from '../shared/json-body.ts';

/** Call it for a caller who is known: large bodies are read. */
export async function body({ readBody }: DialectContext, request: Request): Promise<unknown> {
  const parsed = parseBody(await readBody(request, 'identified'));
  if ('problem' in parsed) throw new Fault('invalid', `The body ${parsed.problem}.`);
  return parsed.value;
}

export function checked<Schema extends z.ZodType>(schema: Schema, value: unknown): z.output<Schema> {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const issue = result.error.issues[0];
  throw new Fault('invalid', `${issue?.path.join('.') || 'body'}: ${issue?.message}`);
}
