/** Parses and validates requests, and gives answers the types of the API. */
import { Fault, type Json, type Principal } from '@parlance/protocol';
import type { z } from 'zod';
import { requirePermission, type SessionRef } from '../../core/index.ts';
import { principalOf } from '../../http/request-identity.ts';
import { parseBody } from '../kit/json-body.ts';
import type { Context } from './context.ts';

/** An answer of the API, built from values that may be read-only. */
export type Sent<T> = [Json] extends [T] ? T : ReadOnly<T>;
type ReadOnly<T> = T extends string | number | boolean | null | undefined
  ? T
  : { readonly [Key in keyof T]: Sent<T[Key]> };

/** The body as JSON. Call it only for authenticated callers: it accepts large bodies. */
export async function body({ readBody }: Pick<Context, 'readBody'>, request: Request): Promise<unknown> {
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

/** The caller and the session that the path names. Throws `not_found` if the caller has no such session. */
export async function sessionOf(
  { engine, authenticator }: Pick<Context, 'authenticator' | 'engine'>,
  request: Request,
  id: string,
): Promise<{ readonly principal: Principal; readonly ref: SessionRef }> {
  const principal = await principalOf(authenticator, request);
  requirePermission(principal, 'chat:read');
  const ref = await engine.find(principal, id);
  if (!ref) throw new Fault('not_found', 'There is no such session.');
  return { principal, ref };
}
