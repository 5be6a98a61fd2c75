/** What came in, checked. */
import { Fault, nestsDeeper } from '@parlance/protocol';
import type { z } from 'zod';

export async function body(request: Request): Promise<unknown> {
  let value: unknown;
  try {
    value = await request.json();
  } catch {
    throw new Fault('invalid', 'The body is not valid JSON.');
  }
  if (nestsDeeper(value)) throw new Fault('invalid', 'The body is nested too deeply.');
  return value;
}

export function checked<Schema extends z.ZodType>(schema: Schema, value: unknown): z.output<Schema> {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const issue = result.error.issues[0];
  throw new Fault('invalid', `${issue?.path.join('.') || 'body'}: ${issue?.message}`);
}
