/** Validates the body and the query of a request. */
import { Fault } from '@parlance/protocol';
import type { z } from 'zod';
import { parseBody } from '../kit/json-body.ts';

/** Throws `invalid` if the body is not JSON or does not match. */
export async function body<Schema extends z.ZodType>(
  bytes: Promise<Uint8Array>,
  schema: Schema,
): Promise<z.output<Schema>> {
  const parsed = parseBody(await bytes);
  if ('problem' in parsed) throw new Fault('invalid', `The body ${parsed.problem}`, { cause: parsed.cause });
  return parseAs(schema, parsed.value);
}

export function parseAs<Schema extends z.ZodType>(schema: Schema, value: unknown): z.output<Schema> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  throw new Fault('invalid', `${issue?.path.join('.') || 'body'}: ${issue?.message}`);
}
